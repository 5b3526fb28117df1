"""Laws of the judgement over random command lines."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.core.permission import Mode, Verdict
from app.permission.script import parse_script
from tests.permission.bench import Bench, make_bench, rule
from tests.permission.cases import ASKED, LOOKING, REFUSED

BENCH = make_bench(Path(tempfile.mkdtemp(prefix="judge-laws-")))


@pytest.fixture(scope="module", autouse=True)
def _tidy() -> object:
    yield
    shutil.rmtree(BENCH.folder.parent)


def _single(command: str) -> bool:
    script = parse_script(command, "/p")
    return not script.unread and "\n" not in command and "#" not in command


CHAINABLE = [command for command in LOOKING if _single(command)]
BAD = [c for c in (*ASKED, *REFUSED) if _single(c) and not c.rstrip().endswith("&")]

SHELLS_AROUND = (
    "{}",
    "( {} )",
    "{{ {}; }}",
    "ls; {}",
    "true && {}",
    "false || {}",
    "{} | cat",
    "echo $( {} )",
    'echo "$( {} )"',
    "cat <( {} )",
    "! {}",
    "if true; then {}; fi",
    "if {}; then ls; fi",
    "while {}; do ls; done",
    "for x in a; do {}; done",
    "case a in a) {};; esac",
    "ls\n{}",
    "{} 2>/dev/null",
    "cat <<'E'\nx\nE\n{}",
    "[ -f f ] && {}",
    "cd src; {}",
)

wrapped = st.lists(st.sampled_from(SHELLS_AROUND), min_size=1, max_size=4)


def wrap(command: str, shells: list[str]) -> str:
    for shell in shells:
        command = shell.format(command)
    return command


@given(st.sampled_from(BAD), wrapped, st.sampled_from(list(Mode)))
@settings(max_examples=400)
def test_what_is_asked_or_refused_stays_so_inside_anything(
    command: str, shells: list[str], mode: Mode
) -> None:
    judgement = BENCH.bash(wrap(command, shells), mode=mode, rules=())
    assert judgement.verdict is not Verdict.ALLOW or (mode is Mode.ACCEPT_EDITS and ">" in command)


@given(st.sampled_from([c for c in REFUSED if _single(c) and "&" not in c]), wrapped)
@settings(max_examples=300)
def test_a_dangerous_command_never_runs_whatever_stands_around_it(
    command: str, shells: list[str]
) -> None:
    everything = (rule("bash"), rule("*"))
    judgement = BENCH.bash(wrap(command, shells), mode=Mode.AUTO, rules=everything, sandboxed=True)
    assert judgement.verdict is not Verdict.ALLOW


@given(
    st.lists(st.sampled_from(CHAINABLE), min_size=1, max_size=3),
    st.sampled_from([" && ", "; ", " || "]),
)
@settings(max_examples=200)
def test_a_chain_of_looking_commands_that_stays_in_place_runs_at_once(
    commands: list[str], joint: str
) -> None:
    chain = joint.join(c for c in commands if not c.startswith("cd ")) or "ls"
    assert BENCH.bash(chain, rules=()).verdict is Verdict.ALLOW


@given(st.lists(st.sampled_from(CHAINABLE), min_size=1, max_size=3))
@example(["find src -type f -maxdepth 2 | sort | uniq -c", "tr a-z A-Z < f"])
@settings(max_examples=200)
def test_lines_of_looking_commands_run_at_once(commands: list[str]) -> None:
    judgement = BENCH.bash("\n".join(c for c in commands if not c.startswith("cd ")), rules=())
    assert judgement.verdict is Verdict.ALLOW, judgement.reason


@given(st.text(max_size=60), st.sampled_from(list(Mode)))
@settings(max_examples=300)
def test_no_text_makes_the_judgement_fail(text: str, mode: Mode) -> None:
    judgement = BENCH.bash(text, mode=mode, rules=(rule("bash: git push", Verdict.DENY),))
    assert judgement.reason


PIECES = st.sampled_from(
    [
        "echo",
        "ls",
        "cat",
        "f",
        "src",
        ";",
        "&&",
        "||",
        "|",
        "&",
        "(",
        ")",
        "{",
        "}",
        "$(",
        "`",
        "'",
        '"',
        "\\",
        "$",
        "<",
        ">",
        ">>",
        "<<",
        "E",
        "\\n",
        "#",
        "!",
        "*",
        "?",
        "[",
        "]",
        "~",
        "=",
        ":",
        "-",
        "--",
        "x",
        "M",
        "touch",
        "$M",
        "a=b",
        "<(",
        ">(",
        "${",
        "$((",
        "))",
        "}}",
        "if",
        "then",
        "fi",
        "do",
        "done",
        "for",
        "in",
        "case",
        "esac",
        "[[",
        "]]",
        "EOF",
        "2>&1",
        "/dev/null",
        "xargs",
        "find",
        ".",
        "-exec",
        "{}",
        "\\;",
        "+",
        "-name",
        "-delete",
        "eval",
        "printf",
        "%s",
        "sh",
        "-c",
        "command",
        "exec",
        "time",
        "env",
    ]
)


@given(st.lists(st.tuples(PIECES, st.sampled_from(["", " "])), min_size=1, max_size=14))
@settings(max_examples=400)
def test_what_runs_unasked_changes_nothing_in_a_real_shell(
    pieces: list[tuple[str, str]],
) -> None:
    line = "".join(piece.replace("\\n", "\n") + gap for piece, gap in pieces)
    line = line.replace("$M", "made").replace("M", "made")
    if BENCH.bash(line, rules=()).verdict is not Verdict.ALLOW:
        return
    _assert_changes_nothing(BENCH, line)


@given(st.sampled_from([c for c in CHAINABLE if "sleep" not in c]), wrapped)
@settings(max_examples=25)
def test_the_looking_commands_really_change_nothing(command: str, shells: list[str]) -> None:
    line = BENCH.fill(wrap(command, shells))
    if "while" in line or BENCH.bash(line, rules=()).verdict is not Verdict.ALLOW:
        return
    _assert_changes_nothing(BENCH, line)


def _assert_changes_nothing(bench: Bench, line: str) -> None:
    before = _state(bench.folder.parent)
    subprocess.run(
        ["bash", "-c", line],
        cwd=bench.folder,
        env={"PATH": os.environ["PATH"], "HOME": str(bench.home), "GIT_OPTIONAL_LOCKS": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert _state(bench.folder.parent) == before, line


def _state(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else b""
        for path in sorted(root.rglob("*"))
    }
