"""Layer 1: which old tool results become one line before a request, and whether that pays now.

Nothing is changed here; the plan says what the record should note. A plan takes time in proportion to the results
that still stand whole, so cleared ones cost nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.compaction import thinking
from app.compaction.payback import gain, requests_to_pay
from app.compaction.stubs import stub_line
from app.compaction.superseded import superseded
from app.core.conversation import Conversation
from app.core.policy import MicroPolicy, MicroRule
from app.core.tokens import ASTRAL_TOKENS, estimate_text
from app.core.view_parts import ResultRef


@dataclass(frozen=True, slots=True)
class CacheState:
    """What is known of the endpoint's prompt cache."""

    reads_seen: bool
    """Whether a usage of this session has shown cached tokens."""
    cold: bool
    """Whether what stood there is gone: idle past its life, or another model."""


@dataclass(frozen=True, slots=True)
class ClearingPlan:
    """What layer 1 does before the next request."""

    stubs: Mapping[str, str] = field(default_factory=dict)
    """Result id to its line; empty when nothing is cleared."""
    bare: tuple[str, ...] = ()
    """Messages whose thinking goes with it."""
    reason: str = ""
    """Why it clears or holds, for a person; "" when there is nothing to say."""
    held: bool = False
    """Whether results could be cleared but stay for now."""
    held_results: tuple[str, ...] = ()
    kind: str = ""
    """Sort of reason when held: "batch", "payback", "summary", "thinking". It stays while ``reason`` counts down."""
    frontier: str | None = None
    """The next result that the policy would clear: a cache breakpoint belongs in front of it."""


LINE_TOKENS = 30.0
"""Raw tokens that a line usually takes."""
LONG_LINE_TOKENS = 90.0
"""Raw tokens that lines hardly ever reach: of larger results the line is only made when it is used."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    ref: ResultRef
    saved: float
    """Raw tokens that its line saves, about."""


def plan_clearing(
    conversation: Conversation,
    policy: MicroPolicy,
    *,
    threshold: int,
    factor: float,
    cache: CacheState,
    excess: int | None = None,
    force: bool = False,
) -> ClearingPlan:
    """Return what to clear before the next request.

    Args:
        conversation: As it stands before the request.
        policy: Layer 1's numbers.
        threshold: Threshold of layer 2, in the model's tokens.
        factor: The model's tokens per raw token.
        cache: What is known of the prompt cache.
        excess: Tokens that must go to keep layer 2 away, which would run before this request; None when it is not due.
        force: The user asked for it: clear all that may be cleared, whatever it costs.
    """
    if policy.rule is MicroRule.OFF and not force:
        return ClearingPlan()
    room = _preserve_room(policy, threshold, factor)
    candidates, coming = _sort_out(conversation, policy, room)
    if not candidates:
        return ClearingPlan(frontier=coming)
    start, reason, kind = _choose(
        conversation, policy, candidates, factor, cache, excess=excess, force=force
    )
    if kind:
        return _held(candidates, reason, kind)
    chosen = candidates[start:]
    first = chosen[0].ref.entry
    if excess is None and not force and thinking.binds_open_round(conversation, first):
        return _held(candidates, "held: signed thinking", "thinking")
    stubs = _lines(chosen, policy)
    if not stubs:
        return ClearingPlan(frontier=coming)
    edited = next(one.ref.entry for one in chosen if one.ref.id in stubs)
    return ClearingPlan(
        stubs=stubs,
        bare=thinking.after(conversation, edited),
        reason=reason,
        frontier=candidates[0].ref.id if start else coming,
    )


def _held(candidates: Sequence[_Candidate], reason: str, kind: str) -> ClearingPlan:
    results = tuple(one.ref.id for one in candidates)
    return ClearingPlan(
        reason=reason, held=True, held_results=results, kind=kind, frontier=results[0]
    )


def _lines(chosen: Sequence[_Candidate], policy: MicroPolicy) -> dict[str, str]:
    """Return the lines that are smaller than what they stand for."""
    lines = [(one.ref, stub_line(one.ref, bare=policy.bare_stubs)) for one in chosen]
    return {ref.id: line for ref, line in lines if estimate_text(line) < ref.tokens}


def _preserve_room(policy: MicroPolicy, threshold: int, factor: float) -> float:
    """Return the raw tokens that results of the preserved tools may hold."""
    if policy.preserve_tokens is None:
        return math.inf
    return min(policy.preserve_tokens, policy.preserve_share * threshold) / factor


def _sort_out(
    conversation: Conversation, policy: MicroPolicy, room: float
) -> tuple[list[_Candidate], str | None]:
    """Return what may be cleared now, oldest first, and the result that comes next after those."""
    live, least, image = conversation.live, policy.min_chars, _image_tokens(policy.min_chars)
    long = [ref for ref in live if (ref.chars > least or ref.tokens > image) and not ref.is_error]
    if not long:
        return [], None
    recent = _recent(conversation, policy.keep_recent)
    reads = (ref for ref in live if ref.tool in policy.preserve_tools or ref.effects.modified)
    stale = superseded([ref for ref in reads if ref.effects.read or ref.effects.modified])
    pinned = conversation.pinned
    never = policy.preserve_tokens is None
    goes: list[_Candidate] = []
    next_plain = next_preserved = None
    for ref in reversed(long):
        preserved = ref.tool in policy.preserve_tools
        if (preserved and never) or (pinned and ref.id in pinned):
            continue
        waits = ref.number >= recent
        if preserved and (waits or ref.number not in stale):
            if ref.tokens <= room:
                room -= ref.tokens
                waits = True
            if waits:
                next_preserved = ref
                continue
        if waits:
            next_plain = ref
            continue
        saved = _saving(ref, policy)
        if saved > 0:
            goes.append(_Candidate(ref, saved))
    goes.reverse()
    coming = next_plain or next_preserved
    return goes, coming.id if coming else None


def _recent(conversation: Conversation, keep: int) -> int:
    """Return the number of the first result that is too new to clear: among the newest, or not seen yet."""
    results = conversation.results
    if not results:
        return 0
    first = results[-keep].number if 0 < keep <= len(results) else 0
    if keep == 0:
        first = results[-1].number + 1
    unseen = (
        entry.first_result
        for entry in conversation.entries[conversation.unseen_from :]
        if entry.first_result
    )
    return min(first, next(unseen, first))


def _image_tokens(min_chars: int) -> float:
    """Return more tokens than any text of so many characters has: beyond that a result holds an image."""
    return ASTRAL_TOKENS * (min_chars + 10)


def _saving(ref: ResultRef, policy: MicroPolicy) -> float:
    if ref.tokens > LONG_LINE_TOKENS:
        return ref.tokens - LINE_TOKENS
    return ref.tokens - estimate_text(stub_line(ref, bare=policy.bare_stubs))


def _choose(
    conversation: Conversation,
    policy: MicroPolicy,
    candidates: Sequence[_Candidate],
    factor: float,
    cache: CacheState,
    *,
    excess: int | None,
    force: bool,
) -> tuple[int, str, str]:
    """Return from which candidate on to clear, why, and the sort of reason when it is held instead."""
    count = _count(len(candidates))
    if force:
        return 0, f"asked for: {count}", ""
    literal = policy.rule is MicroRule.EVERY_TURN
    if literal or (policy.rule is MicroRule.AUTO and not cache.reads_seen):
        return 0, f"every turn: {count} beyond the newest {policy.keep_recent}", ""
    saved = sum(one.saved for one in candidates) * factor
    if saved < policy.batch_tokens:
        reason = (
            f"held: old results are {round(saved):,} tokens; clearing costs cache, so they go together from "
            f"{policy.batch_tokens:,} on; press c to clear now"
        )
        return 0, reason, "batch"
    if excess is not None and saved < excess:
        return 0, "held: layer 2 is due and frees more", "summary"
    if excess is not None:
        return 0, f"layer 2 is due: {count}", ""
    if cache.cold:
        return 0, f"the cache is cold: {count}", ""
    return _best_start(conversation, policy, candidates, factor)


def _best_start(
    conversation: Conversation,
    policy: MicroPolicy,
    candidates: Sequence[_Candidate],
    factor: float,
) -> tuple[int, str, str]:
    """Weigh each start: all behind the first cleared result is written again, so all behind it may go too."""
    kept = _kept_behind(conversation, candidates)
    prices = {"read": policy.read_price, "write": policy.write_price}
    cleared, best, best_gain, soonest = 0.0, -1, 0.0, math.inf
    for at in range(len(candidates) - 1, -1, -1):
        cleared += candidates[at].saved
        if cleared * factor < policy.batch_tokens:
            continue
        wait = requests_to_pay(cleared, kept[at], **prices)
        soonest = min(soonest, wait)
        earned = gain(cleared, kept[at], policy.horizon, **prices)
        if wait <= policy.horizon and (best < 0 or earned >= best_gain):
            best, best_gain = at, earned
    if best < 0:
        when = f"pays back after {math.ceil(soonest):,} requests" if soonest < 1e6 else "never pays"
        return 0, f"held: {when}; press c to clear now", "payback"
    going = candidates[best:]
    wait = requests_to_pay(sum(one.saved for one in going), kept[best], **prices)
    return best, f"pays back after {_requests(wait)}: {_count(len(going))}", ""


def _kept_behind(conversation: Conversation, candidates: Sequence[_Candidate]) -> list[float]:
    """Return for each candidate the raw tokens that stay behind it when it and all later ones are cleared."""
    entries, own = conversation.entries, conversation.own_tokens
    results, live = conversation.results, conversation.live
    going = {one.ref.number for one in candidates}
    kept = [0.0] * len(candidates)
    whole, at = 0.0, len(live) - 1
    for index in range(len(candidates) - 1, -1, -1):
        ref = candidates[index].ref
        while at >= 0 and live[at].number > ref.number:
            whole += LINE_TOKENS if live[at].number in going else live[at].tokens
            at -= 1
        place = bisect_left(entries, int(ref.entry[1:]), key=lambda entry: entry.number)
        behind = len(results) - bisect_left(results, ref.number, key=lambda one: one.number)
        cleared = behind - (len(live) - at)
        kept[index] = own[-1] - own[place] + whole + LINE_TOKENS * (1 + cleared)
    return kept


def _count(results: int) -> str:
    return "1 result" if results == 1 else f"{results} results"


def _requests(wait: float) -> str:
    whole = math.ceil(wait)
    return "1 request" if whole == 1 else f"{whole} requests"
