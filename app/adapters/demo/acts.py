"""The form of a script: a generator that asks for tool calls, is given their results and returns the final words.

A script is played from its beginning at every request. A call that was made since the user asked is answered from the
conversation; the first one that was not is what the model asks for now. So a script keeps no state of its own.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from app.adapters.demo.reading import Outcome, Reading
from app.core.messages import JsonObject


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that a script wants."""

    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Act:
    """One answer with tool calls, and what is said in front of them."""

    text: str
    calls: tuple[Call, ...]


Script = Generator[Act, tuple[Outcome, ...], str]


@dataclass(frozen=True, slots=True)
class Tongue:
    """Chooses the language of the request."""

    chinese: bool

    def __call__(self, english: str, chinese: str) -> str:
        """Return the text in the language of the request."""
        return chinese if self.chinese else english


def act(text: str, tool: str, **arguments: Any) -> Act:
    """Return an act with one call; arguments that are None are left out."""
    given = {key: value for key, value in arguments.items() if value is not None}
    return Act(text, (Call(tool, given),))


def ask(text: str, tool: str, **arguments: Any) -> Generator[Act, tuple[Outcome, ...], Outcome]:
    """Make one call and return its result in full, calling again when layer 1 has cleared it."""
    while True:
        (outcome,) = yield act(text, tool, **arguments)
        if not outcome.cleared:
            return outcome


def in_turn(*scripts: Script) -> Script:
    """Play scripts one after another; what one reports is said in front of the next one's first call."""
    said = ""
    for script in scripts:
        said = yield from _after(said, script)
    return said


def _after(said: str, script: Script) -> Script:
    before = said
    try:
        wanted = next(script)
        while True:
            text = f"{before}\n\n{wanted.text}" if before else wanted.text
            before = ""
            wanted = script.send((yield Act(text, wanted.calls)))
    except StopIteration as stop:
        return f"{before}\n\n{stop.value}" if before else str(stop.value)


def play(script: Script, reading: Reading) -> Act | str:
    """Return what the script wants now: an act whose calls are still to be made, or its final words."""
    pool = list(reading.steps)
    try:
        wanted = next(script)
        while True:
            outcomes = [_take(call, pool, reading) for call in wanted.calls]
            missing = tuple(c for c, o in zip(wanted.calls, outcomes, strict=True) if o is None)
            if missing:
                return Act(wanted.text, missing)
            wanted = script.send(tuple(o for o in outcomes if o is not None))
    except StopIteration as stop:
        return str(stop.value)


def _take(call: Call, pool: list[Outcome], reading: Reading) -> Outcome | None:
    """Return the result that the conversation holds for a call, or None when it is still to be made."""
    for at, outcome in enumerate(pool):
        if outcome.tool == call.tool and dict(outcome.arguments) == dict(call.arguments):
            return pool.pop(at)
    if call.tool not in reading.tools:
        text = f"Error: the tool {call.tool} is not offered here"
        return Outcome(call.tool, call.arguments, text, is_error=True)
    return None
