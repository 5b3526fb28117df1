"""A record that was never compacted and is larger than any model takes opens all the same, and loses no word of the user."""

from __future__ import annotations

import pytest

from app.adapters import journal_holding, journal_reading
from app.adapters.journal import Journal
from app.compaction.facts import ledger
from app.core.conversation import Conversation, replay
from app.core.effects import Effects
from app.core.messages import Message, Text, ToolResult, ToolUse, user
from app.core.tokens import estimate_text
from tests.fakes.clock import FakeClock
from tests.fakes.message_rules import problems

ROUNDS = 120
OUTPUT = "line of output\n" * 40


@pytest.fixture
def clock():
    return FakeClock(step=1)


@pytest.fixture
async def folder(tmp_path, clock):
    """A session of 480 messages, 600 bytes of output in every second one; the early ones changed files."""
    journal = await Journal.create(tmp_path / ".transcripts", clock=clock)
    for n in range(ROUNDS):
        await journal.append(user(f"wish {n}"), spoken=(0,))
        await journal.append(Message("assistant", (ToolUse(f"t{n}", "write_file", {}),)))
        effects = {f"t{n}": Effects(modified=(f"file_{n}.py",))}
        await journal.append(Message("user", (ToolResult(f"t{n}", OUTPUT),)), effects=effects)
        await journal.append(Message("assistant", (Text(f"done {n}"),)))
    await journal.clear({f"r{n}": f"[cleared {n}]" for n in range(1, ROUNDS + 1, 3)})
    await journal.close()
    return journal.folder


def hold(monkeypatch, held, told):
    monkeypatch.setattr(journal_reading, "HELD_BYTES", held)
    monkeypatch.setattr(journal_holding, "HELD_BYTES", held)
    monkeypatch.setattr(journal_holding, "TOLD_BYTES", told)


async def opened(folder, clock) -> tuple[Conversation, Journal]:
    journal = await Journal.open(folder.parent, folder.name, clock=clock)
    return replay(await journal.history()), journal


async def test_what_has_room_is_held_whole(folder, clock):
    conversation, journal = await opened(folder, clock)
    assert len(conversation.entries) == 4 * ROUNDS
    assert not journal.notices
    await journal.close()


async def test_of_more_the_newest_and_all_words_and_changes_are_held(folder, clock, monkeypatch):
    hold(monkeypatch, 40_000, 1_000_000)
    conversation, journal = await opened(folder, clock)
    numbers = [entry.number for entry in conversation.entries]
    assert 2 * ROUNDS < len(numbers) < 3 * ROUNDS
    assert numbers == sorted(numbers) and numbers[-1] == 4 * ROUNDS
    newest = [entry for entry in conversation.entries if entry.message.role == "assistant"]
    assert numbers[-len(newest) :] == list(range(4 * ROUNDS - len(newest) + 1, 4 * ROUNDS + 1))
    view = conversation.view()
    assert not problems((*view.messages, user("on")))
    known = ledger(conversation)
    assert [words.text for words in known.words] == [f"wish {n}" for n in range(ROUNDS)]
    assert known.modified == tuple(f"file_{n}.py" for n in range(ROUNDS))
    assert "messages are not in the context" in journal.notices[-1]
    await journal.close()


async def test_cleared_results_take_no_room(folder, clock, monkeypatch):
    hold(monkeypatch, 120_000, 1_000_000)
    before, journal = await opened(folder, clock)
    assert "not in the context" in journal.notices[-1]
    await journal.clear({f"r{n}": f"[cleared {n}]" for n in range(1, ROUNDS + 1)})
    await journal.close()
    after, journal = await opened(folder, clock)
    assert len(after.entries) > len(before.entries)
    shown = [b.text for m in after.view().messages for b in m.tool_results]
    assert shown[-1] == f"[cleared {ROUNDS}]"
    lines = sum(estimate_text(line) for line in after.stubs.values())
    assert after.sizes.results == pytest.approx(lines)
    await journal.close()


async def test_the_oldest_words_give_way_when_even_they_are_too_many(folder, clock, monkeypatch):
    hold(monkeypatch, 10_000, 10_000)
    conversation, journal = await opened(folder, clock)
    said = [entry.words for entry in conversation.entries if entry.spoken]
    assert said and said[-1] == f"wish {ROUNDS - 1}"
    assert len(said) < ROUNDS
    assert not problems((*conversation.view().messages, user("on")))
    assert [entry.number for entry in await journal.page(None, 3)] == [478, 479, 480]
    assert [entry.number for entry in await journal.messages([1])] == [1]
    await journal.close()


async def test_one_message_larger_than_the_room_is_held(folder, clock, monkeypatch):
    conversation, journal = await opened(folder, clock)
    await journal.append(user("x" * 50_000), spoken=(0,))
    await journal.close()
    hold(monkeypatch, 10_000, 10_000)
    conversation, journal = await opened(folder, clock)
    assert conversation.entries[-1].words == "x" * 50_000
    await journal.close()
