"""One session with all layers, an undo, a cancel, a result brought back and a resume: every figure is the endpoint's."""

import asyncio
import io
import json
from dataclasses import asdict, replace

from app.core.budget import Usage
from app.core.events import AnswerFinished, BudgetChanged, Compacted, Event, RequestSent
from app.core.policy import MicroRule
from app.core.prices import Price
from app.core.reports import Layer, Outcome
from app.core.requests import InputCounted, ModelRequest
from app.core.tokens import estimate_json, estimate_message, estimate_text
from app.headless import Output, Printer, as_records
from app.ui.account_text import account_of, cost_text
from app.ui.context_text import explain
from app.ui.format import cost, tokens
from app.ui.report_text import row
from app.ui.screens.event_view import EventView
from app.ui.widgets.budget_gauge import BudgetGauge
from app.ui.widgets.context_chart import ContextChart
from app.ui.widgets.event_log import ReportList
from tests.agent.rig import Rig, small
from tests.agent.test_session_layers import SUMMARY, looks, wants_summary
from tests.fakes.model import ScriptedModel, calls, says
from tests.ui.screens_in_use import pal_app
from tests.ui.test_pair_screen import until_idle

PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
DENSER = 1.3
"""The endpoint's own tokens per estimated one."""


class Endpoint(ScriptedModel):
    """Bills by its own measure, reads the common beginning from its cache, and keeps every bill."""

    def __init__(self) -> None:
        super().__init__()
        self.bills: list[Usage] = []
        self._before: tuple = ()

    def price(self, model: str) -> Price:
        return PRICE

    async def stream(self, request: ModelRequest):
        usage = self.count(request)
        yield InputCounted(usage)
        steps = super().stream(request)
        async for event in steps:
            if hasattr(event, "usage"):
                output = round(DENSER * estimate_message(event.message))
                event = replace(event, usage=replace(usage, output=output))
                self.bills.append(event.usage)
            yield event

    def count(self, request: ModelRequest) -> Usage:
        specs = [[t.name, t.description, dict(t.input_schema)] for t in request.tools]
        head = DENSER * (estimate_text(request.system) + estimate_json(specs))
        sizes = [DENSER * estimate_message(message) for message in request.messages]
        pairs = zip(request.messages, self._before, strict=False)
        same = next((at for at, (a, b) in enumerate(pairs) if a != b), len(self._before))
        read = round(head + sum(sizes[:same])) if self._before else 0
        self._before = request.messages
        return Usage(0, read, round(head + sum(sizes)) - read, 0)


class Witness:
    """Compares the places that show a figure, after each event and when the work is over."""

    def __init__(self, app, folder, monkeypatch) -> None:
        self.app, self.folder = app, folder
        self.err = io.StringIO()
        self.told = self.usage = None
        self.answering = False
        self.problems: list[AssertionError] = []
        self.seen: list[str] = []
        self.sent: list[tuple[int, int]] = []
        """For each request what the gauge said of it and what the endpoint counted."""
        show, witness = EventView.show, self

        def watched(view: EventView, event: Event) -> None:
            show(view, event)
            try:
                witness.see(event)
            except AssertionError as error:
                witness.problems.append(error)

        monkeypatch.setattr(EventView, "show", watched)

    @property
    def session(self):
        return self.app.pair.session

    def see(self, event: Event) -> None:
        Printer(self.session, Output.TEXT, io.StringIO(), self.err).show(event)
        self.seen.append(type(event).__name__)
        gauge = self.app.pair.query_one(BudgetGauge)
        match event:
            case BudgetChanged(budget):
                self.told = budget
                assert gauge.budget == budget
                assert tokens(budget.used) in str(gauge.render())
                (record,) = as_records(event, "s")
                assert (record["used"], record["measured"]) == (budget.used, budget.measured)
                assert sum(record["parts"].values()) == budget.used
                if self.answering and budget.measured:
                    self.sent[-1] = (self.sent[-1][0], budget.used)
                if (
                    self.usage is not None
                ):  # right after an answer the next request carries just that
                    assert (budget.used, budget.measured) == (self.usage.total, True)
                self.usage = None
            case RequestSent(_, size):
                assert size == self.told.used, "the gauge showed another figure than the request"
                self.sent.append((size, 0))
                self.answering = True
            case AnswerFinished(_, usage):
                assert self.sent[-1][1] == usage.prompt
                self.answering, self.usage = False, usage
            case Compacted(report):
                rows = self.app.pair.query_one(ReportList)
                shown = str(rows.get_option_at_index(rows.option_count - 1).prompt)
                assert shown.startswith(report.headline)
                assert row(report).startswith(report.headline)
                assert json.loads(json.dumps(asdict(report) | {"time": ""})) in self.kept("report")
                assert report.headline in self.err.getvalue().splitlines()
                if report.layer in (
                    Layer.MICRO,
                    Layer.AUTO,
                ):  # right before a request, with nothing in between
                    assert report.before == self.told.used
            case _:
                pass

    def kept(self, kind: str) -> list[dict]:
        path = self.folder / ".transcripts" / self.session.name / "events.jsonl"
        lines = map(json.loads, path.read_text("utf-8").splitlines())
        found = [line["data"] for line in lines if line.get("kind") == kind]
        return [data | {"time": ""} if kind == "report" else data for data in found]

    def settle(self, model: "Endpoint") -> None:
        """What was billed in all, wherever it is said, and what the gauge shows at rest."""
        if self.problems:
            raise self.problems[0]
        session = self.session
        kept = self.kept("usage")
        bills = [Usage(d["input"], d["cache_read"], d["cache_write"], d["output"]) for d in kept]
        certain = [u for u, d in zip(bills, kept, strict=True) if not d.get("estimated")]
        assert certain == model.bills
        assert session.requests == len(bills)
        assert session.usage == sum(bills, Usage())
        assert abs(session.cost - sum(map(PRICE.of, bills))) < 1e-9
        turns = [u.prompt for u, d in zip(bills, kept, strict=True) if d["purpose"] == "turn"]
        assert list(session.contexts) == turns
        assert self.app.pair.query_one(ContextChart).contexts == session.contexts
        assert session.savings.sent == session.usage.prompt
        account = account_of(session)
        assert cost_text(account).startswith(
            f"{cost(session.cost)} in {len(bills)} requests: {tokens(session.usage.prompt)} tokens in"
        )
        panel = "\n".join("".join(p for p, _ in line) for line in explain(account, 120).lines)
        for figure in (session.budget.used, session.budget.threshold, session.usage.prompt):
            assert tokens(figure) in panel
        assert self.app.pair.query_one(BudgetGauge).budget == session.budget
        assert len(session.reports) == len(self.kept("report"))


async def test_every_figure_agrees_with_the_requests_really_sent(tmp_path, monkeypatch):
    model = Endpoint()
    rig = Rig(
        tmp_path,
        model,
        policy=small(5_000, rule=MicroRule.EVERY_TURN, preserve_tools=frozenset()),
    )

    async def open_session(approver):
        return await rig.open()

    app = pal_app(open_session=open_session)
    async with app.run_test(size=(120, 40)) as pilot:
        witness = Witness(app, tmp_path, monkeypatch)
        await until_idle(app, pilot)

        async def work(command: str, *script) -> None:
            left = list(script)
            model.script = [
                lambda r: says(SUMMARY) if wants_summary(r) else left.pop(0) for _ in range(60)
            ]
            app.pair.submit(command)
            await until_idle(app, pilot)
            witness.settle(model)

        large = calls(("big", "look", {"text": "words and more words, ", "times": 900}))
        await work("look around", *looks(6), large, says("That is all."))
        await work("and on", *looks(24, size=60), says("So much."))
        await work("/compact", says("never asked"))
        await work("a little more", *looks(2), says("Done."))
        await work("/undo")
        done = {(r.layer, r.outcome) for r in app.pair.session.reports}
        assert {layer for layer, outcome in done if outcome is Outcome.APPLIED} == set(Layer)
        assert any(outcome is Outcome.UNDONE for _, outcome in done)

        cleared = next(iter(app.pair.session.conversation.stubs))
        await app.pair.session.bring_back(cleared)
        await work("what was in it?", says("Words."))
        assert f"[The user brought {cleared}" in repr(model.requests[-1].messages[-1])

        model.hold = asyncio.Event()
        model.script = [says("A long answer that nobody waits for.")]
        app.pair.submit("tell me more")
        while "TextArrived" not in witness.seen[-3:]:
            await pilot.pause()
        await pilot.press("escape")
        await until_idle(app, pilot)
        model.hold = None
        assert witness.kept("usage")[-1]["estimated"] and witness.session.usage.output
        witness.settle(model)

        session = app.pair.session
        before = (session.reports, session.contexts, session.usage, session.savings, session.budget)
        await session.close()
        again = await rig.open(session.name)
        assert before[:4] == (again.reports, again.contexts, again.usage, again.savings)
        assert again.budget.used == before[4].used
        assert len(again.runs) == 1 and again.turn_starts[-1] == len(session.contexts) - 1
        await again.close()

    # What the gauge said before each request is what the endpoint counted, within a tenth once it had counted one.
    errors = [abs(said - counted) / counted for said, counted in witness.sent[1:] if counted]
    assert len(errors) > 30 and max(errors) < 0.1
