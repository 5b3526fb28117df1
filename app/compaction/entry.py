"""Layer 0: a tool result that is too large is shortened before it enters the conversation.

The caller stores the full text; here only what enters is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass

from app.core.policy import EntryPolicy
from app.core.tokens import chars_that_fit, estimate_text

HEAD_SHARE = 0.75
SMALL_TOKENS = 200.0
"""Raw tokens up to which a result keeps its full text when a whole step is shortened."""


@dataclass(frozen=True, slots=True)
class ResultDraft:
    """A tool result on its way in."""

    number: int
    """The N of its id ``r<N>``."""
    tool: str
    text: str
    full: Callable[[], Iterator[str]] | None = None
    """Gives the whole text, when ``text`` is only a part of it."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """What enters of a result."""

    text: str
    stored: bool
    """Whether the full text must be stored because less than it enters."""
    before: float
    """Raw tokens of the full text."""
    after: float
    """Raw tokens of what enters."""


def shorten_results(
    drafts: Sequence[ResultDraft], policy: EntryPolicy, *, threshold: int, factor: float
) -> tuple[Shortened, ...]:
    """Return what enters of the results of one step, in their order.

    Args:
        drafts: All results of the step.
        policy: Layer 0's numbers.
        threshold: Threshold of layer 2, in the model's tokens.
        factor: The model's tokens per raw token.
    """
    sizes = [estimate_text(draft.text) for draft in drafts]
    if not policy.enabled:
        whole = zip(drafts, sizes, strict=True)
        return tuple(
            Shortened(draft.text, draft.full is not None, size, size) for draft, size in whole
        )
    cap = min(policy.max_tokens, policy.max_share * threshold) / factor
    shown = min(policy.shown_tokens / factor, cap)
    first = [
        _whole(draft, size)
        if size <= cap or draft.tool in policy.paged_tools
        else _cut(draft, size, shown)
        for draft, size in zip(drafts, sizes, strict=True)
    ]
    limit = policy.step_share * threshold / factor
    return _fit_step(drafts, first, limit, policy.paged_tools)


def _fit_step(
    drafts: Sequence[ResultDraft],
    entering: Sequence[Shortened],
    limit: float,
    paged_tools: Set[str],
) -> tuple[Shortened, ...]:
    """Shorten in proportion what all together is over ``limit`` raw tokens; small results stay whole."""
    if sum(one.after for one in entering) <= limit:
        return tuple(entering)
    small = sum(one.after for one in entering if one.after <= SMALL_TOKENS)
    large = sum(one.after for one in entering if one.after > SMALL_TOKENS)
    share = max(0.0, limit - small) / large if large else 1.0
    return tuple(
        one
        if one.after <= SMALL_TOKENS or share >= 1.0
        else _cut(
            draft,
            one.before,
            max(SMALL_TOKENS / 2, one.after * share),
            paged=draft.tool in paged_tools,
        )
        for draft, one in zip(drafts, entering, strict=True)
    )


def _whole(draft: ResultDraft, size: float) -> Shortened:
    return Shortened(draft.text, draft.full is not None, size, size)


def _cut(draft: ResultDraft, size: float, room: float, *, paged: bool = False) -> Shortened:
    """Cut to about ``room`` raw tokens; the result stays whole when that would not make it smaller."""
    text = draft.text
    head_end = _head_end(text, room if paged else HEAD_SHARE * room)
    tail_start = len(text) if paged else max(head_end, _tail_start(text, (1 - HEAD_SHARE) * room))
    left_out = text[head_end:tail_start]
    count = left_out.count("\n") + (1 if left_out and not left_out.endswith("\n") else 0)
    unit = "line" if count == 1 else "lines"
    what = f"{count:,} {unit}" if "\n" in left_out.strip("\n") else f"{len(left_out):,} characters"
    note = f"[truncated: {what}, full text in r{draft.number}]"
    head, tail = text[:head_end].rstrip("\n"), text[tail_start:].lstrip("\n")
    shorter = "\n".join(part for part in (head, note, tail) if part)
    after = estimate_text(shorter)
    if after >= size:
        return _whole(draft, size)
    return Shortened(shorter, True, size, after)


def _head_end(text: str, room: float) -> int:
    """Return where the first lines that fit into ``room`` end; inside the first line if that is too long."""
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end + 1
        room -= estimate_text(text[at:end])
        if room < 0:
            break
        at = end
    return at or chars_that_fit(text, room + estimate_text(text[: text.find("\n") + 1] or text))


def _tail_start(text: str, room: float) -> int:
    """Return where the last lines that fit into ``room`` begin; inside the last line if that is too long."""
    at = len(text)
    first = room
    while at > 0:
        start = text.rfind("\n", 0, at - 1) + 1
        room -= estimate_text(text[start:at])
        if room < 0:
            break
        at = start
    return at if at < len(text) else len(text) - chars_that_fit(text[::-1], first)
