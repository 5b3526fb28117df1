"""``pal rules``: the same answers as in the screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.launch.judging import judge_of
from app.rules_cli import run
from app.settings.load import load_settings


class Shell:
    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.home, self._capsys = root / "project", root / "home", capsys
        self.folder.mkdir()

    def __call__(self, *words: str, code: int = 0) -> str:
        settings = load_settings(
            self.folder, environ={"PAL_DENY": "bash: git push"}, home=self.home
        )
        judge = judge_of(settings, home=self.home, search_path="", sandboxed=False)
        assert run(list(words), settings, self.home, judge=judge) == code
        out, err = self._capsys.readouterr()
        return out + err


@pytest.fixture
def pal_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, capsys)


def test_rules_are_added_listed_and_removed(pal_rules: Shell) -> None:
    assert "bash: git push" in pal_rules()
    assert "Added: allow bash: make all" in pal_rules("add", "allow", "bash: make all")
    assert "2. allow  bash: make all  (always, in this folder)" in pal_rules("list")
    listed = json.loads(pal_rules("list", "--json"))
    assert [each["rule"] for each in listed["rules"]] == ["bash: git push", "bash: make all"]
    assert (
        "allow: It is allowed by the rule 'bash: make all' (from always, in this folder)."
        in pal_rules("why", "make all")
    )
    assert "Removed: bash: make all" in pal_rules("remove", "2")
    assert "make all" not in pal_rules("list")


def test_why_says_what_would_become_of_a_command_and_what_always_would_offer(
    pal_rules: Shell,
) -> None:
    told = pal_rules("why", "pytest", "-q")
    assert "ask: `pytest -q`: pytest is not on the list of read-only commands." in told
    assert "“always” would offer: bash: pytest -q, then bash: pytest *, then bash" in told
    assert pal_rules("why", "ls -la").startswith("allow: It only looks")
    assert pal_rules("why", "git push").startswith("deny: `git push` is denied by the rule")
    assert json.loads(pal_rules("why", "--json", "sudo ls"))["verdict"] == "deny"
    assert pal_rules("why", "--tool", "write_file", "../x").startswith("deny: ")


def test_what_cannot_be_done_says_so(pal_rules: Shell) -> None:
    assert "take it out there" in pal_rules("remove", "1", code=1)
    assert "there is no rule 9" in pal_rules("remove", "9", code=1)
    assert "say the command" in pal_rules("why", code=1)
    assert "is not a rule" in pal_rules("add", "allow", ":", code=1)
    assert pal_rules("add", "perhaps", "bash", code=2)
