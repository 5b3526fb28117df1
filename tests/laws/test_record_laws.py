"""Laws of the record: what is on disk replays to the live conversation, after any operations and any cut."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.adapters.journal import Journal
from app.adapters.journal_reading import SessionReader
from app.core.conversation import Conversation, in_force, replay
from app.core.history import Commit, Entry, HistoryItem, Rewound, Undone
from app.core.messages import Message, user
from app.core.ports import CommitDraft
from app.core.reports import Layer
from app.core.rewinds import live_items
from tests.fakes.clock import FakeClock
from tests.fakes.history import Story, stories

SLOW = settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class Life:
    """A journal, what it returned, and the live conversation beside it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = FakeClock(step=0.25)
        self.items: list[HistoryItem] = []
        self.live = Conversation()
        self.journal: Journal

    async def begin(self) -> None:
        self.journal = await Journal.create(self.root, clock=self.clock)

    async def reopen(self) -> None:
        name = self.journal.session
        await self.journal.close()
        self.journal = await Journal.open(self.root, name, clock=self.clock)
        assert self.journal.notices == ()
        self.live = replay(await self.journal.history())

    def take(self, item: HistoryItem) -> None:
        self.items.append(item)
        self.live = (
            replay(self.items) if isinstance(item, Undone | Rewound) else self.live.apply(item)
        )

    @property
    def in_force(self) -> list[int]:
        return [i.number for i in in_force(self.items) if isinstance(i, Commit)]

    @property
    def moments(self) -> list[int]:
        """Where one can go back to."""
        counting = live_items(self.items)
        return [i.seq for i in counting if isinstance(i, Rewound) or getattr(i, "spoken", ())]

    async def say(self, message: Message, entry: Entry) -> None:
        self.take(await self.journal.append(message, spoken=entry.spoken, effects=entry.effects))

    async def change(self, kind: str, draw: Callable) -> None:
        entries, results = self.live.entries, [ref.id for ref in self.live.results]
        some = draw(st.sets(st.sampled_from(results))) if results else set()
        bare = draw(st.sampled_from(((), tuple(e.id for e in entries))))
        match kind:
            case "clear":
                stubs = {i: f"[Previous: used x; recall {i}]" for i in sorted(some)}
                self.take(await self.journal.clear(stubs, bare=bare))
            case "pin":
                self.take(await self.journal.pin(sorted(some), on=draw(st.booleans())))
            case "bare":
                self.take(await self.journal.bare(bare))
            case "remark":
                await self.journal.remark("usage", {"input": 3})
            case "commit" if entries:
                self.take(await self.journal.commit(self.draft(draw(st.integers(0, len(entries))))))
            case "undo" if self.in_force:
                self.take(await self.journal.undo(self.in_force[-1], bare=bare))
            case "rewind":
                before = draw(st.sampled_from([None, *self.moments]))
                self.take(await self.journal.rewind(before, message="", files=False))
            case "turn the clock back":
                self.clock.turn_back(86_400)
            case "reopen":
                await self.reopen()

    def draft(self, keep: int) -> CommitDraft:
        entries = self.live.entries
        kept = tuple(e.id for e in entries[len(entries) - keep :])
        held = {r.id for r in self.live.results if r.entry in kept}
        return CommitDraft(
            Layer.AUTO,
            lambda path: user(f"[Conversation compressed. Transcript: {path}]"),
            (entries[0].id, entries[-1].id),
            kept,
            {i: line for i, line in self.live.stubs.items() if i in held},
            tuple(i for i in kept if i in self.live.bare),
            "a summary",
            {"commands": [["ls", 0]]},
        )


CHANGES = (
    "clear", "pin", "bare", "remark", "commit", "commit", "undo", "rewind", "turn the clock back", "reopen",
)  # fmt: skip


async def live_through(life: Life, story: Story, draw: Callable) -> None:
    await life.begin()
    for entry in story.items:
        assert isinstance(entry, Entry)
        await life.say(entry.message, entry)
        for kind in draw(st.lists(st.sampled_from(CHANGES), max_size=2)):
            await life.change(kind, draw)


def in_folder(body: Callable[[Path], Awaitable[None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(body(Path(folder) / ".transcripts"))


@SLOW
@given(stories(max_turns=4), st.data())
def test_a_reopened_record_replays_to_the_live_conversation(story, data):
    async def body(root: Path) -> None:
        life = Life(root)
        await live_through(life, story, data.draw)
        assert replay(await life.journal.history()) == life.live == replay(life.items)
        name, transcript = life.journal.session, life.journal.transcript
        next_result = life.journal.next_result
        await life.journal.close()
        journal = await Journal.open(root, name, clock=life.clock)
        assert replay(await journal.history()) == life.live
        assert journal.notices == ()
        assert (journal.transcript, journal.next_result) == (transcript, next_result)
        await journal.close()

    in_folder(body)


@SLOW
@given(stories(max_turns=3), st.data())
def test_seq_and_numbers_go_up_by_one_over_all_files_and_reopenings(story, data):
    async def body(root: Path) -> None:
        life = Life(root)
        await live_through(life, story, data.draw)
        seqs = [item.seq for item in life.items]
        assert seqs == sorted(set(seqs))
        entries = [item for item in life.items if isinstance(item, Entry)]
        assert [e.number for e in entries] == list(range(1, len(entries) + 1))
        firsts = [(e.first_result, len(e.message.tool_results)) for e in entries if e.first_result]
        expected = 1
        for first, count in firsts:
            assert first == expected
            expected += count
        assert life.journal.next_result == expected
        await life.journal.close()

    in_folder(body)


@SLOW
@given(stories(max_turns=3), st.data())
def test_every_message_and_result_is_found_again_whole_and_once(story, data):
    async def body(root: Path) -> None:
        life = Life(root)
        await live_through(life, story, data.draw)
        await life.reopen()
        entries = [item for item in life.items if isinstance(item, Entry)]
        shown = tuple(item for item in live_items(life.items) if isinstance(item, Entry))
        assert await life.journal.messages(range(1, len(entries) + 2)) == tuple(entries)
        assert await life.journal.page(None, len(entries) + 5) == shown
        before = data.draw(st.integers(1, len(entries) + 1))
        limit = data.draw(st.integers(1, 5))
        expected = tuple(e for e in shown if e.number < before)[-limit:]
        assert await life.journal.page(before, limit) == expected
        for entry in entries:
            for number in range(
                entry.first_result, entry.first_result + len(entry.message.tool_results)
            ):
                assert await life.journal.result_entry(number) == entry
        assert await life.journal.result_entry(life.journal.next_result) is None
        await life.journal.close()

    in_folder(body)


@SLOW
@given(stories(max_turns=3), st.data())
def test_the_history_before_a_compaction_replays_to_the_view_it_replaced(story, data):
    async def body(root: Path) -> None:
        life = Life(root)
        await live_through(life, story, data.draw)
        commits = [item for item in life.items if isinstance(item, Commit)]
        for commit in commits:
            at = life.items.index(commit)
            history = await life.journal.history(before=commit.number)
            assert replay(history) == replay(life.items[:at])
        await life.journal.close()

    in_folder(body)


@SLOW
@given(stories(max_turns=2), st.data())
def test_cut_anywhere_in_its_last_line_a_session_resumes_to_the_state_before_or_after(story, data):
    async def body(root: Path) -> None:
        life = Life(root)
        await live_through(life, story, data.draw)
        await life.say(user("one more"), Entry(0, 0, "", user("one more"), (0,)))
        written = len(life.items)
        await life.change(
            data.draw(st.sampled_from(("", "clear", "pin", "bare", "undo", "rewind"))), data.draw
        )
        last = life.items[-1]
        assert len(life.items) <= written + 1
        folder = life.journal.folder
        await life.journal.close()
        name = Path(life.journal.transcript).name if isinstance(last, Entry) else "events.jsonl"
        whole = (folder / name).read_bytes()
        start = whole.rstrip(b"\n").rfind(b"\n") + 1
        edges = {start, start + 1, len(whole) - 2, len(whole) - 1, len(whole)}
        cuts = data.draw(st.sets(st.integers(start, len(whole)), max_size=4)) | edges
        for cut in sorted(cuts):
            copy = root / f"cut-{cut}"
            shutil.copytree(folder, copy)
            (copy / name).write_bytes(whole[:cut])
            await check_cut(life, copy, complete=cut >= len(whole) - 1, torn=start < cut)

    in_folder(body)


async def check_cut(life: Life, folder: Path, *, complete: bool, torn: bool) -> None:
    """Resume, go on by one message, and read everything again."""
    journal = await Journal.open(folder.parent, folder.name, clock=life.clock)
    before = replay(await journal.history())
    assert before == replay(life.items if complete else life.items[:-1])
    assert bool(journal.notices) == (torn and not complete)
    entry = await journal.append(user("after the cut"), spoken=(0,))
    await journal.pin(["r1"])
    await journal.close()
    reader = SessionReader(folder)
    assert replay(reader.history()).entries == (*before.entries, entry)
    assert reader.notices == ()
