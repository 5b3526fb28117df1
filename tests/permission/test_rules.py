"""Rules: their text, their order, and what each covers."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.permission import Mode, Rule, Verdict
from app.permission.rules import parse_rule
from tests.permission.bench import Bench, rule


@pytest.mark.parametrize(
    ("text", "tool", "pattern"),
    [
        ("read_file", "read_file", ""),
        ("bash: git status *", "bash", "git status *"),
        ("bash:pytest", "bash", "pytest"),
        (" write_file :  src/** ", "write_file", "src/**"),
        ("*", "*", ""),
        ("bash: echo a: b", "bash", "echo a: b"),
    ],
)
def test_a_rule_is_a_tool_and_perhaps_a_pattern(text: str, tool: str, pattern: str) -> None:
    parsed = parse_rule(text, Verdict.ALLOW, source="here")
    assert (parsed.tool, parsed.pattern, parsed.source) == (tool, pattern, "here")


@pytest.mark.parametrize("text", ["", ":", "bash:", "bash: ", "a b: c", "bash: x\ny", "\x1b[0m"])
def test_what_is_no_rule_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="a rule is"):
        parse_rule(text, Verdict.ALLOW)


@given(
    st.from_regex(r"[a-z_]{1,12}", fullmatch=True),
    st.from_regex(r"([!-~]([ -~]{0,20}[!-~])?)?", fullmatch=True),
)
def test_a_rule_reads_back_as_it_was_written(tool: str, pattern: str) -> None:
    written = Rule(Verdict.DENY, tool, pattern)
    assert parse_rule(str(written), Verdict.DENY) == written


def test_deny_beats_ask_beats_allow_in_any_order(bench: Bench) -> None:
    deny, ask, allow = (
        rule("bash: make *", verdict) for verdict in (Verdict.DENY, Verdict.ASK, Verdict.ALLOW)
    )
    for order in permutations((deny, ask, allow)):
        assert bench.bash("make all", rules=order).verdict is Verdict.DENY
    for pair in permutations((ask, allow)):
        assert bench.bash("make all", rules=pair).verdict is Verdict.ASK
    assert bench.bash("make all", rules=(allow,)).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git push origin main",
        "git -c a=b push",
        "git -C src push",
        "git --no-pager push",
        "command git push",
        "X=1 git push",
        "env A=b git push",
        "timeout 5 nice git push",
        "/usr/bin/git push",
        "git pu''sh",
        'git "push"',
        "ls; git push",
        "ls && (git push)",
        "echo $(git push)",
        "echo x | xargs git push",
        "exec git push",
        "if true; then git push; fi",
    ],
)
def test_a_deny_rule_holds_in_any_spelling(bench: Bench, command: str) -> None:
    rules = (rule("bash: git *"), rule("bash: git push *", Verdict.DENY))
    for mode in Mode:
        judgement = bench.bash(command, rules=rules, mode=mode, sandboxed=True)
        assert judgement.verdict is Verdict.DENY


@pytest.mark.parametrize(
    "command",
    ['sh -c "git push"', 'git "$X"', "$X push", "git p*", "bash f", 'eval "git push"', "xargs < f"],
)
def test_what_may_hide_a_denied_command_is_asked_even_in_auto(bench: Bench, command: str) -> None:
    rules = (rule("bash"), rule("bash: git push *", Verdict.DENY))
    judgement = bench.bash(command, rules=rules, mode=Mode.AUTO, sandboxed=True)
    assert judgement.verdict is Verdict.ASK


@pytest.mark.parametrize(
    ("allowed", "command"),
    [
        ("make", "make"),
        ("make *", "make"),
        ("make *", "make -j4 all"),
        ("npm run *", "npm run build"),
        ("npm run test:*", "npm run test:unit"),
        ("pytest *", "pytest -q 'tests/test a.py'"),
        ("pytest *", "timeout 60 pytest -q"),
        ("pytest *", "cd src && pytest | tail -3"),
        ("sed -i *", "sed -i s/a/b/ f"),
        ("sed *", "sed s/a/b/ f"),
        ("find . -delete", "find . -delete"),
        ("git commit *", "git commit -m 'a b'"),
        ("cat /etc/hostname", "cat /etc/hostname"),
        ("*", "anything at all"),
    ],
)
def test_an_allow_rule_covers(bench: Bench, allowed: str, command: str) -> None:
    assert bench.bash(command, rules=(rule(f"bash: {allowed}"),)).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    ("allowed", "command"),
    [
        ("make", "make all"),
        ("make *", "makex"),
        ("make *", "make; rm f"),
        ("make *", "make $(rm f)"),
        ("make *", 'make "$X"'),
        ("make *", "./make"),
        ("make *", "X=1 make"),
        ("make *", "make > $OUT/f"),
        ("make *", "make > f"),
        ("make *", "echo x | xargs make"),
        ("make *", "env MAKEFLAGS=x make"),
        ("make *", "make --file=x"),
        ("npm run *", "npm runx"),
        ("timeout *", "timeout 5 rm f"),
        ("xargs *", "ls | xargs rm"),
        ("find *", "find . -exec rm {} +"),
        ("find *", "find $OUT -name x"),
        ("sed *", "sed -i s/a/b/ f"),
        ("sed *", "sed '1e ls' f"),
        ("rg *", "rg --pre=./x y"),
        ("go test *", "go test -exec ./p"),
        ("git *", "git -c a=b commit"),
        ("git show *", "git show --output=x"),
        ("tar *", "tar xf a --to-command=./x"),
        ("*", 'echo "${X@P}"'),
    ],
)
def test_an_allow_rule_does_not_cover(bench: Bench, allowed: str, command: str) -> None:
    assert bench.bash(command, rules=(rule(f"bash: {allowed}"),)).verdict is Verdict.ASK


def test_an_ask_rule_asks_even_for_what_only_looks(bench: Bench) -> None:
    rules = (rule("bash: git log", Verdict.ASK),)
    assert bench.bash("git log -3", rules=rules).verdict is Verdict.ASK
    assert bench.bash("git status", rules=rules).verdict is Verdict.ALLOW


def test_a_rule_about_files_holds_for_commands_too(bench: Bench) -> None:
    (bench.folder / "alias").symlink_to(bench.folder / "src" / "a.py")
    rules = (rule("read_file: src/**", Verdict.DENY), rule("write_file: f", Verdict.DENY))
    for command in (
        "cat src/a.py",
        "head < src/a.py",
        "cat alias",
        "cd src && cat a.py",
        "cat src/*",
    ):
        assert bench.bash(command, rules=rules).verdict is Verdict.DENY
    assert bench.bash("cat f", rules=rules).verdict is Verdict.ALLOW
    assert bench.bash("echo x > f", rules=rules, mode=Mode.ACCEPT_EDITS).verdict is Verdict.DENY


def test_a_write_rule_covers_a_redirection_to_the_same_file(bench: Bench) -> None:
    rules = (rule("write_file: src/**"),)
    assert bench.bash("echo x > src/b.py", rules=rules).verdict is Verdict.ALLOW
    assert bench.bash("echo x > f", rules=rules).verdict is Verdict.ASK


@pytest.mark.parametrize(
    ("command", "offered"),
    [
        ("pytest -q tests", ["bash: pytest -q tests", "bash: pytest *", "bash"]),
        ("timeout 60 pytest -q", ["bash: pytest -q", "bash: pytest *", "bash"]),
        ("cd src && pytest", ["bash: pytest", "bash: pytest *", "bash"]),
        ("python -m pytest -q", ["bash: python -m pytest -q", "bash: python -m pytest *", "bash"]),
        ("git commit -m x", ["bash: git commit -m x", "bash: git commit *", "bash"]),
        ("git commit -m 'a b'", ["bash: git commit *", "bash"]),
        ("npm run build", ["bash: npm run build", "bash"]),
        ("make -j4 all", ["bash: make -j4 all", "bash: make *", "bash"]),
        ("cargo test --all", ["bash: cargo test --all", "bash: cargo test *", "bash"]),
        ("touch x", ["bash: touch x", "bash: touch *", "bash"]),
    ],
)
def test_always_offers_this_command_first_and_wider_rules_after_it_which_all_cover_the_command(
    bench: Bench, command: str, offered: list[str]
) -> None:
    judgement = bench.bash(command, rules=())
    assert judgement.proposal is not None
    rules = [judgement.proposal, *judgement.wider]
    assert [str(each) for each in rules] == offered
    for each in rules:
        assert bench.bash(command, rules=(each,)).verdict is Verdict.ALLOW
    if offered[0].endswith(command):
        assert bench.bash(f"{command} more", rules=(rules[0],)).verdict is Verdict.ASK


@pytest.mark.parametrize(
    "command",
    [
        "python x.py",
        "python3 -c 1",
        "python -m http.server",
        "bash x.sh",
        "sh -c ls",
        "node x.js",
        "rm f",
        "rm -rf build",
        "curl http://x",
        "docker run x",
        "npx x",
        "git push",
        "git reset --hard",
        "git clean -fd",
        "git checkout .",
        "find . -delete",
        "sed -i s/a/b/ f",
        "ssh x",
        "./script",
        "kill 1",
        "pytest; make",
        "pytest > log",
        "X=1 pytest",
        'pytest "$X"',
        "pytest $(ls)",
        "pytest *.py",
        "ls | xargs rm",
        "go test -exec ./p",
        "env",
        "cd ..",
        "eval ls",
        "f() { ls; }; f",
        "echo 'x",
    ],
)
def test_always_is_not_offered_for_what_should_be_asked_each_time(
    bench: Bench, command: str
) -> None:
    judgement = bench.bash(command, rules=())
    assert judgement.verdict is Verdict.ASK
    assert judgement.proposal is None
    assert judgement.wider == ()
