"""Any interleaving of what user, model, tools, disk and power can do leaves a session that works and has lost nothing.

A state machine plays a real session step by step. After each step the next request is valid by the API's own rules,
the record on disk replays to the same bytes, and nothing that was ever said is out of reach. Every test run tries the
same few short lives; to search for hours, each time anew:

    uv run pytest -n 0 -m long tests/laws/test_session_machine.py --hypothesis-profile=explore
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.agent.queue import Typed
from app.agent.session import Session
from app.core.effects import Effects
from app.core.permission import Answered, Mode
from app.core.ports import ToolOutcome
from app.errors import PalError
from tests.laws.answers import FAULTS, SUMMARIES, TURNS, answer_summary, answer_turn, fail, play_on
from tests.laws.checks import MANY, check_all, check_reach, sent
from tests.laws.endpoint import Exchange
from tests.laws.policies import POLICIES
from tests.laws.stage import Stage, answer_with

SPICE = st.sampled_from(
    (
        "",
        "\n",
        "  ",
        "你好，世界",
        "😀",
        "\ud83d",
        "\x1b[31mred\x1b[0m",
        "\x00",
        "[/bold]",
        "</system>",
        "é" * 30,
    )
)
SIZES = st.sampled_from((0, 0, 1, 3, 12, 60, 400, 2_000))
PATHS = st.sampled_from(("app/a.py", "app/b.py", "README.md", "文档/说明.md"))
TURN_ANSWERS = st.sampled_from((*TURNS, "text", "one call", "thinking and calls"))
SUMMARY_ANSWERS = st.sampled_from((*SUMMARIES, "good", "good", "good", "good"))
RATES = (0.2, 0.35, 0.6)


class SessionMachine(RuleBasedStateMachine):
    """One session's life."""

    stage: Stage

    @initialize(
        policy=st.sampled_from(sorted(POLICIES)),
        window=st.sampled_from((12_000, 60_000, 200_000)),
        rate=st.sampled_from(RATES),
    )
    def begin(self, policy: str, window: int, rate: float) -> None:
        self.stage = Stage(POLICIES[policy], window=window)
        self.stage.endpoint.rate = rate

    def teardown(self) -> None:
        if not hasattr(self, "stage"):
            return
        try:
            self.resume()
            check_reach(self.stage)
        finally:
            self.stage.end()

    # What there is

    @property
    def session(self) -> Session:
        return self.stage.session

    @property
    def idle(self) -> bool:
        return not self.session.busy

    @property
    def waiting(self) -> list[Exchange]:
        return self.stage.endpoint.open

    def words(self, kind: str, spice: str, size: int) -> str:
        return f"{self.stage.token(kind)} {spice} " + "some more words to say, " * size

    # The user

    @precondition(lambda self: self.idle)
    @rule(
        what=st.sampled_from(("words", "words", "words", "nothing", "the same", "go on")),
        spice=SPICE,
        size=SIZES,
    )
    def say(self, what: str, spice: str, size: int) -> None:
        texts = {"nothing": spice and " \n", "the same": self.stage.latest}
        text = texts.get(what) or ("" if what == "nothing" else self.words("said", spice, size))
        self.stage.unwritten = False
        go_on = what == "go on"
        self.stage.begin(lambda s: s.go_on() if go_on else s.submit(text), is_turn=True)
        self.stage.settle()

    @precondition(lambda self: self.idle)
    @rule(kinds=st.lists(TURN_ANSWERS, max_size=4), summary=SUMMARY_ANSWERS, path=PATHS, size=SIZES)
    def say_and_wait(self, kinds: list[str], summary: str, path: str, size: int) -> None:
        """A whole turn, so that lives get long."""
        text = self.words("said", "", size)
        self.stage.unwritten = False
        self.stage.begin(lambda session: session.submit(text), is_turn=True)
        self.stage.settle()
        play_on(self.stage, kinds, summary, path=path, size=size)

    @precondition(lambda self: not self.idle)
    @rule(kinds=st.lists(TURN_ANSWERS, max_size=4), summary=SUMMARY_ANSWERS)
    def wait(self, kinds: list[str], summary: str) -> None:
        play_on(self.stage, kinds, summary)

    @rule(spice=SPICE, size=SIZES, back=st.booleans())
    def queue(self, spice: str, size: int, back: bool) -> None:
        """Type a message ahead, or take the newest back."""
        before = self.session.queue
        text = self.words("typed", spice, size)
        try:
            got = self.stage.do(self.session.take_back() if back else self.session.enqueue(text))
        except PalError:
            assert self.session.queue == before
            return
        if back:
            assert got == (Typed(before[-1]) if before else None)

    @precondition(lambda self: len([j for j in self.stage.jobs if not j.work.over]) < 2)
    @rule(
        what=st.sampled_from(
            ("compact", "focus", "preview", "apply", "undo", "redo", "again", "clear")
        ),
        path=PATHS,
    )
    def work_on_the_view(self, what: str, path: str) -> None:
        previews = self.stage.previews
        if what == "apply" and not previews:
            return
        makes: dict[str, Any] = {
            "compact": lambda s: s.compact(),
            "focus": lambda s: s.compact(path),
            "preview": lambda s: s.preview(path),
            "apply": lambda s: s.apply_preview(previews[-1], previews[-1].text + "\nedited \ud83d"),
            "undo": lambda s: s.undo(),
            "redo": lambda s: s.redo(),
            "again": lambda s: s.again(),
            "clear": lambda s: s.clear_now(),
        }
        self.stage.begin(makes[what])
        self.stage.settle()

    def _look_for_the_latest_request(self) -> None:
        page = self.stage.do(self.session.page(None, MANY))
        self.stage.latest = next((e.words for e in reversed(page) if e.spoken), "")

    @precondition(lambda self: not self.idle)
    @rule(path=PATHS)
    def ask_for_compaction(self, path: str) -> None:
        self.session.request_compaction(path)

    @rule(
        what=st.sampled_from(
            (
                "pin",
                "unpin",
                "bring back",
                "model",
                "mode",
                "policy",
                "disk",
                "time",
                "instructions",
            )
        ),
        number=st.integers(1, 6),
        policy=st.sampled_from(sorted(POLICIES)),
    )
    def meanwhile(self, what: str, number: int, policy: str) -> None:
        stage = self.stage
        match what:
            case "pin" | "unpin":
                with suppress(PalError):
                    stage.do(self.session.pin(f"r{number}", what == "pin"))
            case "bring back":
                with suppress(PalError):
                    stage.do(self.session.bring_back(f"r{number}"))
            case "model":
                name = ("claude-opus-5-5", "claude-sonnet-5-5")[number % 2]
                with suppress(PalError):
                    stage.do(self.session.set_model(name))
                stage.model_name = self.session.model
            case "mode":
                stage.mode = (Mode.ASK, Mode.ACCEPT_EDITS, Mode.READ_ONLY)[number % 3]
                self.session.set_mode(stage.mode)
            case "policy":
                stage.policy = POLICIES[policy]
                self.session.set_policy(stage.policy)
            case "disk":
                stage.journal.failures = number
            case "time":
                (stage.clock.advance if number % 2 else stage.clock.turn_back)(number * 150.0)
            case _:
                text = f"Instruction {number}."
                (stage.project / "AGENTS.md").write_text(text, encoding="utf-8")
                self._prompt_changed = True

    @precondition(lambda self: self.stage.user.questions)
    @rule(answer=st.sampled_from(("yes", "no", "no, because", "always", "edited")))
    def answer_question(self, answer: str) -> None:
        request, future = self.stage.user.questions[0]
        answers = {
            "yes": answer_with(Answered.YES),
            "no": answer_with(Answered.NO),
            "no, because": answer_with(Answered.NO, words="not \ud83d now"),
            "always": answer_with(Answered.ALWAYS),
            "edited": answer_with(Answered.YES, edited="ls -la")
            if request.editable
            else answer_with(Answered.YES),
        }
        future.set_result(answers[answer])
        self.stage.settle()

    # The model

    @precondition(lambda self: any(not e.begun for e in self.waiting))
    @rule(
        kind=TURN_ANSWERS,
        summary=SUMMARY_ANSWERS,
        path=PATHS,
        spice=SPICE,
        size=SIZES,
        piece=st.sampled_from((7, 64, 1_000_000)),
        part=st.sampled_from((None, None, None, 1, 9, 40)),
    )
    def answer(
        self,
        kind: str,
        summary: str,
        path: str,
        spice: str,
        size: int,
        piece: int,
        part: int | None,
    ) -> None:
        endpoint = self.stage.endpoint
        exchange = next(e for e in self.waiting if not e.begun)
        if exchange.is_summary:
            blocks, stop = answer_summary(self.stage, exchange, summary)
        else:
            blocks, stop = answer_turn(
                self.stage, exchange, kind, path=path, spice=spice, size=size
            )
        endpoint.begin(exchange, blocks, stop, piece)
        endpoint.send(exchange, part)
        self.stage.settle()

    @precondition(lambda self: any(e.plan for e in self.waiting))
    @rule(part=st.sampled_from((None, 1, 5)))
    def send_more(self, part: int | None) -> None:
        exchange = next(e for e in self.waiting if e.plan)
        self.stage.endpoint.send(exchange, part)
        self.stage.settle()

    @precondition(lambda self: self.waiting)
    @rule(fault=st.sampled_from(FAULTS))
    def fail(self, fault: str) -> None:
        self._told_its_size |= fault == "too long"
        fail(self.stage.endpoint, self.waiting[0], fault)
        self.stage.settle()

    @precondition(lambda self: self.stage.sleeping)
    @rule()
    def let_the_wait_pass(self) -> None:
        self.stage.sleeping[0].set_result(None)
        self.stage.settle()

    # Tools

    @precondition(lambda self: self.stage.running)
    @rule(
        at=st.integers(0, 2),
        how=st.sampled_from(("ends", "ends", "fails", "prints", "crashes")),
        spice=SPICE,
        size=SIZES,
    )
    def tool(self, at: int, how: str, spice: str, size: int) -> None:
        running = self.stage.running[at % len(self.stage.running)]
        text = f"{running.token} {spice}" + " a line of output\n" * size
        match how:
            case "ends":
                running.end.set_result(
                    ToolOutcome(
                        text, Effects(running.token, "exit 0", exit_code=0, modified=("made.txt",))
                    )
                )
            case "fails":
                running.end.set_result(
                    ToolOutcome(text, Effects(running.token, "exit 1", exit_code=1), ok=False)
                )
            case "crashes":
                running.end.set_exception(RuntimeError("a bug \ud83d"))
            case _:
                running.emit(text)
        self.stage.settle()

    # Disk, power, time

    @rule(
        what=st.sampled_from(("resume", "crash", "cut", "cancel", "rewind")),
        turns=st.integers(0, 30),
        act=st.sampled_from(
            (
                "",
                "say",
                "answer",
                "tool",
                "undo",
                "redo",
                "again",
                "clear",
                "compact",
                "question",
                "go on",
            )
        ),
        again=st.sampled_from((None, None, 0, 1, 2, 4, 8)),
    )
    def disturb(self, what: str, turns: int, act: str, again: int | None) -> None:
        match what:
            case "resume":
                self.resume()
            case "crash":
                self.crash(turns, act)
            case "cut":
                self.cut(turns, act, again)
            case "rewind" if self.idle:
                self.rewind(turns % 4)
            case _:
                self.session.cancel()
                self.stage.settle()

    def rewind(self, turns: int) -> None:
        points = self.stage.do(self.session.rewind_points())
        if turns < len(points):
            self.stage.begin(lambda session: session.rewind(points[turns], conversation=True))
            self.stage.settle()
            self._look_for_the_latest_request()

    def resume(self) -> None:
        session, queue = self.session, self.session.queue
        changed, told_its_size = self._prompt_changed, self._told_its_size
        unwritten = self.stage.unwritten or self.stage.journal.failures
        self.stage.journal.failures = 0
        self.stage.close_and_open()
        self._prompt_changed = self._told_its_size = False
        new = self.session
        if session.name == new.name and not unwritten:
            assert new.queue == queue
            if not changed:
                assert sent(new) == sent(session)
                assert told_its_size or new.budget.used == session.budget.used
            assert new.reports == session.reports
            assert (new.usage, new.requests, new.contexts) == (
                session.usage,
                session.requests,
                session.contexts,
            )

    def crash(self, turns: int, act: str) -> None:
        old = self.session.conversation
        queue = self.session.queue
        results, answered, said = (
            dict(self.stage.results),
            dict(self.stage.answered),
            list(self.stage.said),
        )
        with_failures = self.stage.journal.failures
        self.stage.journal.failures = 0
        self._start(act)
        self.stage.tick(turns)
        self.stage.crash_and_open()
        self._prompt_changed = False
        self.stage.results, self.stage.answered = results, answered
        new = self.session
        entries = self.stage.do(self.stage.journal.messages(range(1, MANY)))
        recorded = {entry.number: entry for entry in entries}
        for entry in old.entries:
            assert recorded[entry.number] == entry, "an acknowledged message is gone"
        words = [e.words for e in recorded.values()]
        for text in queue:
            assert text in new.queue or text in words
        assert with_failures or not said or all(any(t == w for w in words) for t in said[-1:])
        self.stage.said = said
        self._look_for_the_latest_request()

    def cut(self, turns: int, act: str, again: int | None) -> None:
        """Cancel in the middle of a step, and perhaps a second time in the middle of that."""
        self._start(act)
        self.stage.tick(turns)
        self.session.cancel()
        if again is not None:
            self.stage.tick(again)
            self.session.cancel()
        self.stage.settle()

    def _start(self, act: str) -> None:
        free = len([j for j in self.stage.jobs if not j.work.over]) < 2
        match act:
            case "say" if self.idle:
                text = self.words("said", "", 3)
                self.stage.begin(lambda session: session.submit(text), is_turn=True)
            case "go on" if self.idle:
                self.stage.begin(lambda session: session.go_on(), is_turn=True)
            case "undo" | "redo" | "again" | "compact" if free:
                self.stage.begin(lambda session: getattr(session, act)())
            case "clear" if free:
                self.stage.begin(lambda session: session.clear_now())
            case "cancel":
                self.session.cancel()
            case "answer":
                fresh = [e for e in self.waiting if not e.begun]
                if fresh:
                    summary = fresh[0].is_summary
                    blocks, stop = (
                        answer_summary(self.stage, fresh[0], "good")
                        if summary
                        else answer_turn(self.stage, fresh[0], "thinking and calls", size=60)
                    )
                    self.stage.endpoint.begin(fresh[0], blocks, stop, 1_000_000)
                    self.stage.endpoint.send(fresh[0])
            case "tool" if self.stage.running:
                running = self.stage.running[0]
                running.end.set_result(
                    ToolOutcome(f"{running.token} done " * 40, Effects("x", "done"))
                )
            case "question" if self.stage.user.questions:
                self.stage.user.questions[0][1].set_result(answer_with(Answered.YES))
            case _:
                pass

    _prompt_changed = False
    _told_its_size = False
    """Whether an error told what a request took, which the record does not hold."""

    # Laws

    @invariant()
    def laws_hold(self) -> None:
        if hasattr(self, "stage"):
            check_all(self.stage)


QUICK = settings(
    max_examples=10, stateful_step_count=20, suppress_health_check=list(HealthCheck), deadline=None
)
LONG = settings(
    max_examples=2_000,
    stateful_step_count=60,
    suppress_health_check=list(HealthCheck),
    deadline=None,
)

TestSessionMachine = SessionMachine.TestCase
TestSessionMachine.settings = QUICK


@pytest.mark.long
@pytest.mark.timeout(0)
class TestLongLives(SessionMachine.TestCase):
    """The same for hours."""

    settings = LONG
