"""A conversation line by line, for terminals that draw no screen: ``TERM=dumb``, and readers of screens."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Protocol, TextIO

from app.agent.own_commands import OWN
from app.agent.session import Session
from app.core.events import OWN_TOOL, Event, ToolFinished, ToolOutput, ToolStarted
from app.core.permission import Answered, ApprovalAnswer, ApprovalRequest
from app.core.visible_text import revealed_text, visible_text
from app.headless import Output, Printer
from app.ui.commands import QUIT_WORDS, parse, unknown

PROMPT = "pal> "
HELP = """\
Type a message and Enter. Ctrl+C cancels a turn, at the prompt it leaves; so do Ctrl+D and /quit.
/compact [focus]  summarise the history now
/undo             take the newest compaction back; /compact redo takes that back
/retry            the last request again, or a cut answer on
/status           what the next request holds, and the cost
!command          run a command of your own; the model is told with your next message (!!command: it is not)
The screen with all other commands needs a terminal with cursor movement: set TERM to its real name."""


class Closing(Protocol):
    """Work that is read as events and can be closed."""

    def __aiter__(self) -> AsyncIterator[Event]:
        """Return what yields the events."""
        ...

    async def aclose(self) -> None:
        """Cancel it."""
        ...


class Lines:
    """Lines of standard input, read in a thread that ends with the program.

    Args:
        source: Where lines come from.
        out: Where prompts are written.
    """

    def __init__(self, source: TextIO, out: TextIO) -> None:
        self._source = source
        self._out = out
        self._read: deque[str] = deque()
        self._news = asyncio.Event()
        self._ended = False
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, args=(loop,), name="lines", daemon=True).start()

    async def ask(self, prompt: str, *, fresh: bool = False) -> str | None:
        """Return the next line; None at the end of the input.

        Args:
            prompt: What stands before it.
            fresh: Take only a line that is typed from now on; earlier ones wait for the next call.
        """
        earlier = list(self._read) if fresh else []
        if fresh:
            self._read.clear()
        print(prompt, end="", file=self._out, flush=True)
        try:
            while not self._read:
                if self._ended:
                    return None
                self._news.clear()
                await self._news.wait()
            return self._read.popleft()
        finally:
            self._read.extendleft(reversed(earlier))

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError, ValueError, OSError):  # the program ended meanwhile
            for line in self._source:
                loop.call_soon_threadsafe(self._add, line.rstrip("\n"))
            loop.call_soon_threadsafe(self._end)

    def _add(self, line: str) -> None:
        self._read.append(line)
        self._news.set()

    def _end(self) -> None:
        self._ended = True
        self._news.set()


class PlainApprover:
    """Asks on the terminal, one question after another."""

    def __init__(self, lines: Lines, out: TextIO) -> None:
        self._lines = lines
        self._out = out
        self._turn = asyncio.Lock()

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Return the user's answer; anything but a clear yes is no."""
        async with self._turn:
            always = f", a always ({request.proposal})" if request.proposal else ""
            print(f"? {visible_text(request.title)}: {request.reason}", file=self._out)
            print(revealed_text(request.detail), file=self._out)
            prompt = f"? y yes, n no{always}, or what to do instead> "
            said = (await self._lines.ask(prompt, fresh=True) or "").strip()
            while parse(said) is not None:  # no words to the model
                print("A command waits until this is answered: y, n or words.", file=self._out)
                said = (await self._lines.ask(prompt, fresh=True) or "").strip()
            match said:
                case "y" | "yes":
                    return ApprovalAnswer(Answered.YES)
                case "a" | "always" if request.proposal is not None:
                    return ApprovalAnswer(Answered.ALWAYS)
                case "n" | "no" | "":
                    return ApprovalAnswer(Answered.NO)
                case words:
                    return ApprovalAnswer(Answered.NO, words=words)


async def talk(session: Session, lines: Lines, *, out: TextIO, err: TextIO) -> int:
    """Take messages and commands until the user leaves; return the exit code."""
    loop, own = asyncio.get_running_loop(), asyncio.current_task()
    assert own is not None

    def interrupt() -> None:
        session.cancel_command()
        if session.busy:
            session.cancel()
        else:
            own.cancel()

    loop.add_signal_handler(signal.SIGINT, interrupt)
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, own.cancel)
    printer = Printer(session, Output.TEXT, out, err)
    for notice in session.notices:
        printer.warn(notice)
    print(
        f"palimpsest, line by line, with {visible_text(session.model)}. /help says how.", file=out
    )
    try:
        while (line := await lines.ask(PROMPT)) is not None:
            if line.strip().lower().removeprefix("/") in QUIT_WORDS:
                return 0
            if (work := _work(session, line.strip(), out)) is not None:
                await _show(work, printer, out)
    except asyncio.CancelledError:
        return 130
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)
        print(file=out, flush=True)
    return 0


def _work(session: Session, text: str, out: TextIO) -> Closing | None:
    """Return the work that a line asks for; None when it is done already."""
    if text.startswith("!"):
        command = text.lstrip("!").strip()
        return session.run_command(command, share=not text.startswith("!!")) if command else None
    typed = parse(text)
    if typed is None:
        return session.submit(text) if text else None
    if typed.command is None:
        print(*unknown(typed.name), file=out)
        return None
    if refusal := typed.command.refusal(typed.argument):
        print(refusal, file=out)
        return None
    word, _, rest = typed.argument.partition(" ")
    match typed.command.name:
        case "compact" if word == "preview":
            print("The summary can be read and edited first on the screen only.", file=out)
        case "compact" if word == "redo" and not rest:
            return session.redo()
        case "compact" if word == "again":
            return session.again(rest.strip())
        case "compact":
            return session.compact(typed.argument)
        case "undo":
            return session.undo()
        case "retry":
            return session.go_on()
        case "status":
            print(_status(session), file=out)
        case "help":
            print(HELP, file=out)
        case _:
            print(f"/{typed.name} is not known here; /help lists what is.", file=out)
    return None


async def _show(work: Closing, printer: Printer, out: TextIO) -> None:
    last = "\n"
    async with aclosing(work) as events:
        async for event in events:
            match event:
                case ToolStarted(tool=tool) if tool == OWN_TOOL:
                    pass
                case ToolOutput(call_id, text) if call_id.startswith(OWN):
                    last = visible_text(text) or last
                    print(last, end="", file=out, flush=True)
                case ToolFinished(tool=tool, outcome=outcome) if tool == OWN_TOOL:
                    begin = "" if last.endswith("\n") else "\n"
                    print(f"{begin}[{outcome}]", file=out, flush=True)
                case _:
                    printer.show(event)


def _status(session: Session) -> str:
    budget = session.budget
    about = "" if budget.measured else "about "
    cost = "unknown cost" if session.cost is None else f"${session.cost:.2f}"
    return (
        f"{about}{budget.used:,} of {budget.threshold:,} tokens before it compacts, "
        f"window {budget.window:,}; {session.requests} requests, {cost}; {session.transcript}"
    )


def standard_lines() -> Lines:
    """Return the lines of standard input."""
    return Lines(sys.stdin, sys.stdout)
