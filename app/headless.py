"""One turn without a screen: events as text, as one JSON object, or as JSON lines."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import aclosing
from dataclasses import asdict
from enum import StrEnum
from typing import Any, TextIO

from app.agent.session import Session
from app.core.events import (
    AnswerFinished,
    ApprovalAsked,
    ApprovalGiven,
    BudgetChanged,
    Compacted,
    ErrorRaised,
    Event,
    Missed,
    Notice,
    RetryWaiting,
    TextArrived,
    ThinkingArrived,
    ToolFinished,
    ToolStarted,
    TurnEnd,
    TurnEnded,
    TurnStarted,
)
from app.core.permission import Answered, ApprovalAnswer, ApprovalRequest
from app.core.reports import DIGEST
from app.core.visible_text import VisibleStream, json_line, visible_text

FORMAT_VERSION = 1
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXIT_CODES = {TurnEnd.DONE: 0, TurnEnd.WAITING: 0, TurnEnd.CANCELLED: 130}
"""Any other end of a turn exits with 1."""


class Output(StrEnum):
    """What is printed on standard output."""

    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


class Refuser:
    """Answers every question with no, and says what would have allowed it."""

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Refuse."""
        words = f"There is no one to ask. {request.reason.rstrip('.')}. {_covered_by(request)}"
        return ApprovalAnswer(Answered.NO, words=words, by_user=False)


def _covered_by(request: ApprovalRequest) -> str:
    """Return what would have let a call run without a question."""
    if request.proposal is None:
        return "It is asked each time: run it on the screen, with pal."
    mode = " or --auto (in a working sandbox)" if request.editable else " or --accept-edits"
    return f'It would run with --allow "{request.proposal}"{mode}.'


async def run_headless(
    session: Session, text: str, output: Output, *, out: TextIO, err: TextIO
) -> int:
    """Run one turn and print it; return the exit code. SIGINT, SIGTERM and SIGHUP cancel the turn."""
    printer = Printer(session, output, out, err)
    for notice in session.notices:
        printer.warn(notice)
    loop = asyncio.get_running_loop()
    for number in ENDING:
        loop.add_signal_handler(number, session.cancel)
    try:
        async with aclosing(session.submit(text)) as events:
            async for event in events:
                printer.show(event)
    finally:
        for number in ENDING:
            loop.remove_signal_handler(number)
    if printer.refused is not None and EXIT_CODES.get(printer.end) == 0:
        printer.tell_refusal(printer.refused)
        return 1
    return EXIT_CODES.get(printer.end, 1)


class Printer:
    """Prints events in one of the formats."""

    def __init__(self, session: Session, output: Output, out: TextIO, err: TextIO) -> None:
        self.end = TurnEnd.FAILED
        self.refused: ApprovalRequest | None = None
        """The newest call that was refused because nobody could be asked; None once a later call succeeded."""
        self._session = session
        self._output = output
        self._out = out
        self._err = err
        self._at_line_start = True
        self._stream = out.isatty()
        """Whether text is shown as it comes; else each answer is printed when it is whole, and never twice."""
        self._held = ""
        self._text = VisibleStream()

    def warn(self, text: str) -> None:
        """Print what was found wrong before the turn."""
        if self._output is Output.STREAM_JSON:
            self.show(Notice(text, warning=True))
        else:
            self._say(text)

    def show(self, event: Event) -> None:
        """Print one event."""
        if isinstance(event, TurnEnded):
            self.end = event.end
        elif isinstance(event, ApprovalGiven) and not event.answer.by_user:
            self.refused = event.request
        elif isinstance(event, ToolFinished) and event.ok:
            self.refused = None
        if self._output is Output.TEXT:
            self._show_text(event)
        elif self._output is Output.STREAM_JSON or isinstance(event, TurnEnded):
            for record in as_records(event, self._session.name):
                print(json_line(record), file=self._out, flush=True)
        if self._output is not Output.STREAM_JSON and isinstance(event, Compacted):
            self._say(*event.report.lines)
            if event.report.method == DIGEST:
                self._say(f"[compacted without a summary] {event.report.reason}")

    def tell_refusal(self, request: ApprovalRequest) -> None:
        """Say on standard error that the turn ended on a call that nobody could allow."""
        self._say(f"{request.title} was refused, as there is no one to ask. {_covered_by(request)}")

    def _show_text(self, event: Event) -> None:
        match event:
            case TextArrived(text) if self._stream:
                self._write(text)
            case TextArrived(text):
                self._held += text
            case AnswerFinished():
                self._release()
                self._end_text()
                self._end_line()  # a question to the user may come next
            case ToolStarted(_, tool, target, _):
                self._say(f"● {tool} {target}")
            case ToolFinished(ok=False, tool=tool, text=text):
                self._say(f"✗ {tool}: {text.splitlines()[0] if text else 'failed'}")
            case Notice(text) | ErrorRaised(text, ""):
                self._say(text)
            case ErrorRaised(text, hint):
                self._say(text, hint)
            case RetryWaiting(attempt, attempts, seconds, reason):
                self._held = ""
                reason = reason.rstrip(".")
                self._say(f"{reason}: attempt {attempt} of {attempts}, again in {seconds:.0f} s")
            case TurnEnded():
                self._release()
                self._end_text()
                self._end_line()
            case _:
                pass

    def _write(self, text: str) -> None:
        self._print(self._text.feed(text))

    def _end_text(self) -> None:
        self._print(self._text.close())

    def _print(self, shown: str) -> None:
        print(shown, end="", file=self._out, flush=True)
        self._at_line_start = shown.endswith("\n") if shown else self._at_line_start

    def _release(self) -> None:
        if self._held:
            self._write(self._held)
        self._held = ""

    def _say(self, *lines: str) -> None:
        self._end_line()
        for line in lines:
            print(visible_text(line), file=self._err, flush=True)

    def _end_line(self) -> None:
        if not self._at_line_start:
            print(file=self._out, flush=True)
            self._at_line_start = True


def as_records(event: Event, session: str) -> tuple[dict[str, Any], ...]:
    """Return the JSON objects of an event; () for events that only a screen needs."""
    record = _record(event, session)
    return ({**record, "v": FORMAT_VERSION},) if record else ()


def _record(event: Event, session: str) -> dict[str, Any] | None:
    match event:
        case TurnStarted(text, message):
            return {"type": "turn_started", "session": session, "text": text, "message": message}
        case TextArrived(text):
            return {"type": "text", "text": text}
        case ThinkingArrived(text):
            return {"type": "thinking", "text": text}
        case ToolStarted(call_id, tool, target, arguments):
            return {
                "type": "tool_started",
                "id": call_id,
                "tool": tool,
                "target": target,
                "input": dict(arguments),
            }
        case ToolFinished():
            return {
                "type": "tool_finished",
                "id": event.call_id,
                "tool": event.tool,
                "ok": event.ok,
                "outcome": event.outcome,
                "result": event.result,
                "text": event.text,
                "seconds": round(event.seconds, 3),
            }
        case ApprovalAsked(request):
            return {"type": "approval", "state": "asked", **_approval(request)}
        case ApprovalGiven(request, answer):
            answered = {"answer": answer.answered.value, "words": answer.words}
            return {"type": "approval", "state": "answered", **_approval(request), **answered}
        case BudgetChanged(budget):
            return {
                "type": "budget",
                "used": budget.used,
                "measured": budget.measured,
                "threshold": budget.threshold,
                "window": budget.window,
                "parts": asdict(budget.parts),
            }
        case Compacted(report):
            return {
                "type": "compacted",
                "layer": report.layer.value,
                "reason": report.reason,
                "outcome": report.outcome.value,
                "before": report.before,
                "after": report.after,
                "transcript": report.transcript,
                "headline": report.headline,
            }
        case RetryWaiting():
            return {"type": "retry", **asdict(event)}
        case Notice(text, warning):
            return {"type": "notice", "text": text, "warning": warning}
        case Missed(result, how):
            return {
                "type": "notice",
                "text": f"{result} was needed again ({how})",
                "warning": False,
            }
        case ErrorRaised(message, hint):
            return {"type": "error", "message": message, "hint": hint}
        case TurnEnded():
            return {
                "type": "turn_ended",
                "session": session,
                "end": event.end.value,
                "stop": event.stop,
                "text": event.text,
                "usage": asdict(event.usage),
                "cost": event.cost,
                "compactions": event.compactions,
                "error": event.error or None,
            }
        case _:
            return None


def _approval(request: ApprovalRequest) -> dict[str, Any]:
    return {
        "id": request.call_id,
        "tool": request.tool,
        "title": request.title,
        "detail": request.detail,
        "reason": request.reason,
        "rule": str(request.proposal) if request.proposal else None,
    }


def stdin_text() -> str:
    """Return what was piped in, or "" when nobody pipes or standard input is closed."""
    return "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()
