import os
import stat

import pytest

from app.ui.prompt_history import KEPT, MAX_CHARS, PromptHistory


def test_what_was_sent_comes_back_in_the_next_session(tmp_path):
    file = tmp_path / "state" / "history.jsonl"
    first = PromptHistory(file)
    first.add("one")
    first.add("two\nlines")
    assert PromptHistory(file).texts == ["one", "two\nlines"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_up_walks_back_and_down_returns_to_the_draft():
    history = PromptHistory()
    history.add("one")
    history.add("two")
    assert history.before("draft") == "two"
    assert history.before("two") == "one"
    assert history.before("one") is None
    assert history.after() == "two"
    assert history.after() == "draft"
    assert history.after() is None


def test_the_same_message_twice_in_a_row_is_kept_once():
    history = PromptHistory()
    history.add("one")
    history.add("one")
    assert history.texts == ["one"]


def test_a_huge_paste_is_not_remembered():
    history = PromptHistory()
    history.add("x" * (MAX_CHARS + 1))
    assert history.texts == []


def test_damaged_lines_are_left_out(tmp_path):
    file = tmp_path / "history.jsonl"
    file.write_text('"one"\nnonsense\n{"a": 1}\n"two"\n')
    assert PromptHistory(file).texts == ["one", "two"]


def test_a_file_that_cannot_be_written_stops_nobody(tmp_path):
    (tmp_path / "state").write_text("a file where the folder should be")
    history = PromptHistory(tmp_path / "state" / "history.jsonl")
    history.add("one")
    assert history.texts == ["one"]


def test_searching_finds_the_newest_first_without_regard_to_case():
    history = PromptHistory()
    for text in ("Run the tests", "write a parser", "run the linter"):
        history.add(text)
    assert history.search("RUN") == ["run the linter", "Run the tests"]


def test_secrets_are_masked_on_their_way_to_the_file_and_stay_in_this_session(tmp_path):
    path = tmp_path / "history.jsonl"
    history = PromptHistory(path, lambda text: text.replace("k3y", "[key]"))
    for number in range(2_001):
        history.add(f"use k3y {number}")
    assert history.before("") == "use k3y 2000"
    assert "k3y" not in path.read_text()
    assert PromptHistory(path).texts[-1] == "use [key] 2000"


def test_shortening_keeps_what_another_process_wrote_meanwhile(tmp_path):
    path = tmp_path / "history.jsonl"
    mine, other = PromptHistory(path), PromptHistory(path)
    for number in range(2 * KEPT):
        mine.add(f"mine {number}")
    assert other.texts[-1] == f"mine {2 * KEPT - 1}"
    for number in range(3):
        mine.add(f"then mine {number}")
        other.add(f"then other {number}")
    found = PromptHistory(path).texts
    assert KEPT <= len(found) < 2 * KEPT
    assert {f"then {who} {n}" for who in ("mine", "other") for n in range(3)} <= set(found)


def test_a_kill_while_the_file_is_shortened_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "history.jsonl"
    history = PromptHistory(path)
    for number in range(2 * KEPT):
        history.add(f"{number}")

    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        history.add("the last")
    found = path.read_text().splitlines()
    assert (len(found), found[-1]) == (2 * KEPT + 1, '"the last"')
