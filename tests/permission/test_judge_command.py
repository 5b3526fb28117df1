"""Command lines by class: what runs at once, what is asked, what is refused."""

from __future__ import annotations

import pytest

from app.core.permission import Mode, Verdict
from tests.permission.bench import Bench, rule
from tests.permission.cases import ASKED, HARMLESS_LOOKALIKES, LOOKING, OWN, PROTECTED, REFUSED


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.READ_ONLY])
def test_commands_that_only_look_run_at_once_without_any_rule(bench: Bench, mode: Mode) -> None:
    judged = {command: bench.bash(command, rules=(), mode=mode) for command in LOOKING}
    assert {c: j.reason for c, j in judged.items() if j.verdict is not Verdict.ALLOW} == {}


def test_all_else_is_asked_with_a_reason_in_spite_of_rules_for_its_first_word(bench: Bench) -> None:
    judged = {command: bench.bash(command) for command in ASKED}
    assert {c: j.reason for c, j in judged.items() if j.verdict is not Verdict.ASK} == {}
    assert all(len(j.reason) > 10 and j.reason.endswith(".") for j in judged.values())


def test_the_read_only_mode_refuses_what_would_be_asked(bench: Bench) -> None:
    judged = {c: bench.bash(c, rules=(), mode=Mode.READ_ONLY) for c in ASKED}
    assert {c: j.reason for c, j in judged.items() if j.verdict is not Verdict.DENY} == {}


@pytest.mark.parametrize("mode", list(Mode))
def test_dangerous_commands_are_refused_in_every_mode_and_whatever_is_allowed(
    bench: Bench, mode: Mode
) -> None:
    everything = (rule("bash"), rule("*"), rule("bash: *"))
    judged = {c: bench.bash(c, mode=mode, rules=everything, sandboxed=True) for c in REFUSED}
    assert {c: j.reason for c, j in judged.items() if j.verdict is not Verdict.DENY} == {}
    assert all(j.reason.startswith("Dangerous command blocked: ") for j in judged.values())
    assert not any(j.proposal for j in judged.values())


def test_text_that_only_looks_dangerous_is_not_refused_as_such(bench: Bench) -> None:
    judged = {command: bench.bash(command, rules=()) for command in HARMLESS_LOOKALIKES}
    assert {c: j.reason for c, j in judged.items() if j.verdict is Verdict.DENY} == {}


def test_deleting_the_home_is_refused_when_the_project_is_the_home(bench: Bench) -> None:
    at_home = Bench(bench.home, bench.home, bench.outside)
    assert at_home.bash("rm -rf .").verdict is Verdict.DENY


def test_a_very_long_or_invisible_command_is_asked(bench: Bench) -> None:
    assert bench.bash("ls " + "a" * 60_000).verdict is Verdict.ASK
    for odd in ("\r", "\x1b", "\u202e", "\u200b", "\u00ad", "\x00", "\ud800", "\U000e0041"):
        judgement = bench.bash(f"ls {odd}src")
        assert judgement.verdict is Verdict.ASK
        assert "invisible" in judgement.reason


def test_a_deeply_nested_command_is_asked(bench: Bench) -> None:
    assert bench.bash("echo " + "$(" * 200 + "ls" + ")" * 200).verdict is Verdict.ASK
    assert bench.bash("(" * 3000 + "ls" + ")" * 3000).verdict is Verdict.ASK


def test_the_question_names_the_inner_command(bench: Bench) -> None:
    assert "`touch " in bench.bash('echo "$(touch $M)"').reason


@pytest.mark.parametrize("command", ["printf x | sh", "base64 -d f | bash", "cat f | python3 -"])
def test_a_pipe_into_an_interpreter_is_flagged(bench: Bench, command: str) -> None:
    assert "runs what it reads" in bench.bash(command).reason


def test_auto_runs_commands_only_in_a_sandbox(bench: Bench) -> None:
    assert bench.bash("pytest", mode=Mode.AUTO, sandboxed=True).verdict is Verdict.ALLOW
    assert bench.bash("pytest", mode=Mode.AUTO).verdict is Verdict.ASK
    assert bench.bash("echo 'x", mode=Mode.AUTO, sandboxed=True).verdict is Verdict.ASK


def test_accept_edits_covers_a_redirection_into_the_project_and_nothing_else(bench: Bench) -> None:
    def verdict(command: str) -> Verdict:
        return bench.bash(command, mode=Mode.ACCEPT_EDITS, rules=()).verdict

    assert verdict("echo x > f") is Verdict.ALLOW
    assert verdict("cat > src/b.py <<'E'\n1\nE") is Verdict.ALLOW
    assert verdict("echo x > $OUT/f") is Verdict.ASK
    assert verdict("echo x > door/f") is Verdict.ASK
    assert verdict("echo x > .git/config") is Verdict.ASK
    assert verdict("touch x") is Verdict.ASK


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.ACCEPT_EDITS, Mode.AUTO])
def test_files_that_run_later_are_asked_in_every_mode_and_with_every_rule(
    bench: Bench, mode: Mode
) -> None:
    (bench.folder / "hooklink").symlink_to(bench.folder / ".git" / "hooks" / "pre-commit")
    everything = (rule("bash"), rule("write_file"))
    judged = {c: bench.bash(c, mode=mode, rules=everything, sandboxed=True) for c in PROTECTED}
    assert {c: j.reason for c, j in judged.items() if j.verdict is not Verdict.ASK} == {}
    assert not any(j.proposal for j in judged.values())


@pytest.mark.parametrize("mode", list(Mode))
def test_our_own_record_and_settings_are_refused_in_every_mode(bench: Bench, mode: Mode) -> None:
    (bench.folder / ".transcripts").mkdir()
    judged = {c: bench.bash(c, mode=mode, rules=(rule("bash"),), sandboxed=True) for c in OWN}
    assert {c: j.reason for c, j in judged.items() if j.verdict is not Verdict.DENY} == {}


def test_the_record_may_be_read(bench: Bench) -> None:
    (bench.folder / ".transcripts").mkdir()
    assert bench.bash("ls .transcripts").verdict is Verdict.ALLOW
    assert bench.bash("wc -l .transcripts/x").verdict is Verdict.ALLOW


def test_a_pattern_that_may_stand_for_an_option_is_asked(bench: Bench) -> None:
    (bench.folder / "src" / "--pre=.sh").write_text("")
    assert bench.bash("cd src && rg x *").verdict is Verdict.ASK
    assert bench.bash("rg x src/*").verdict is Verdict.ALLOW
    (bench.folder / "src" / "--pre=.sh").rename(bench.folder / "src" / "-C")  # file writes with it
    assert bench.bash("cd src && file *").verdict is Verdict.ASK
    assert bench.bash("file src/*").verdict is Verdict.ALLOW


def test_a_pattern_is_judged_by_the_files_it_stands_for(bench: Bench) -> None:
    assert bench.bash("cat src/*").verdict is Verdict.ALLOW
    (bench.folder / "src" / "way_out").symlink_to(bench.outside / "secret")
    assert bench.bash("cat src/*").verdict is Verdict.ASK


@pytest.mark.parametrize(
    "config",
    [
        "[core]\n\tfsmonitor = touch x\n",
        "[diff]\n\texternal = ./x\n",
        '[filter "x"]\n\tclean = touch x\n',
        '[diff "x"]\n\ttextconv = touch x\n',
        "[include]\n\tpath = /tmp/x\n",
        "[core] fsmonitor = ./x\n",
        "[core]\nfsmon\\\nitor = x\n",
    ],
)
def test_git_is_asked_in_a_repository_that_would_run_programs(bench: Bench, config: str) -> None:
    (bench.folder / ".git" / "config").write_text(config)
    judgement = bench.bash("git status")
    assert judgement.verdict is Verdict.ASK
    assert "repository" in judgement.reason


def test_git_is_asked_where_a_hook_runs_when_the_index_is_read(bench: Bench) -> None:
    (bench.folder / ".git" / "hooks" / "post-index-change").write_text("#!/bin/sh\n")
    assert bench.bash("git status").verdict is Verdict.ASK


def test_git_runs_at_once_in_an_ordinary_repository(bench: Bench) -> None:
    (bench.folder / ".git" / "config").write_text(
        '[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote "origin"]\n\turl = x\n'
        '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n'
    )
    assert bench.bash("git status").verdict is Verdict.ALLOW


def test_git_is_asked_in_a_folder_laid_out_as_a_bare_repository(bench: Bench) -> None:
    bare = bench.folder / "bare"
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/x\n")
    assert bench.bash("cd bare && git status").verdict is Verdict.ASK
    assert bench.bash("git -C bare status").verdict is Verdict.ASK
