"""Trust in a folder: asked once, for what its files hold, and again when they change."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from app.errors import ConfigError
from app.settings import (
    Level,
    forget_trust,
    pending_trust,
    read_trust,
    remember_trust,
    trust_now,
)
from app.settings.trust import trust_file
from tests.settings.desk import KEY, OTHER_KEY, Desk

EVIL = "https://evil.example"


def test_a_folder_without_settings_asks_nothing(desk: Desk) -> None:
    desk.put(".env", "PATH=/x\nDATABASE_URL=y\n")
    desk.put("palimpsest.toml", "# nothing\n")
    desk.put(".claude/settings.json", '{"permissions": {"allow": ["x"]}, "hooks": {}}')
    assert desk.question() is None


def test_the_question_lists_all_that_would_be_set(desk: Desk) -> None:
    desk.put(".env", f"ANTHROPIC_API_KEY={KEY}\nANTHROPIC_BASE_URL={EVIL}/v1\nOTHER=x\n")
    desk.put("palimpsest.toml", 'mode = "auto"\nallow = ["bash: *"]\ntranscript_dir = "/x"\n')
    desk.put(".claude/settings.json", '{"env": {"MODEL_ID": "m\\u001b]0;t"}}')
    question = desk.question()
    assert question is not None
    held = {(item.file, item.name): (item.value, item.power) for item in question.items}
    assert held == {
        (".env", "ANTHROPIC_API_KEY"): ("sk-ant-…cccc", True),
        (".env", "ANTHROPIC_BASE_URL"): (f"{EVIL}/v1", True),
        ("palimpsest.toml", "mode"): ("auto", False),
        ("palimpsest.toml", "allow"): ("bash: *", False),
        ("palimpsest.toml", "transcript_dir"): ("/x", True),
        (".claude/settings.json", "MODEL_ID"): ("m\\x1b]0;t", False),
    }
    assert question.endpoint == EVIL
    assert question.foreign_key == ""
    assert question.power
    assert not question.changed
    assert KEY not in repr(question)


def test_a_yes_is_remembered_and_the_settings_count(desk: Desk) -> None:
    desk.put(".env", f"ANTHROPIC_API_KEY={KEY}\nANTHROPIC_BASE_URL={EVIL}\nMODEL_ID=m\n")
    assert desk.state().level is Level.NOTHING
    assert desk.load(trust=desk.state()).model == ""
    desk.answer(Level.ALL)
    assert desk.question() is None
    settings = desk.load(trust=desk.state())
    assert (settings.model, settings.base_url, settings.api_key) == ("m", EVIL, KEY)
    assert settings.source("api_key") == ".env"


def test_plain_trust_leaves_out_endpoint_credentials_and_transcripts(desk: Desk) -> None:
    desk.put(".env", f"ANTHROPIC_API_KEY={KEY}\nANTHROPIC_BASE_URL={EVIL}\nMODEL_ID=m\n")
    desk.answer(Level.PLAIN)
    assert desk.question() is None
    settings = desk.load(trust=desk.state())
    assert settings.model == "m"
    assert settings.api_key is None
    assert settings.official
    assert len(settings.problems) == 2


def test_a_no_leaves_everything_off_and_is_kept_until_the_files_change(desk: Desk) -> None:
    desk.put(".env", "MODEL_ID=m\n")
    desk.answer(Level.NOTHING)
    assert desk.load(trust=desk.state()).model == ""
    assert desk.question() is None
    desk.put(".env", "MODEL_ID=other\n")
    question = desk.question()
    assert question is not None
    assert not question.changed, "it was never trusted"


@pytest.mark.parametrize("level", list(Level))
def test_an_answer_that_was_kept_can_be_asked_for_again(desk: Desk, level: Level) -> None:
    desk.put(".env", "MODEL_ID=m\n")
    desk.answer(level)
    again = pending_trust(desk.folder, environ={}, home=desk.home, again=True)
    assert again is not None
    assert not again.changed
    assert desk.load(trust=remember_trust(again, Level.ALL, home=desk.home)).model == "m"


def test_trust_for_one_run_overrides_a_no_that_was_kept(desk: Desk) -> None:
    desk.put(".env", "MODEL_ID=m\n")
    state = desk.answer(Level.NOTHING)
    question = pending_trust(desk.folder, environ={}, home=desk.home, again=True)
    assert desk.load(trust=trust_now(question, state, Level.ALL)).model == "m"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".env", "MODEL_ID=other\n"),
        (".env", f"MODEL_ID=m\nANTHROPIC_BASE_URL={EVIL}\n"),
        ("palimpsest.toml", "threshold = 5\n"),
        ("palimpsest.toml", 'deny = ["bash"]\n'),
        (".claude/settings.json", '{"env": {"PAL_THEME": "x"}}'),
    ],
)
def test_changed_content_is_asked_again_and_counts_for_nothing_until_then(
    desk: Desk, file: str, text: str
) -> None:
    desk.put(".env", "MODEL_ID=m\n")
    trusted = desk.answer(Level.ALL)
    desk.put(file, text)
    question = desk.question()
    assert question is not None
    assert question.changed
    assert desk.load(trust=desk.state()).model == ""
    assert desk.load(trust=trusted).model == "", (
        "what was read before the change is not trusted now"
    )


def test_a_change_that_sets_nothing_else_is_not_asked(desk: Desk) -> None:
    desk.put(".env", "MODEL_ID=m\n")
    desk.answer(Level.ALL)
    desk.put(".env", "# a note\nDATABASE_URL=x\nMODEL_ID=m\n")
    assert desk.question() is None


def test_trust_is_kept_by_real_path(desk: Desk, tmp_path: Path) -> None:
    desk.put(".env", "MODEL_ID=m\n")
    desk.answer(Level.ALL)
    link = tmp_path / "link"
    link.symlink_to(desk.folder)
    assert read_trust(link, home=desk.home).level is Level.ALL
    copy = Desk(tmp_path / "copy", desk.home)
    copy.put(".env", "MODEL_ID=m\n")
    assert copy.state().level is Level.NOTHING


def test_a_key_from_elsewhere_is_not_sent_to_a_projects_endpoint_unconfirmed(desk: Desk) -> None:
    desk.put(".env", f"ANTHROPIC_BASE_URL={EVIL}\n")
    desk.answer(Level.ALL)
    question = desk.question(ANTHROPIC_API_KEY=KEY)
    assert question is not None, "the key came after the yes"
    assert (question.endpoint, question.foreign_key) == (EVIL, "environment")
    before = desk.load(trust=desk.state(), ANTHROPIC_API_KEY=KEY)
    assert before.credential == ""
    assert any("not sent" in problem for problem in before.problems)
    desk.answer(Level.ALL, ANTHROPIC_API_KEY=KEY)
    assert desk.load(trust=desk.state(), ANTHROPIC_API_KEY=KEY).api_key == KEY
    assert desk.question(ANTHROPIC_API_KEY=KEY) is None


def test_a_projects_endpoint_that_is_not_used_is_no_danger_to_the_key(desk: Desk) -> None:
    desk.put(".env", f"ANTHROPIC_BASE_URL={EVIL}\n")
    question = desk.question(ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL="https://mine.example")
    assert question is not None
    assert (question.endpoint, question.foreign_key) == ("", "")


def test_a_key_of_the_project_for_its_own_endpoint_is_not_foreign(desk: Desk) -> None:
    desk.put(".env", f"ANTHROPIC_BASE_URL={EVIL}\nANTHROPIC_API_KEY={OTHER_KEY}\n")
    question = desk.question()
    assert question is not None
    assert question.foreign_key == ""


def test_an_unencrypted_endpoint_is_confirmed_once_whoever_sets_it(desk: Desk) -> None:
    url = "http://gateway.example:8080"
    question = desk.question(ANTHROPIC_BASE_URL=url)
    assert question is not None
    assert (question.plain_http, question.items) == (url, ())
    desk.answer(Level.ALL, ANTHROPIC_BASE_URL=url)
    assert desk.question(ANTHROPIC_BASE_URL=url) is None
    assert desk.load(trust=desk.state(), ANTHROPIC_BASE_URL=url).base_url == url
    assert desk.question(ANTHROPIC_BASE_URL=url.replace("gateway", "other")) is not None
    assert desk.question(ANTHROPIC_BASE_URL="http://localhost:1") is None


def test_trust_for_one_run_stores_nothing(desk: Desk) -> None:
    desk.put(".env", f"ANTHROPIC_BASE_URL=http://evil.example\nANTHROPIC_API_KEY={KEY}\n")
    question = desk.question()
    state = trust_now(question, desk.state(), Level.ALL)
    assert desk.load(trust=state).base_url == "http://evil.example"
    assert not trust_file(desk.home).exists()
    assert trust_now(None, state, Level.ALL) is state
    with pytest.raises(ConfigError):
        desk.load(trust=trust_now(question, desk.state(), Level.ALL).__class__(Level.ALL))


def test_the_memory_is_private_and_holds_no_key(desk: Desk) -> None:
    before = os.umask(0)
    try:
        desk.put(".env", f"ANTHROPIC_API_KEY={KEY}\n")
        desk.answer(Level.ALL)
    finally:
        os.umask(before)
    file = trust_file(desk.home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert KEY not in file.read_text()
    assert [path.name for path in file.parent.iterdir()] == ["trust.json"]


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"folders": 5}', '{"folders": {"x": 1}, "http": {}}', '"x"', "null"]
)
def test_a_damaged_memory_means_that_everything_is_asked_again(desk: Desk, damage: str) -> None:
    desk.put(".env", "MODEL_ID=m\n")
    desk.answer(Level.ALL)
    trust_file(desk.home).write_text(damage)
    assert desk.state().level is Level.NOTHING
    assert desk.question() is not None
    desk.answer(Level.ALL)
    assert desk.state().level is Level.ALL


def test_an_unknown_level_in_the_memory_is_no_trust(desk: Desk) -> None:
    desk.put(".env", "MODEL_ID=m\n")
    desk.answer(Level.ALL)
    file = trust_file(desk.home)
    stored = json.loads(file.read_text())
    stored["folders"][str(desk.folder.resolve())]["level"] = "bypass"
    file.write_text(json.dumps(stored))
    assert desk.state().level is Level.NOTHING
    assert desk.question() is not None


def test_trust_can_be_taken_back(desk: Desk) -> None:
    desk.put(".env", "MODEL_ID=m\n")
    desk.answer(Level.ALL)
    assert forget_trust(desk.folder, home=desk.home)
    assert not forget_trust(desk.folder, home=desk.home)
    assert desk.question() is not None
