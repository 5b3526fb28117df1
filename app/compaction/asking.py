"""The ladder: how a summary is asked for, and asked for again when that fails.

Each rung is one request: the history as it was last sent, so that it is read from the cache; the same with a
reminder; a copy with old results as lines; the newer half of that copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace

from app.compaction import summary, words
from app.compaction.breakpoints import end_of
from app.compaction.situation import Situation
from app.compaction.stubs import stub_line
from app.compaction.tail import units, unseen_from
from app.core.arriving import Arriving, Charge
from app.core.budget import ESTIMATE_MARGIN, Meter
from app.core.conversation import Conversation, View
from app.core.history import Cleared
from app.core.messages import (
    Block,
    Image,
    Message,
    Text,
    ToolResult,
    user,
    without_thinking,
)
from app.core.ports import Model
from app.core.requests import (
    Answer,
    CachePoint,
    ModelEvent,
    ModelRequest,
    Purpose,
    RetryWait,
    StopReason,
)
from app.core.tokens import estimate_message, estimate_text
from app.errors import ContextOverflow, ModelError, SignatureRejected, StreamBroken

LEAST_OUTPUT, MOST_OUTPUT = 8_000, 16_000
"""Bounds of a summary call's max_tokens; thinking counts."""
LEAST_ANSWER = 500.0
"""Raw tokens that the summary call carries of the last answer at least."""
SMALL_SHARE = 0.1
"""The aim never passes this share of the threshold, and a summary of so much is always accepted."""
TOO_LARGE = 413
LEFT_OUT = "[Earlier messages are left out here.]"
IMAGE_LEFT_OUT = Text("[image left out]")
METHODS = ("summary", "retry", "stubs", "half")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the ladder brought."""

    text: str = ""
    """The accepted summary; "" when no rung brought one."""
    method: str = ""
    charges: tuple[Charge, ...] = ()
    """What all attempts cost, also those that broke off."""
    problem: str = ""
    """Why the last rung failed."""
    window: int | None = None
    """The window that an overflow error told."""
    error: ModelError | None = None
    """Why the endpoint cannot be used at all (a wrong key, no connection); nothing else would help then."""


async def ask(
    situation: Situation,
    *,
    focus: str,
    model: Model,
    fits: Callable[[str], str],
    tell: Callable[[ModelEvent], None],
) -> Asked:
    """Climb the ladder until a summary is accepted.

    Args:
        situation: What is summarised.
        focus: What comes next; "" for nothing special.
        model: Who writes the summary.
        fits: Says why a summary's text makes no good view; "" when it does.
        tell: Is told what streams.
    """
    asked = Asked()
    for method in METHODS:
        if method == "retry" and not asked.problem:
            continue
        request = _request(situation, method, focus, asked.problem)
        if request is None:
            continue
        charges: list[Charge] = []
        try:
            answer = await _answer(model, request, tell, situation.meter, charges)
        except ModelError as error:
            asked = _after_error(_paid(asked, charges), error)
            if asked.error is not None:
                return asked
            continue
        asked = _paid(asked, charges)
        if answer.stop is StopReason.WINDOW_EXCEEDED:
            asked = replace(asked, problem="")
            continue
        cap, factor = situation.policy.auto.summary_cap, situation.meter.factor
        verdict = summary.judge(answer, cap=cap, factor=factor)
        problem = verdict.problem or fits(verdict.text)
        if not problem:
            return replace(asked, text=verdict.text, method=method, problem="")
        asked = replace(asked, problem=problem)
    return replace(asked, problem=asked.problem or "the history is too long for a summary call")


def summary_tokens(situation: Situation) -> int:
    """Return the max_tokens of a summary call."""
    wanted = max(LEAST_OUTPUT, min(MOST_OUTPUT, situation.policy.auto.summary_max_output))
    return min(wanted, situation.max_output) if situation.max_output else wanted


def _after_error(asked: Asked, error: ModelError) -> Asked:
    """Return the state after a rung's error; a problem of "" leaves the reminder out, as it would not help."""
    match error:
        case ContextOverflow():
            return replace(asked, problem="", window=error.window or asked.window)
        case SignatureRejected():
            return replace(asked, problem="")
        case StreamBroken():
            return replace(asked, problem="it broke off half way")
        case _ if error.status == TOO_LARGE:
            return replace(asked, problem="")
        case _:
            return replace(asked, problem=str(error), error=error)


def _paid(asked: Asked, charges: Iterable[Charge]) -> Asked:
    return replace(asked, charges=(*asked.charges, *charges))


async def _answer(
    model: Model,
    request: ModelRequest,
    tell: Callable[[ModelEvent], None],
    meter: Meter,
    charges: list[Charge],
) -> Answer:
    """Return the answer; what each attempt cost is added to ``charges``, also where it broke off."""
    arriving = Arriving(sum(map(estimate_message, request.messages)))
    answer: Answer | None = None
    try:
        async with aclosing(model.stream(request)) as stream:
            async for event in stream:
                tell(event)
                arriving.take(event)
                if isinstance(event, Answer):
                    answer = event
                elif isinstance(event, RetryWait) and (cut := arriving.cut(meter)):
                    charges.append(cut)
        if answer is None:
            raise StreamBroken("the answer has no end")
    except ModelError:
        if cut := arriving.cut(meter):
            charges.append(cut)
        raise
    charges.append(arriving.whole(answer, meter))
    return answer


def _request(situation: Situation, method: str, focus: str, problem: str) -> ModelRequest | None:
    """Return the request of a rung, None when it would carry no history."""
    conversation = _seen(situation.conversation)
    if method in ("stubs", "half"):
        conversation = _with_lines(conversation)
    if method == "half":
        conversation = _newer_half(conversation)
    view = conversation.view()
    if not view.messages:
        return None
    if method in ("stubs", "half"):
        view = replace(view, messages=tuple(_plain(view.messages)))
    else:
        view = replace(view, messages=_with_short_end(situation, view.messages))
    auto = situation.policy.auto
    aim = min(auto.summary_aim, max(400, round(SMALL_SHARE * situation.threshold)))
    question = summary.prompt(
        aim=aim,
        cap=auto.summary_cap,
        focus=focus,
        instructions=auto.summary_instructions,
        problem=problem,
    )
    return replace(
        situation.request,
        messages=_with_prompt(view.messages, question),
        max_tokens=summary_tokens(situation),
        cache_points=_cache_point(view),
        purpose=Purpose.SUMMARY,
        no_tools=method != "summary",
    )


def _seen(conversation: Conversation) -> Conversation:
    """Return the conversation as far as the model has seen it."""
    return replace(conversation, entries=conversation.entries[: unseen_from(conversation)])


def _with_short_end(situation: Situation, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return them with the last answer cut in the middle where it alone takes the call over the threshold.

    It is not in the cache yet; what stands in front of it is, and stays whole.
    """
    last = messages[-1]
    size = estimate_message(last)
    room = situation.raw(situation.threshold) - situation.meter.floor
    room -= sum(map(estimate_message, messages[:-1]))
    room = max(LEAST_ANSWER, room / (1 + ESTIMATE_MARGIN))
    if last.role == "user" or size <= room:
        return messages
    blocks = tuple(
        Text(words.shortened(block.text, estimate_text(block.text) * room / size))
        if isinstance(block, Text)
        else block
        for block in without_thinking(last).content
    )
    return (*messages[:-1], Message("assistant", blocks))


def _with_lines(conversation: Conversation) -> Conversation:
    """Return it with every result as its line and without thinking."""
    lines = {ref.id: (ref, stub_line(ref)) for ref in conversation.live}
    shorter = {i: line for i, (ref, line) in lines.items() if estimate_text(line) < ref.tokens}
    cleared = conversation.clear(Cleared(0, shorter))
    return replace(cleared, bare=frozenset(entry.id for entry in conversation.entries))


def _newer_half(conversation: Conversation) -> Conversation:
    """Return it without the older half of its units, and with a head that says so."""
    parts = units(conversation.entries)
    sizes = [
        sum(estimate_message(e.message) for e in conversation.entries[unit.first : unit.end])
        for unit in parts
    ]
    left, start = sum(sizes) / 2, len(conversation.entries)
    for unit, size in zip(reversed(parts), reversed(sizes), strict=True):
        if left - size < 0 and start < len(conversation.entries):
            break
        left -= size
        start = unit.first
    head = conversation.head or Message("user", ())
    return replace(
        conversation,
        head=Message("user", (*head.content, Text(LEFT_OUT))),
        entries=conversation.entries[start:],
    )


def _plain(messages: Iterable[Message]) -> Iterable[Message]:
    """Yield the messages without pictures and empty texts, which alone can make a server refuse."""
    for message in messages:
        blocks = tuple(
            _plain_block(block)
            for block in message.content
            if not (isinstance(block, Text) and not block.text.strip())
        )
        yield Message(message.role, blocks or (Text("(empty)"),))


def _plain_block(block: Block) -> Block:
    if isinstance(block, Image):
        return IMAGE_LEFT_OUT
    if isinstance(block, ToolResult) and not isinstance(block.content, str):
        parts = tuple(IMAGE_LEFT_OUT if isinstance(p, Image) else p for p in block.content)
        return replace(block, content=parts)
    return block


def _with_prompt(messages: tuple[Message, ...], question: str) -> tuple[Message, ...]:
    last = messages[-1]
    if last.role == "assistant":
        return (*messages, user(question))
    return (*messages[:-1], Message("user", (*last.content, Text(question))))


def _cache_point(view: View) -> tuple[CachePoint, ...]:
    """Where the last request ended and left an entry; an answer after it would be written for nobody to read."""
    asked = view.messages[: -1 if view.messages[-1].role == "assistant" else None]
    end = end_of(replace(view, messages=asked))
    return (CachePoint(*end),) if end is not None else ()
