"""What can be seen of a session: its figures as they stand, and all that was ever said. Nothing here changes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.agent.channel import Channel
from app.agent.dialogue import Dialogue
from app.agent.ledger import Run
from app.agent.parts import SessionParts
from app.agent.queue import TypedAhead
from app.agent.rewinding import (
    FilePlan,
    RewindPoint,
    file_plan,
    rewind_points,
)
from app.agent.upkeep import SessionUpkeep
from app.core import remarks
from app.core.budget import Budget, Usage
from app.core.conversation import Conversation, replay
from app.core.events import TodoItem
from app.core.history import Entry, Remark
from app.core.originals import Original, find_original
from app.core.policy import CompactionPolicy
from app.core.record_ids import read_id
from app.core.reports import CompactionReport
from app.core.rewinds import live
from app.core.savings import Savings
from app.errors import PalError

ASIDES = frozenset(
    {remarks.PARTIAL, remarks.ERROR, remarks.APPROVAL, remarks.DIFF, remarks.OWN_COMMAND}
)
"""Kinds of remarks that stand in the chat beside the messages."""


class SessionView:
    """The part of `Session` that only looks; the attributes are the session's."""

    _parts: SessionParts
    _channel: Channel
    _dialogue: Dialogue
    _queue: TypedAhead
    _upkeep: SessionUpkeep

    # As it stands

    @property
    def name(self) -> str:
        """The session's name on disk."""
        return self._parts.record.session

    @property
    def folder(self) -> Path:
        """The project folder."""
        return self._parts.surroundings.folder

    @property
    def transcript(self) -> str:
        """Path of the current transcript segment."""
        return self._parts.record.transcript

    @property
    def model(self) -> str:
        """The model that the next request goes to."""
        return self._upkeep.wanted_model or self._dialogue.frame.model

    @property
    def policy(self) -> CompactionPolicy:
        """The layers' numbers in force."""
        return self._dialogue.policy

    @property
    def budget(self) -> Budget:
        """What the next request would be billed as input."""
        return self._dialogue.budget()

    @property
    def conversation(self) -> Conversation:
        """The conversation as it stands; a value, never changed."""
        return self._dialogue.conversation

    @property
    def reports(self) -> tuple[CompactionReport, ...]:
        """All runs of the layers, also those before a resume, oldest first."""
        return tuple(self._dialogue.reports)

    @property
    def contexts(self) -> tuple[int, ...]:
        """Billed input tokens of each of the agent's requests, oldest first."""
        return tuple(self._dialogue.ledger.contexts)

    @property
    def todo(self) -> tuple[TodoItem, ...]:
        """The todo list."""
        return self._dialogue.todo

    @property
    def queue(self) -> tuple[str, ...]:
        """What the user typed ahead, oldest first."""
        return self._queue.texts

    @property
    def usage(self) -> Usage:
        """Tokens billed in this session, summary calls included."""
        return self._dialogue.ledger.account.usage

    @property
    def cost(self) -> float | None:
        """US dollars of this session, or None when a price is unknown."""
        return self._dialogue.ledger.account.cost

    @property
    def requests(self) -> int:
        """Requests of this session, summary calls included."""
        return self._dialogue.ledger.account.requests

    @property
    def savings(self) -> Savings:
        """What the requests cost against what they would have cost with everything in them."""
        return self._dialogue.ledger.account.savings(self._dialogue.frame.window)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs of the program that worked on this session, oldest first."""
        return tuple(self._dialogue.ledger.runs)

    @property
    def turn_starts(self) -> tuple[int, ...]:
        """For each time the user spoke, how many of the agent's requests were answered before."""
        return tuple(self._dialogue.ledger.turns)

    @property
    def notices(self) -> tuple[str, ...]:
        """What was found damaged in the record, one sentence each."""
        return self._parts.record.notices

    @property
    def has_tour(self) -> bool:
        """Whether the model that answers knows the tour."""
        return self._parts.is_tour("tour")

    @property
    def busy(self) -> bool:
        """Whether a turn or a compaction runs."""
        return self._channel.busy

    # The record

    async def recall(self, id_: str) -> str:
        """Return the original text of ``r<N>`` or ``m<N>``.

        Raises:
            PalError: There is no such result or message.
        """
        return (await self.original(id_)).text

    async def original(self, id_: str) -> Original:
        """Return what ``r<N>`` or ``m<N>`` stands for, with its title.

        Raises:
            PalError: There is no such result or message.
        """
        wanted = read_id(id_)
        original = await find_original(self._parts.record, *wanted) if wanted else None
        if original is None:
            raise PalError(f"There is no {id_} in this session.")
        return original

    async def title(self) -> str:
        """Return what the user named the session; "" when they did not."""
        named = await self._parts.record.remarks({remarks.RENAMED})
        return str(named[-1].data.get("name", "")) if named else ""

    async def export(self, path: Path, *, replace: bool = False) -> None:
        """Write all of the session to a file; see `core.ports.Record.export`."""
        await self._parts.record.export(path, replace=replace)

    async def page(self, before: int | None, limit: int) -> tuple[Entry, ...]:
        """Return up to ``limit`` messages of the record before message number ``before``, oldest first."""
        return await self._parts.record.page(before, limit)

    async def asides(self, page: Sequence[Entry]) -> tuple[Remark, ...]:
        """Return what the record keeps for the reader beside a page of its messages, oldest first.

        These are texts of answers that were cancelled or cut, what failed, questions with their answers, diffs, and
        the user's own commands. With the first page, or with none in a record without a message, comes what was
        before the first message too.
        """
        if not page and await self._parts.record.page(None, 1):
            return ()
        after = await self._parts.record.messages([page[-1].number + 1]) if page else ()
        until = after[0].seq if after else None
        since = page[0].seq if page and page[0].number > 1 else 0
        beside = await self._parts.record.remarks(ASIDES, since=since, until=until)
        counting = live(await self._parts.record.rewinds())
        return tuple(remark for remark in beside if remark.seq in counting)

    async def around(self, commit: int) -> tuple[Conversation, Conversation]:
        """Return the conversation right before and right after a compaction, also one that was taken back.

        Raises:
            PalError: There is no such compaction in the record.
        """
        made = await self._parts.record.compaction(commit)
        if made is None:
            raise PalError(f"Compaction {commit} is not in the record.")
        before = replay(await self._parts.record.history(before=commit))
        return before, before.compact(made)

    async def rewind_points(self) -> tuple[RewindPoint, ...]:
        """Return the moments to which one can go back, newest first."""
        return await rewind_points(self._parts.record, self._parts.checkpoints)

    async def rewind_files(self, point: RewindPoint) -> FilePlan:
        """Return what going back to a moment would do to the files."""
        return await file_plan(self._parts.record, self._parts.checkpoints, point)
