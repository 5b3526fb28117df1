"""The new view: what goes into the head and what stays verbatim, each within its room.

Where the room is short, in this order: latest request, unseen results, summary, facts, words, focus, files, tail.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.compaction import factsheet, focus, tail, words, working_files
from app.compaction.digest import digest
from app.compaction.facts import Ledger, ledger
from app.compaction.head import HeadParts
from app.compaction.situation import Situation
from app.compaction.tail import Unit
from app.compaction.thinking import thinks
from app.compaction.working_files import ReadLines, WorkingFile
from app.core.history import Commit
from app.core.ports import CommitDraft
from app.core.reports import Layer
from app.core.tokens import estimate_text

FACTS_SHARE = 0.06
FACTS_LEAST = 600.0
"""Raw tokens that the facts may take even where there is no room at all."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a new view is made from, apart from the summary."""

    situation: Situation
    layer: Layer
    focus: str
    known: Ledger
    keep_from: int
    """Position of the entries that stay in any case."""
    matches: tuple[Unit, ...]
    """Exchanges that match the focus, in front of those."""
    files: tuple[WorkingFile, ...]

    @property
    def latest_is_kept(self) -> bool:
        """Whether the latest request stands among the entries that stay in any case."""
        kept = self.situation.conversation.entries[self.keep_from :]
        return self.known.latest is None or any(e.number == self.known.latest.number for e in kept)


@dataclass(frozen=True, slots=True)
class NewView:
    """A view that could replace the present one."""

    draft: CommitDraft
    after: int
    """Tokens of the next request with it."""
    must: int
    """Tokens of the floor, the latest request, the unseen results and the facts in it."""
    messages: int
    """Entries that it replaces."""


async def prepare(situation: Situation, layer: Layer, wish: str, read: ReadLines) -> Prepared:
    """Gather facts, matching exchanges and working files.

    Args:
        situation: What is compacted.
        layer: Who compacts.
        wish: The focus; "" for none.
        read: Reads lines of a file from disk.
    """
    conversation, policy, threshold = situation.conversation, situation.policy, situation.threshold
    known = ledger(conversation, situation.todo)
    half = situation.raw(threshold / 2) - situation.meter.floor
    keep_from = tail.must_keep_from(conversation, room=half, refused=situation.refused)
    matches = focus.matching(
        conversation,
        wish,
        situation.raw(policy.manual.focus_share * threshold),
        before=keep_from,
    )
    room = situation.raw(min(policy.auto.files_share, policy.auto.target_share) * threshold)
    files = await working_files.load(
        working_files.chosen(known),
        read,
        together=max(0.0, room - situation.meter.floor),
        each=situation.raw(policy.auto.file_share * threshold),
    )
    return Prepared(situation, layer, wish, known, keep_from, matches, files)


def rebuild(prepared: Prepared, summary: str | None, *, lean: bool = False) -> NewView:
    """Return the new view around a summary.

    Args:
        prepared: What it is made from.
        summary: The model's summary, or None for a digest by code.
        lean: Only what must be: no words, files, matches or more tail.
    """
    situation, known = prepared.situation, prepared.known
    conversation, auto = situation.conversation, situation.policy.auto
    threshold = situation.threshold
    lines = tail.lines_by_call(conversation)
    kept_size = tail.size(conversation, _all_from(prepared), lines)
    latest = "" if prepared.latest_is_kept or known.latest is None else known.latest.text
    room = situation.raw(auto.target_share * threshold) - situation.meter.floor - kept_size
    room -= estimate_text(latest)
    text = summary or digest(
        conversation, known, end=prepared.keep_from, room=situation.raw(auto.summary_aim)
    )
    room -= estimate_text(text)
    facts_room = 0.0 if lean else min(situation.raw(FACTS_SHARE * threshold), room)
    facts = factsheet.render(known, max(FACTS_LEAST, facts_room))
    room = 0.0 if lean else room - estimate_text(facts)

    words_room = min(room, situation.raw(min(auto.words_tokens, auto.words_share * threshold)))
    spoken = _words(prepared, words_room, prepared.keep_from, latest)
    room -= estimate_text(spoken)
    matches = _fitting_matches(prepared, room)
    room -= sum(tail.size(conversation, unit, lines) for unit in matches)
    files = _fitting_files(prepared.files, room)
    room -= sum(file.tokens for file in files)
    start = tail.grown(
        conversation, prepared.keep_from, min(room, situation.raw(auto.tail_share * threshold))
    )
    spoken = _words(prepared, words_room, start, latest)
    tail_numbers = {entry.number for entry in conversation.entries[start:]}
    in_tail = known.latest is not None and known.latest.number in tail_numbers

    parts = HeadParts(
        summary=text,
        facts=facts,
        words=spoken,
        files="\n\n".join(file.text for file in files),
        latest="" if in_tail else latest,
        answered=bool(conversation.entries)
        and conversation.entries[-1].message.role == "assistant"
        and not conversation.open_calls,
    )
    kept = [at for unit in matches for at in range(unit.first, min(unit.end, start))]
    kept.extend(range(start, len(conversation.entries)))
    draft = _draft(prepared, parts, kept, summary)
    must = situation.meter.floor + estimate_text(latest) + kept_size + estimate_text(facts)
    return NewView(
        draft=draft,
        after=_after(situation, draft),
        must=round(must * situation.meter.factor),
        messages=len(conversation.entries) - len(kept),
    )


def _all_from(prepared: Prepared) -> Unit:
    return Unit(prepared.keep_from, len(prepared.situation.conversation.entries))


def _words(prepared: Prepared, room: float, start: int, latest: str) -> str:
    """Return the user's words without those that stand in the view in full."""
    known = prepared.known
    kept = {entry.number for entry in prepared.situation.conversation.entries[start:]}
    if latest and known.latest is not None:
        kept.add(known.latest.number)
    share = prepared.situation.policy.auto.words_oldest_share
    return words.render(
        known.words, room, oldest_share=share, skip=kept, dropped=known.words_dropped
    )


def _fitting_matches(prepared: Prepared, room: float) -> tuple[Unit, ...]:
    """Return the newest matching exchanges that fit, oldest first."""
    conversation = prepared.situation.conversation
    lines = tail.lines_by_call(conversation)
    chosen: list[Unit] = []
    for unit in reversed(prepared.matches):
        takes = tail.size(conversation, unit, lines)
        if takes <= room:
            room -= takes
            chosen.append(unit)
    return tuple(reversed(chosen))


def _fitting_files(files: tuple[WorkingFile, ...], room: float) -> tuple[WorkingFile, ...]:
    chosen: list[WorkingFile] = []
    for file in files:
        if file.tokens <= room:
            room -= file.tokens
            chosen.append(file)
    return tuple(chosen)


def _draft(
    prepared: Prepared,
    parts: HeadParts,
    kept: list[int],
    summary: str | None,
) -> CommitDraft:
    conversation = prepared.situation.conversation
    entries = [conversation.entries[at] for at in kept]
    ids = {entry.id for entry in entries}
    cleared = {
        ref.id: conversation.stubs[ref.id]
        for ref in conversation.results
        if ref.entry in ids and ref.id in conversation.stubs
    }
    gone = [entry for entry in conversation.entries if entry.id not in ids]
    known = prepared.known if summary is None else replace(prepared.known, summary=summary)
    return CommitDraft(
        layer=prepared.layer,
        head=parts.message,
        replaced=(gone[0].id, gone[-1].id) if gone else ("", ""),
        kept=tuple(entry.id for entry in entries),
        stubs=cleared,
        bare=tuple(entry.id for entry in entries if thinks(entry.message)),
        summary=summary or "",
        facts=known.to_json(),
    )


def _after(situation: Situation, draft: CommitDraft) -> int:
    """Return the tokens of the next request after the draft, in the measure of `Situation.before`."""
    commit = Commit(
        seq=0,
        number=1,
        time="",
        layer=draft.layer,
        head=draft.head(situation.transcript),
        replaced=draft.replaced,
        kept=draft.kept,
        stubs=draft.stubs,
        bare=draft.bare,
    )
    sizes = situation.conversation.compact(commit).sizes
    return situation.meter.used(sizes.total)
