from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from rich.style import Style

from app.ui.chat import entries
from app.ui.chat.answer import LONG_TAIL, LiveAnswer
from app.ui.chat.entries import MOST_LAID_OUT, UnreadSection
from app.ui.chat.transcript import Transcript

NESTED = "- top\n" + "".join(f"  - item {n} with **bold** words\n" for n in range(1_200))
PARAGRAPH = "".join(f"some words number {n} in a row\n" for n in range(1_200))
QUOTE = "".join(f"> quoted words {n}\n" for n in range(2_000))
IN_AN_ITEM = "1. do this\n\n   ```py\n" + "".join(f"   x{n} = {n}\n" for n in range(2_500))
ONE_LINE = "word " * 8_000


def transcript() -> Transcript:
    return Transcript(lambda inks: Style.null())


def shown(chat: Transcript) -> list[str]:
    return [
        "".join(segment.text for segment in row.segments).rstrip()
        for index in range(len(chat))
        for row in chat.rows(index)
    ]


def stream(chat: Transcript, text: str, step: int = 500) -> LiveAnswer:
    """Let a text come in pieces, each drawn as a view that follows the end would."""
    answer = LiveAnswer(chat, count(1))
    for at in range(0, len(text), step):
        answer.add_text(text[at : at + step])
        answer.update()
        for index in range(max(0, len(chat) - 3), len(chat)):
            chat.rows(index)
    return answer


@pytest.mark.parametrize(
    "text",
    [NESTED, PARAGRAPH, QUOTE, IN_AN_ITEM, ONE_LINE],
    ids=["nested list", "paragraph", "quote", "fence in an item", "one line"],
)
def test_a_block_that_cannot_be_cut_is_laid_out_in_proportion_to_its_length(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out = [0]

    def counted(make: Any) -> Any:
        def counting(piece: Any, *more: Any, **named: Any) -> Any:
            laid_out[0] += len(getattr(piece, "source", piece))
            return make(piece, *more, **named)

        return counting

    monkeypatch.setattr(entries, "piece_lines", counted(entries.piece_lines))
    monkeypatch.setattr(entries, "lines_of", counted(entries.lines_of))
    stream(transcript(), text)
    assert laid_out[0] < 16 * len(text)


@pytest.mark.parametrize(
    "text",
    [NESTED[:12_000], PARAGRAPH[:12_000], QUOTE[:12_000]],
    ids=["nested list", "paragraph", "quote"],
)
def test_a_long_block_looks_in_the_end_as_if_it_had_come_at_once(text: str) -> None:
    whole, streamed = transcript(), transcript()
    stream(whole, text, len(text)).finish()
    answer = stream(streamed, text)
    assert any(isinstance(section, UnreadSection) for section in streamed.sections)
    answer.finish()
    assert shown(streamed) == shown(whole)
    assert "".join(section.source for section in streamed.sections) == text


def test_every_word_is_on_the_screen_at_once_in_a_long_block() -> None:
    chat = transcript()
    answer = LiveAnswer(chat, count(1))
    for at in range(0, 3 * LONG_TAIL, 700):
        answer.add_text(NESTED[at : at + 700])
        answer.update()
        newest = NESTED[: at + 700].rsplit("item ", 1)[1].split("*")[0].strip()
        assert newest in "\n".join(shown(chat))


def test_a_block_of_a_monstrous_length_is_shown_as_it_was_written() -> None:
    chat = transcript()
    stream(chat, NESTED, len(NESTED)).finish()
    assert len(NESTED) > MOST_LAID_OUT
    assert shown(chat)[-1] == "  - item 1199 with **bold** words"
