"""Rules added with "always": kept for their folder, listed, taken back."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from app.core.permission import Rule, Verdict
from app.settings.kept_rules import GRANTED, grant, granted_file, granted_rules, withdraw
from app.settings.load import load_settings

PYTEST = Rule(Verdict.ALLOW, "bash", "pytest *")
NO_PUSH = Rule(Verdict.DENY, "bash", "git push *")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    return place


def test_a_rule_is_kept_for_its_folder_alone_until_it_is_taken_back(
    home: Path, folder: Path
) -> None:
    kept = grant(PYTEST, folder, home=home)
    grant(NO_PUSH, folder, home=home)
    grant(PYTEST, folder, home=home)
    assert kept.source == GRANTED
    assert [(r.verdict, str(r)) for r in granted_rules(folder, home=home)] == [
        (Verdict.ALLOW, "bash: pytest *"),
        (Verdict.DENY, "bash: git push *"),
    ]
    assert granted_rules(folder.parent, home=home) == ()
    assert withdraw(kept, folder, home=home)
    assert not withdraw(kept, folder, home=home)
    assert [str(rule) for rule in granted_rules(folder, home=home)] == ["bash: git push *"]


def test_the_rules_hold_by_the_real_path_and_are_private(home: Path, folder: Path) -> None:
    link = folder.parent / "link"
    link.symlink_to(folder)
    grant(PYTEST, link, home=home)
    assert len(granted_rules(folder, home=home)) == 1
    assert stat.S_IMODE(granted_file(home).stat().st_mode) == 0o600


def test_kept_rules_are_in_force_wherever_settings_are_loaded(home: Path, folder: Path) -> None:
    grant(PYTEST, folder, home=home)
    settings = load_settings(folder, environ={}, home=home, flags={"allow": "bash: make"})
    assert [str(rule) for rule in settings.rules] == ["bash: make", "bash: pytest *"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"folders": []}', '{"folders": {"x": 1}}', '{"folders": {"x": ["y"]}}'],
)
def test_a_damaged_file_grants_nothing(home: Path, folder: Path, text: str) -> None:
    granted_file(home).parent.mkdir(parents=True)
    granted_file(home).write_text(text.replace("x", str(folder)))
    assert granted_rules(folder, home=home) == ()


def test_a_damaged_rule_is_left_out_and_the_others_hold(home: Path, folder: Path) -> None:
    grant(PYTEST, folder, home=home)
    grant(NO_PUSH, folder, home=home)
    file = granted_file(home)
    file.write_text(file.read_text().replace('"allow"', '"always"'))
    assert [str(rule) for rule in granted_rules(folder, home=home)] == ["bash: git push *"]
