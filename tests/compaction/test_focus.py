"""Which exchanges a focus keeps."""

from __future__ import annotations

from app.compaction.focus import matching, terms
from tests.fakes.history import Story, bash, edit, lines, read


def told() -> Story:
    story = Story()
    story.say("build it")
    story.step(read("app/parser.py", "class Parser: ..."))
    story.step(read("app/billing.py", "def make_invoice(): ..."))
    story.step(bash("pytest tests/test_parser.py", lines(5)))
    story.step(edit("app/other.py"))
    story.answer("我们 用 解析器 处理输入")
    story.say("next")
    return story


def kept(story: Story, focus: str, room: float = 2_000) -> list[int]:
    units = matching(story.conversation, focus, room, before=len(story.conversation.entries) - 1)
    return [story.conversation.entries[unit.first].number for unit in units]


def test_a_path_finds_its_exchanges() -> None:
    assert kept(told(), "keep app/billing.py") == [4]


def test_a_word_finds_paths_and_camel_case() -> None:
    assert kept(told(), "the parser decisions") == [2, 6]


def test_a_symbol_is_found_in_a_result() -> None:
    assert kept(told(), "make_invoice") == [4]


def test_chinese_words_are_found() -> None:
    assert kept(told(), "解析器的设计") == [10]


def test_common_words_match_nothing() -> None:
    assert terms("the first feature is done, let us start the second") == ()
    assert kept(told(), "keep all of the work") == []


def test_the_best_matches_come_first_when_room_is_short() -> None:
    story = told()
    assert kept(story, "parser billing", 80) == [4]
    assert kept(story, "parser", 0) == []
