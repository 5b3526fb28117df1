"""All that an endpoint can do wrong: what it sends, at which points, and what the program must make of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from tests.wire import sse
from tests.wire.server import Reply, error_reply, json_reply

GHOST = '{"command": "ghost"'
"""Input of a call that must never run: it stands in answers that have no end."""
HALF = "half of an answer"
HTML = {"content-type": "text/html"}


class Point(StrEnum):
    """Where in a turn the fault comes."""

    FIRST = "instead of the first answer"
    AFTER_TOOL = "instead of the answer to a tool's result"
    TEXT = "in the middle of text"
    THINKING = "in the middle of thinking"
    CALL = "in the middle of a call's input"
    DELTA = "after message_delta"
    STOP = "after message_stop"
    SUMMARY = "instead of the summary"
    HALF_SUMMARY = "in the middle of the summary"


WHOLE = (Point.FIRST, Point.AFTER_TOOL, Point.SUMMARY)
"""For faults that are a whole reply."""
INSIDE = (Point.TEXT, Point.THINKING, Point.CALL, Point.HALF_SUMMARY)
"""For faults that break an answer off."""
ENDING = (Point.DELTA, Point.STOP)
"""For what may happen when all is said."""

_BEGUN = {
    Point.TEXT: sse.block_start(0, type="text", text="") + sse.delta(0, "text_delta", text=HALF),
    Point.THINKING: sse.block_start(0, type="thinking", thinking="")
    + sse.delta(0, "thinking_delta", thinking="hm"),
    Point.CALL: sse.text(0, HALF)
    + sse.block_start(1, type="tool_use", id="toolu_ghost", name="write", input={})
    + sse.delta(1, "input_json_delta", partial_json=GHOST),
    Point.HALF_SUMMARY: sse.block_start(0, type="text", text="")
    + sse.delta(0, "text_delta", text="## What was accomplished\n- half"),
    Point.DELTA: sse.call(0, "write", GHOST + "}", id_="toolu_ghost") + sse.stop("tool_use"),
}
_BEGUN[Point.STOP] = _BEGUN[Point.DELTA] + sse.end()


def begun(point: Point) -> bytes:
    """An answer up to a point; nothing for the points at which a whole reply goes wrong."""
    return sse.start() + _BEGUN[point] if point in _BEGUN else b""


class Then(StrEnum):
    """What the program must make of a fault."""

    AGAIN = "again"
    """Wait in sight of the user and try again; when the fault stays, say so and stop."""
    FAILS = "fails"
    """Say at once what happened and what to do."""
    MENDED = "mended"
    """Send a changed request at once, and tell the user."""
    COUNTS = "counts"
    """Take the answer as it is."""


@dataclass(frozen=True)
class Fault:
    """One kind of fault."""

    name: str
    reply: Callable[[Point], Reply]
    then: Then = Then.AGAIN
    at: tuple[Point, ...] = WHOLE
    says: str = ""
    """Words that the message to the user must hold: what happened."""
    todo: str = ""
    """Words that the hint must hold: what to do."""
    attempts: int = 6
    """Requests in all when the fault stays."""
    pause: float | None = 1.0
    """Seconds before the second attempt."""
    silence: float = 0.0
    """Seconds until one such reply is given up."""


def refused(
    name: str, status: int, kind: str, message: str, says: str, todo: str, then: Then = Then.FAILS
) -> Fault:
    """A refusal in the API's own form."""
    return Fault(name, lambda _: error_reply(status, kind, message), then, says=says, todo=todo)


def whole(name: str, reply: Reply, **expected: object) -> Fault:
    """A reply that is the same at every point."""
    return Fault(name, lambda _: reply, **expected)  # type: ignore[arg-type]


def broken(name: str, rest: bytes = b"", ending: str = "whole", **expected: object) -> Fault:
    """A stream that goes wrong in the middle."""
    wanted = {"at": INSIDE, "attempts": 3, "todo": "Send the message again", **expected}
    return Fault(name, lambda point: Reply([begun(point) + rest], ending=ending), **wanted)  # type: ignore[arg-type]


BUSY = "Try again in a while"
BASE = "ANTHROPIC_BASE_URL"

REFUSALS = (
    refused(
        "400 invalid", 400, "invalid_request_error", "messages.0: bad", "refused", "pal doctor"
    ),
    refused(
        "400 no credit",
        400,
        "invalid_request_error",
        "Your credit balance is too low",
        "no credit",
        "Add credit",
    ),
    refused(
        "400 spend limit",
        400,
        "invalid_request_error",
        "You have reached your specified API spend limit",
        "limit",
        "raise the limit",
    ),
    refused(
        "400 model",
        400,
        "invalid_request_error",
        "scripted is not a valid model ID",
        "does not know the model",
        "/model",
    ),
    refused(
        "400 answers too long",
        400,
        "invalid_request_error",
        "max_tokens: 8000 > 4096, which is the maximum for scripted",
        "answers of that length",
        "max_output_tokens",
    ),
    refused(
        "400 no tools",
        400,
        "invalid_request_error",
        "scripted does not support tools",
        "cannot use tools",
        "/model",
    ),
    refused("401", 401, "authentication_error", "invalid key", "does not accept the key", "check"),
    refused("402", 402, "billing_error", "pay first", "no credit", "Add credit"),
    refused("403", 403, "permission_error", "not yours", "forbids", "access to this model"),
    refused(
        "404 model", 404, "not_found_error", "model: scripted", "does not know the model", "/model"
    ),
    whole(
        "404 path",
        Reply([b"<html><title>404 Not Found</title></html>"], 404, HTML),
        then=Then.FAILS,
        says="no Messages API",
        todo=BASE,
    ),
    whole(
        "405",
        json_reply({"detail": "Method Not Allowed"}, 405),
        then=Then.FAILS,
        says="no Messages API",
        todo=BASE,
    ),
    whole(
        "422",
        json_reply({"detail": [{"loc": ["body", "messages"], "msg": "wrong"}]}, 422),
        then=Then.FAILS,
        says="body.messages: wrong",
        todo="pal doctor",
    ),
    whole(
        "429 that never clears",
        error_reply(429, "rate_limit_error", "tier limit", x_should_retry="false"),
        then=Then.FAILS,
        says="Too many requests",
        todo="limits",
    ),
    whole(
        "429 for a day",
        error_reply(429, "rate_limit_error", "slow down", retry_after="86400"),
        then=Then.FAILS,
        says="wait 24 h",
        todo="Try again then",
    ),
    whole(
        "redirect",
        Reply(status=307, headers={"location": "https://elsewhere.test/v1/messages"}),
        then=Then.FAILS,
        says="https://elsewhere.test",
        todo=BASE,
    ),
)

BUSY_REPLIES = (
    whole(
        "429",
        error_reply(429, "rate_limit_error", "slow down"),
        says="Too many requests",
        todo=BUSY,
    ),
    whole(
        "429 for seconds",
        error_reply(429, "rate_limit_error", "slow down", retry_after="7"),
        says="Too many requests",
        todo=BUSY,
        pause=7.0,
    ),
    whole("408", error_reply(408, "timeout_error", "late"), says="timed out", todo=BUSY),
    whole("409", error_reply(409, "conflict", "busy"), says="in the middle of a change", todo=BUSY),
    whole("500", error_reply(500, "api_error", "oops"), says="status 500", todo=BUSY),
    whole(
        "502 page",
        Reply([b"<html><title>502 Bad Gateway</title></html>"], 502, HTML),
        says="502 Bad Gateway",
        todo=BUSY,
    ),
    whole("503", Reply([b"down"], 503, HTML), says="status 503", todo=BUSY),
    whole("504", Reply([], 504, HTML), says="status 504", todo=BUSY),
    whole("529", error_reply(529, "overloaded_error", "Overloaded"), says="overloaded", todo=BUSY),
    whole(
        "an error object with 200",
        json_reply({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}),
        says="overloaded",
        todo=BUSY,
    ),
)

SILENCE = 120.0
CONNECTIONS = (
    whole(
        "reset before the first byte",
        Reply(status=0, ending="reset"),
        says="closed the connection",
        todo=BASE,
    ),
    whole(
        "closed before the first byte",
        Reply(status=0, ending="close"),
        says="closed the connection",
        todo=BASE,
    ),
    whole(
        "silent before the first byte",
        Reply(status=0),
        says="sent nothing for 120 s",
        todo="request_timeout",
        attempts=3,
        silence=SILENCE,
    ),
    whole(
        "silent after the headers",
        Reply(ending="stall"),
        says="fell silent for 120 s",
        todo="Send the message again",
        attempts=3,
        silence=SILENCE,
    ),
    whole("an empty body", Reply([]), says="empty", todo="Send the message again", attempts=3),
)

LANGUAGES = (
    whole(
        "a web page with 200",
        Reply([b"<!doctype html><title>Sign in</title>"], headers=HTML),
        then=Then.FAILS,
        says="web page (Sign in)",
        todo="login page",
    ),
    whole("plain text with 200", Reply([b"up\n"]), then=Then.FAILS, says="no answer", todo=BASE),
    whole(
        "OpenAI's format",
        json_reply({"id": "x", "choices": [{"message": {"content": "hi"}}]}),
        then=Then.FAILS,
        says="OpenAI's format",
        todo=BASE,
    ),
    whole(
        "OpenAI's stream",
        Reply([b'data: {"choices": [{"delta": {"content": "hi"}}]}\n\ndata: [DONE]\n\n']),
        then=Then.FAILS,
        says="OpenAI's format",
        todo=BASE,
    ),
)

BREAKS = (
    broken("a clean end without message_stop", says="ended without a stop reason"),
    broken("a close without a length", ending="close", says="ended without a stop reason"),
    broken("a cut body", ending="cut", says="broke the connection"),
    broken("a reset", ending="reset", says="broke the connection"),
    broken("a stall", ending="stall", says="fell silent for 120 s", silence=SILENCE),
    broken("nothing but pings", ending="ping", says="nothing but signs of life", silence=600.0),
    broken("broken JSON", b'event: content_block_delta\ndata: {"x\n\n', says="damaged"),
    broken("bytes that are no UTF-8", b"data: \xff\xfe\n\n", says="not UTF-8"),
    broken(
        "an overloaded event",
        sse.error("overloaded_error", "Overloaded"),
        says="overloaded",
        todo=BUSY,
        attempts=6,
    ),
    broken(
        "an api_error event", sse.error("api_error", "x"), says="status 500", todo=BUSY, attempts=6
    ),
    broken(
        "a rate limit event",
        sse.error("rate_limit_error", "x"),
        says="Too many requests",
        todo=BUSY,
        attempts=6,
    ),
    broken(
        "an error event for the key",
        sse.error("authentication_error", "disabled"),
        then=Then.FAILS,
        says="does not accept the key",
        todo="check",
    ),
)

LATE = (
    broken("a clean end", at=ENDING, then=Then.COUNTS),
    broken("a close", ending="close", at=ENDING, then=Then.COUNTS),
    broken("an open end", ending="open", at=(Point.STOP,), then=Then.COUNTS),
    broken("a late reset", ending="reset", at=(Point.STOP,), then=Then.COUNTS),
    broken("a late cut", ending="cut", at=(Point.STOP,), then=Then.COUNTS),
    broken("pings for ever", ending="ping", at=(Point.STOP,), then=Then.COUNTS),
    broken(
        "an error after the end",
        sse.error("api_error", "x"),
        at=(Point.STOP,),
        then=Then.COUNTS,
    ),
    broken("a reset", ending="reset", at=(Point.DELTA,), says="broke the connection"),
    broken("a cut body", ending="cut", at=(Point.DELTA,), says="broke the connection"),
    broken("a stall", ending="stall", at=(Point.DELTA,), says="fell silent", silence=SILENCE),
    broken(
        "an overloaded event",
        sse.error("overloaded_error", "x"),
        at=(Point.DELTA,),
        says="overloaded",
        todo=BUSY,
        attempts=6,
    ),
)

FAULTS = (*REFUSALS, *BUSY_REPLIES, *CONNECTIONS, *LANGUAGES, *BREAKS, *LATE)
CELLS = tuple((fault, point) for fault in FAULTS for point in fault.at)
