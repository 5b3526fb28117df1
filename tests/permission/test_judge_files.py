"""File tools: judged by what a path really means."""

from __future__ import annotations

import pytest

from app.core.permission import Mode, Verdict
from tests.permission.bench import Bench, rule

READERS = ("read_file", "list_files", "search")
WRITERS = ("write_file", "edit_file")


@pytest.mark.parametrize("tool", READERS)
@pytest.mark.parametrize("mode", list(Mode))
def test_reading_inside_runs_at_once_in_every_mode(bench: Bench, tool: str, mode: Mode) -> None:
    for path in ("f", "src/a.py", "./src/../f", "not there", str(bench.folder / "f"), "src"):
        assert bench.call(tool, {"path": path}, mode=mode).verdict is Verdict.ALLOW


@pytest.mark.parametrize("tool", ["list_files", "search"])
def test_a_tool_without_a_path_looks_at_the_project(bench: Bench, tool: str) -> None:
    assert bench.call(tool, {}).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "path", ["../f", "src/../../f", "~/f", "$OUT/secret", "link", "door/secret", "$WD-evil/f", "/"]
)
def test_reading_outside_is_asked_and_writing_there_is_refused(bench: Bench, path: str) -> None:
    path = bench.fill(path).replace("$WD", str(bench.folder))
    for tool in READERS:
        assert bench.call(tool, {"path": path}).verdict is Verdict.ASK
    for tool in WRITERS:
        for mode in Mode:
            judgement = bench.call(
                tool, {"path": path}, mode=mode, rules=(rule(tool),), sandboxed=True
            )
            assert judgement.verdict is Verdict.DENY


@pytest.mark.parametrize("tool", [*READERS, *WRITERS])
def test_a_path_with_a_nul_is_refused(bench: Bench, tool: str) -> None:
    assert bench.call(tool, {"path": "f\0x"}).verdict is Verdict.DENY


@pytest.mark.parametrize("tool", [*WRITERS, "read_file", "bash"])
@pytest.mark.parametrize("arguments", [{}, {"path": 3, "command": 3}, {"path": None}])
def test_a_call_that_its_tool_will_refuse_is_not_asked(
    bench: Bench, tool: str, arguments: dict[str, object]
) -> None:
    assert bench.call(tool, arguments).verdict is Verdict.ALLOW


@pytest.mark.parametrize("tool", WRITERS)
def test_writing_inside_follows_the_mode(bench: Bench, tool: str) -> None:
    def verdict(mode: Mode, sandboxed: bool = False) -> Verdict:
        return bench.call(tool, {"path": "src/new.py"}, mode=mode, sandboxed=sandboxed).verdict

    assert verdict(Mode.ASK) is Verdict.ASK
    assert verdict(Mode.ACCEPT_EDITS) is Verdict.ALLOW
    assert verdict(Mode.READ_ONLY) is Verdict.DENY
    assert verdict(Mode.AUTO) is Verdict.ASK
    assert verdict(Mode.AUTO, sandboxed=True) is Verdict.ALLOW


PROTECTED = (
    ".git/hooks/pre-commit",
    ".git/config",
    ".Git/config",
    "src/.git/config",
    ".envrc",
    ".env",
    ".env.local",
    ".vscode/tasks.json",
    ".claude/settings.json",
    ".husky/pre-push",
    "hooks/pre-commit",
    "inner/.GIT/hooks/pre-commit",
    ".git\u200c/config",
    ".git./config",
    "src/.git::$INDEX_ALLOCATION/config",
    "GIT~1/config",
    "store/hooks/post-update",
    "store/config",
    "a/b/store/new",
    "src/.git",
    ".bashrc",
)


@pytest.mark.parametrize("tool", WRITERS)
@pytest.mark.parametrize("path", PROTECTED)
def test_files_that_run_later_are_asked_in_every_mode(bench: Bench, tool: str, path: str) -> None:
    (bench.folder / "hooks").symlink_to(bench.folder / ".git" / "hooks")
    for store in ("store", "a/b/store"):
        for name in ("objects", "refs", "HEAD"):
            (bench.folder / store / name).mkdir(parents=True)
    for mode in (Mode.ASK, Mode.ACCEPT_EDITS, Mode.AUTO):
        judgement = bench.call(tool, {"path": path}, mode=mode, rules=(rule(tool),), sandboxed=True)
        assert judgement.verdict is Verdict.ASK
        assert judgement.proposal is None


@pytest.mark.parametrize("tool", WRITERS)
@pytest.mark.parametrize(
    "path", [".transcripts/x", ".transcripts", "palimpsest.toml", "Palimpsest.TOML", "diary/x"]
)
def test_our_own_files_are_refused_in_every_mode(bench: Bench, tool: str, path: str) -> None:
    (bench.folder / "diary").symlink_to(bench.folder / ".transcripts")
    for mode in Mode:
        judgement = bench.call(tool, {"path": path}, mode=mode, rules=(rule(tool),), sandboxed=True)
        assert judgement.verdict is Verdict.DENY


def test_ordinary_files_with_similar_names_are_not_protected(bench: Bench) -> None:
    for path in (".gitignore", ".github/workflows/ci.yml", "env.py", ".env.example", "git/x"):
        judgement = bench.call("write_file", {"path": path}, mode=Mode.ACCEPT_EDITS)
        assert judgement.verdict is Verdict.ALLOW


def test_reading_a_file_of_keys_is_asked(bench: Bench) -> None:
    assert (
        bench.call("read_file", {"path": ".env"}, rules=(rule("read_file"),)).verdict is Verdict.ASK
    )
    assert (
        bench.call("read_file", {"path": ".env"}, rules=(rule("read_file: .env"),)).verdict
        is Verdict.ALLOW
    )
    assert bench.call("read_file", {"path": ".env.example"}).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "pattern", ["$OUT/secret", "$OUT/**", "$OUT", "secret", "link", "*secret*"]
)
def test_a_deny_rule_on_the_target_holds_through_a_link(bench: Bench, pattern: str) -> None:
    rules = (rule("read_file"), rule(f"read_file: {bench.fill(pattern)}", Verdict.DENY))
    assert bench.call("read_file", {"path": "link"}, rules=rules).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
        ("src/**", "src/a.py", True),
        ("src/**", "src/x/y/a.py", True),
        ("src/**", "srcx/a.py", False),
        ("src/*", "src/a.py", True),
        ("src/*", "src/x/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/x/a.py", True),
        ("**/*.py", "a.pyc", False),
        ("*.py", "src/a.py", False),
        ("src/**", "src/../f", False),
        ("src/a.py", "./src/a.py", True),
    ],
)
def test_an_allow_rule_covers_exactly_what_its_pattern_says(
    bench: Bench, pattern: str, path: str, covered: bool
) -> None:
    judgement = bench.call("edit_file", {"path": path}, rules=(rule(f"edit_file: {pattern}"),))
    assert judgement.verdict is (Verdict.ALLOW if covered else Verdict.ASK)


def test_a_deny_rule_by_name_holds_at_any_depth(bench: Bench) -> None:
    rules = (rule("write_file: *.pem", Verdict.DENY),)
    judgement = bench.call(
        "write_file", {"path": "a/b/Key.PEM"}, rules=rules, mode=Mode.ACCEPT_EDITS
    )
    assert judgement.verdict is Verdict.DENY


def test_always_proposes_this_file_and_tool(bench: Bench) -> None:
    judgement = bench.call("edit_file", {"path": "./src/a.py"})
    assert [str(each) for each in judgement.wider] == ["edit_file: src/**", "edit_file"]
    top = bench.call("edit_file", {"path": "notes.md"})
    assert [str(each) for each in top.offers] == [
        "edit_file: notes.md",
        "edit_file: *.md",
        "edit_file",
    ]
    for each, below in ((top.wider[0], Verdict.ASK), (top.wider[1], Verdict.ALLOW)):
        assert bench.call("edit_file", {"path": "b.md"}, rules=(each,)).verdict is Verdict.ALLOW
        assert bench.call("edit_file", {"path": "src/b.md"}, rules=(each,)).verdict is below
    proposal = judgement.proposal
    assert str(proposal) == "edit_file: src/a.py"
    assert proposal is not None
    assert bench.call("edit_file", {"path": "src/a.py"}, rules=(proposal,)).verdict is Verdict.ALLOW
    assert bench.call("edit_file", {"path": "src/b.py"}, rules=(proposal,)).verdict is Verdict.ASK
    outside = bench.call("read_file", {"path": str(bench.outside / "secret")}).proposal
    assert outside is not None
    assert bench.call("read_file", {"path": "link"}, rules=(outside,)).verdict is Verdict.ALLOW


@pytest.mark.parametrize("tool", ["todo", "recall", "compact"])
def test_tools_of_the_session_run_at_once_unless_a_rule_says_no(bench: Bench, tool: str) -> None:
    assert bench.call(tool, {}).verdict is Verdict.ALLOW
    assert bench.call(tool, {}, rules=(rule(tool, Verdict.DENY),)).verdict is Verdict.DENY


def test_a_background_job_may_be_read_and_ended(bench: Bench) -> None:
    assert bench.call("bash", {"job": "job1", "stop": True}).verdict is Verdict.ALLOW
    denied = bench.call("bash", {"job": "job1"}, rules=(rule("bash", Verdict.DENY),))
    assert denied.verdict is Verdict.DENY


def test_an_unknown_tool_is_asked(bench: Bench) -> None:
    assert bench.call("launch", {}).verdict is Verdict.ASK
    assert bench.call("launch", {}, rules=(rule("launch"),)).verdict is Verdict.ALLOW
