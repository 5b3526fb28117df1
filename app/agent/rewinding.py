"""Going back to before a turn: the conversation, the files that tools and commands changed since, or both."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.agent.channel import Tell
from app.agent.dialogue import Dialogue
from app.agent.layers import Layers
from app.core import remarks
from app.core.events import BudgetChanged, TodoChanged, TodoItem, WentBack
from app.core.file_states import FileChange, FileState, changes_of, folders_of, net_changes
from app.core.history import Entry, Rewound
from app.core.messages import user
from app.core.ports import Record
from app.errors import ToolError
from app.tools.checkpoints import Checkpoints
from app.tools.diff import unified

MOST_TURNS = 200
"""Turns that are offered, the newest."""
PAGE = 400
DIFFED_CHARS = 1_000_000
"""Texts up to this size are compared for the counts of lines."""
NAMED = 20
"""Files named to the model."""


@dataclass(frozen=True, slots=True)
class RewindPoint:
    """A moment to which one can go back: right before the user spoke, or before an earlier rewind."""

    before: int
    """``seq`` of what follows it."""
    message: str
    """Id of the user's message that follows; "" for a rewind."""
    words: str
    """What the user said then; for a rewind, what was said where it went back to."""
    time: str
    """UTC, ISO 8601."""
    files: tuple[str, ...] = ()
    """Files that were changed from there to the next moment."""
    added: int = 0
    """Lines added to them, as far as they are text."""
    removed: int = 0
    files_only: bool = False
    """Whether it is a rewind that left the conversation as it was."""

    @property
    def is_rewind(self) -> bool:
        """Whether going there takes a rewind back."""
        return not self.message


@dataclass(frozen=True, slots=True)
class FileMove:
    """What going back would do to one file."""

    path: str
    target: FileState
    exists: bool
    """Whether there is a file now."""
    added: int
    """Lines that it would gain."""
    removed: int
    changed_since: bool
    """Whether something else than tools and commands changed it since."""
    problem: str = ""
    """Why it cannot be brought back."""

    @property
    def verb(self) -> str:
        """What would be done: "create", "remove" or "restore"."""
        if not self.target.exists:
            return "remove"
        return "restore" if self.exists else "create"


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What going back would do to the files."""

    moves: tuple[FileMove, ...]
    unknown: int = 0
    """Changed files of which nothing was kept, because one command changed too many."""
    folders: tuple[str, ...] = ()
    """Folders that were made since and hold nothing but files that would be removed, deepest first."""


async def rewind_points(record: Record, checkpoints: Checkpoints) -> tuple[RewindPoint, ...]:
    """Return the moments to which one can go back, newest first."""
    spoken = await _spoken(record)
    marks = await record.rewinds()
    numbers = [int(mark.message[1:]) for mark in marks if mark.message[1:].isdecimal()]
    words = {entry.id: entry.words for entry in await record.messages(numbers)}
    files = changes_of(await record.remarks({remarks.FILES}))
    points = [RewindPoint(e.seq, e.id, e.words, e.time) for e in spoken]
    oldest = min((point.before for point in points), default=0)
    points += [_of_rewind(m, words) for m in marks if m.seq > oldest]
    points.sort(key=lambda point: point.before)
    return await asyncio.to_thread(_with_files, points, files, checkpoints)


async def file_plan(record: Record, checkpoints: Checkpoints, point: RewindPoint) -> FilePlan:
    """Return what going back to a moment would do to the files."""
    since = await record.remarks({remarks.FILES}, since=point.before - 1)
    unknown = sum(more for r in since if isinstance(more := r.data.get("more"), int))
    moves = await asyncio.to_thread(_moves, changes_of(since), checkpoints)
    removed = {move.path for move in moves if not move.target.exists and not move.problem}
    made = folders_of(since)
    return FilePlan(
        moves, unknown, await asyncio.to_thread(checkpoints.only_removed, made, removed)
    )


async def rewind(
    dialogue: Dialogue,
    layers: Layers,
    checkpoints: Checkpoints,
    point: RewindPoint,
    tell: Tell,
    *,
    conversation: bool,
    files: Sequence[FileMove],
    folders: Sequence[str] = (),
) -> None:
    """Go back.

    The record says so first, so that going back to before that takes all of it back, the files included.

    Args:
        dialogue: The conversation.
        layers: Its layers.
        checkpoints: Its files.
        point: Where to.
        tell: Takes the events.
        conversation: Whether the conversation goes back.
        files: The files that go back.
        folders: Folders that are removed where they are empty then, deepest first.
    """
    left = await file_plan(dialogue.record, checkpoints, point)
    before = point.before if conversation else None
    said = _said(dialogue)
    await dialogue.rewind(before, message=point.message, files=bool(files))
    restored, failed = await _restore(checkpoints, files)
    await checkpoints.remove_folders(folders)
    others = tuple(m.path for m in left.moves if m.path not in restored)
    note = _note(conversation=conversation, restored=restored, others=others)
    if note:
        await dialogue.append(user(note))
    if conversation:
        await _bring_back(dialogue, point.before, tell)
        layers.restarted()
    gone = {move.path for move in files if not move.target.exists}
    tell(
        WentBack(
            "" if point.is_rewind else point.words,
            _said(dialogue) != said,
            tuple(path for path in restored if path not in gone),
            tuple(path for path in restored if path in gone),
            tuple(m.path for m in left.moves if files and m.changed_since and m not in files),
            failed,
        )
    )
    tell(BudgetChanged(dialogue.budget()))


def _said(dialogue: Dialogue) -> tuple[int, tuple[str, ...]]:
    """Return which conversation it is, without notes of the program: its compaction, and what was said after it."""
    talk = dialogue.conversation
    said = (e.id for e in talk.entries if e.spoken or e.message.role == "assistant")
    return talk.base, tuple(said)


async def _spoken(record: Record) -> list[Entry]:
    """Return the newest messages in which the user spoke, oldest first."""
    found: list[Entry] = []
    before: int | None = None
    while len(found) < MOST_TURNS:
        page = await record.page(before, PAGE)
        # Words that came with results cannot be parted from them: their calls would be unanswered.
        found[:0] = [e for e in page if e.words.strip() and not e.message.tool_results]
        if not page:
            break
        before = page[0].number
    return found[-MOST_TURNS:]


def _of_rewind(mark: Rewound, words: dict[str, str]) -> RewindPoint:
    said = words.get(mark.message, "")
    return RewindPoint(mark.seq, "", said, mark.time, files_only=mark.before == mark.seq)


def _with_files(
    points: Sequence[RewindPoint], files: Iterable[FileChange], checkpoints: Checkpoints
) -> tuple[RewindPoint, ...]:
    """Return the points with what was changed from each to the next, newest first."""
    by_point: list[list[FileChange]] = [[] for _ in points]
    at = -1
    for change in files:
        while at + 1 < len(points) and points[at + 1].before <= change.seq:
            at += 1
        if at >= 0:
            by_point[at].append(change)
    found: list[RewindPoint] = []
    for point, changes in zip(points, by_point, strict=True):
        net = [n for n in net_changes(changes) if n.last is None or not _same(n.first, n.last)]
        counts = [_counts(checkpoints, n.first, n.last) for n in net if n.last is not None]
        found.append(
            dataclasses.replace(
                point,
                files=tuple(n.path for n in net),
                added=sum(added for added, _ in counts),
                removed=sum(removed for _, removed in counts),
            )
        )
    return tuple(reversed(found))


def _moves(changes: Iterable[FileChange], checkpoints: Checkpoints) -> tuple[FileMove, ...]:
    found: list[FileMove] = []
    for net in net_changes(changes):
        now = checkpoints.look(net.path)
        if _same(now, net.first):
            continue
        added, removed = _counts(checkpoints, now, net.first)
        problem = net.first.why
        if now.exists and now.content.startswith("special"):
            problem = problem or "what is there now is no regular file"
        found.append(
            FileMove(
                net.path,
                net.first,
                now.exists,
                added,
                removed,
                changed_since=net.last is None or not _same(now, net.last),
                problem=problem,
            )
        )
    return tuple(sorted(found, key=lambda move: move.path))


async def _restore(
    checkpoints: Checkpoints, files: Sequence[FileMove]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    restored: list[str] = []
    failed: list[str] = []
    for move in files:
        try:
            await checkpoints.restore(move.path, move.target)
        except ToolError as error:
            failed.append(str(error))
        else:
            restored.append(move.path)
    return tuple(restored), tuple(failed)


async def _bring_back(dialogue: Dialogue, before: int, tell: Tell) -> None:
    """Put the task list and the wait of layer 2 in force again as they were then."""
    kept = await dialogue.record.remarks({remarks.TODO, remarks.MUTED}, until=before)
    items: list[dict[str, str]] = next(
        (remark.data["items"] for remark in reversed(kept) if remark.kind == remarks.TODO), []
    )
    todo = tuple(TodoItem(item["text"], item["state"]) for item in items)
    if todo != dialogue.todo:
        await dialogue.record.remark(remarks.TODO, {"items": items})
        dialogue.todo = todo
        tell(TodoChanged(todo))
    muted = [remark for remark in kept if remark.kind == remarks.MUTED]
    until = dialogue.wait_of(muted[-1].data) if muted else 0
    if until != dialogue.muted_until:
        await dialogue.mute(until)


def _same(one: FileState, other: FileState) -> bool:
    return (one.content, one.mode) == (other.content, other.mode)


def _counts(checkpoints: Checkpoints, one: FileState, other: FileState) -> tuple[int, int]:
    """Lines added and removed from one state to another; nothing where that cannot be told."""
    before, after = checkpoints.text(one), checkpoints.text(other)
    if before is None or after is None or len(before) + len(after) > DIFFED_CHARS:
        return 0, 0
    diff = unified(before, after, "")
    return diff.added, diff.removed


def _note(*, conversation: bool, restored: Sequence[str], others: Sequence[str]) -> str:
    """Return what the model must know, because its view does not show it; "" when there is nothing."""
    if not conversation:
        if not restored:
            return ""
        return (
            f"[The user took files back to what they were earlier in this conversation: {_named(restored)}. "
            "Read them again before you rely on what was said of them.]"
        )
    if not others:
        return ""
    return (
        "[The user took the conversation back to this point. Files that were changed after it and are not as they "
        f"were here: {_named(others)}. Read them before you rely on what was said of them.]"
    )


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return ", ".join(paths[:NAMED]) + more
