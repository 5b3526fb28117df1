"""What the state machine found, each as its shortest life."""

from __future__ import annotations

from typing import Any

import pytest

from tests.laws.test_session_machine import SessionMachine

Step = tuple[str, dict[str, Any]]


def say(what: str = "words") -> Step:
    return "say", {"what": what, "spice": "", "size": 3}


def turn(*kinds: str, size: int = 3) -> Step:
    return "say_and_wait", {
        "kinds": list(kinds),
        "summary": "good",
        "path": "app/a.py",
        "size": size,
    }


def answer(kind: str) -> Step:
    material = {"path": "app/a.py", "spice": "", "size": 3, "piece": 1_000_000, "part": None}
    return "answer", {"kind": kind, "summary": "good", **material}


def meanwhile(what: str, number: int = 1) -> Step:
    return "meanwhile", {"what": what, "number": number, "policy": "roomy"}


def disturb(what: str, act: str = "", turns: int = 0, again: int | None = None) -> Step:
    return "disturb", {"what": what, "act": act, "turns": turns, "again": again}


def view(what: str) -> Step:
    return "work_on_the_view", {"what": what, "path": "app/a.py"}


WAIT: Step = ("wait", {"kinds": [], "summary": "good"})
LIVES: dict[str, list[Step]] = {
    "a compaction that is asked for in a turn and refused at its end": [
        say(),
        ("ask_for_compaction", {"path": "app/a.py"}),
        answer("text"),
    ],
    "an error that cannot be written down": [meanwhile("disk"), say("nothing")],
    "a second cancel while the first answers the open calls": [
        say(),
        answer("three calls"),
        disturb("cut", "tool", turns=2, again=1),
        say(),
    ],
    "a call without a name": [turn("no name"), turn()],
    "the same id in two answers": [turn("an id again", "an id again")],
    "a pause that holds a call": [turn("a pause with a call"), turn()],
    "thinking that is cut off, and what it counts": [turn("thinking cut off"), turn()],
    "an undo behind other instructions": [
        turn(),
        turn("three calls", "thinking and text", size=400),
        meanwhile("instructions"),
        view("compact"),
        WAIT,
        view("undo"),
    ],
    "other instructions at a compaction that hardly shrinks": [
        turn("a compact call", size=60),
        meanwhile("instructions", 5),
        turn("a compact call", size=60),
    ],
    "a size that an error told, and a resume": [
        say("go on"),
        ("fail", {"fault": "too long"}),
        disturb("resume"),
    ],
    "a crash while the user's words are written": [
        disturb("crash", "say", turns=6),
        turn(),
    ],
}


@pytest.mark.parametrize("name", LIVES)
def test_a_life_that_went_wrong_once_goes_well(name: str) -> None:
    machine = SessionMachine()
    machine.begin(policy="no layer 1", window=60_000, rate=0.35)
    try:
        for step, arguments in LIVES[name]:
            getattr(machine, step)(**arguments)
            machine.laws_hold()
    finally:
        machine.teardown()


def test_cancelling_a_turn_drops_the_compaction_that_was_asked_for() -> None:
    machine = SessionMachine()
    machine.begin(policy="no layer 1", window=60_000, rate=0.35)
    try:
        machine.say(what="words", spice="", size=400)
        machine.ask_for_compaction(path="app/a.py")
        machine.disturb(what="cancel", act="", turns=0, again=None)
        asked = len(machine.stage.endpoint.bodies)
        machine.say_and_wait(kinds=[], summary="good", path="app/a.py", size=400)
        assert len(machine.stage.endpoint.bodies) == asked + 1, "no summary was asked for"
    finally:
        machine.teardown()
