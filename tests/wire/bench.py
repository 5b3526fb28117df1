"""A session on a real record that talks over real sockets to an endpoint which goes wrong where a test says so."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from app.adapters.anthropic_model import AnthropicModel
from app.agent.session import Session
from app.core import remarks
from app.core.budget import Usage
from app.core.events import Compacted, Event, RetryWaiting
from app.core.messages import JsonObject, message_from_json
from app.core.policy import CompactionPolicy
from app.core.prices import Price
from app.core.reports import Layer
from tests.agent.rig import Handy, Rig, of, small
from tests.fakes.message_rules import problems
from tests.wire import sse
from tests.wire.faults import SILENCE, Point
from tests.wire.server import Received, Reply, WireServer, json_reply, wire_server

SUMMARY = "\n\n".join(
    f"## {heading}\n- noted"
    for heading in (
        "What was accomplished",
        "Current state",
        "Key decisions and why",
        "Failed approaches",
        "Open questions",
        "Next step",
    )
)
TASK, AGAIN = "write it down", "and now?"
PRICE = Price(3.0, 15.0, 0.3, 3.75)
BEGUN = 10
"""Tokens of input that an answer names which then goes wrong."""
NO_LIST = json_reply({"error": {"type": "not_found_error", "message": "no list here"}}, 404)


def is_summary_call(body: Any) -> bool:
    return "The conversation is about to be compressed" in json.dumps(body["messages"][-1])


def last_text(body: Any) -> str:
    """The last text of the last message; "" when it ends with a tool's result."""
    block = body["messages"][-1]["content"][-1]
    return str(block["text"]) if block["type"] == "text" else ""


@dataclass
class Brain:
    """Answers well, and goes wrong as often as it is told at one point."""

    fault: Callable[[], Reply] | None = None
    point: Point = Point.FIRST
    times: int = 0
    """How many more replies go wrong."""
    billed: Usage = Usage()
    """What the answers that came to an end were billed."""
    answered: int = 0
    """Answers that came to an end."""
    problems: list[str] = field(default_factory=list)
    calls: int = 0
    paused: bool = False
    """Whether the last answer was a pause: then a request may end with it."""
    bodies: list[Any] = field(default_factory=list)

    def __call__(self, received: Received) -> Reply:
        if received.method == "GET":
            return NO_LIST
        body = received.json
        self.bodies.append(body)
        self._check(body)
        if self.fault is not None and self.times and self._is_due(body):
            self.times -= 1
            return self.fault()
        return self._good(body)

    def _is_due(self, body: Any) -> bool:
        if is_summary_call(body):
            return self.point in (Point.SUMMARY, Point.HALF_SUMMARY)
        answers_tool = not last_text(body)
        if self.point is Point.AFTER_TOOL:
            return answers_tool
        return self.point not in (Point.SUMMARY, Point.HALF_SUMMARY) and not answers_tool

    def _good(self, body: Any) -> Reply:
        said = last_text(body)
        if is_summary_call(body):
            return self._bill(body, sse.text(0, SUMMARY), len(SUMMARY))
        if TASK in said:
            self.calls += 1
            call = sse.call(0, "write", '{"command": "step"}', id_=f"toolu_{self.calls}")
            return self._bill(body, call, 20, "tool_use")
        text = {"": "Done.", AGAIN: "Still here."}.get(said, f"{said}: " + "word " * 1_500)
        return self._bill(body, sse.text(0, text), len(text))

    def _bill(self, body: Any, blocks: bytes, size: int, reason: str = "end_turn") -> Reply:
        usage = Usage(input=len(json.dumps(body)) // 4, output=size // 4)
        self.billed += usage
        self.answered += 1
        start = sse.start(usage={"input_tokens": usage.input, "output_tokens": 0})
        stop = sse.stop(reason, usage={"output_tokens": usage.output})
        return Reply([start + blocks + stop + sse.end()])

    def _check(self, body: Any) -> None:
        messages = [message_from_json(message) for message in body["messages"]]
        self.problems += problems(messages, continuing=self.paused)


@dataclass
class Bench:
    """A session at work on such an endpoint."""

    session: Session
    brain: Brain
    server: WireServer
    ran: list[str]
    """Commands that the tool really ran."""
    model: AnthropicModel

    async def run(self, text: str) -> list[Event]:
        return [event async for event in self.session.submit(text)]

    async def bills(self, *, estimated: bool) -> list[Usage]:
        """What was counted of each attempt: as the endpoint said, or estimated where its answer was cut."""
        kept = await self.session._parts.record.remarks(frozenset({remarks.USAGE}))
        names = Usage.__dataclass_fields__
        return [
            Usage(**{name: remark.data[name] for name in names})
            for remark in kept
            if bool(remark.data.get("estimated")) is estimated
        ]

    async def check_bills(self, *, cut: int) -> int:
        """All that the endpoint bills is counted, and of answers that were cut what was seen of them.

        Args:
            cut: How many were cut; of one whose end came with its beginning nothing may have been seen.

        Returns:
            How many cut answers were counted.
        """
        whole, estimated = await self.bills(estimated=False), await self.bills(estimated=True)
        assert sum(whole, Usage()) == self.brain.billed
        assert len(estimated) <= cut and {usage.input for usage in estimated} <= {BEGUN}
        assert self.session.usage == sum((*whole, *estimated), Usage())
        assert self.session.cost == pytest.approx(PRICE.of(self.session.usage))
        return len(estimated)

    def posts(self) -> int:
        """Model calls that arrived."""
        return len(self.brain.bodies)

    def said(self, body: Any) -> list[str]:
        """Every text of the user's in a request."""
        return [
            block["text"]
            for message in body["messages"]
            if message["role"] == "user"
            for block in message["content"]
            if block["type"] == "text"
        ]


def plain_transport() -> httpx2.AsyncHTTPTransport:
    """Real sockets without the certificates that take longer to load than a test."""
    return httpx2.AsyncHTTPTransport(verify=False)


@asynccontextmanager
async def bench(
    folder: Path,
    brain: Brain,
    *,
    policy: CompactionPolicy | None = None,
    tools: tuple[Handy, ...] = (),
    **options: Any,
) -> AsyncIterator[Bench]:
    """Open a session; tools stand beside `write`, or for it; options go to the model."""
    ran: list[str] = []

    def write(arguments: JsonObject, _: Any) -> str:
        ran.append(str(arguments.get("command")))
        return "written"

    async with wire_server(brain=brain) as server:
        given = {
            "silence": SILENCE,
            "chance": lambda: 0.0,
            "price": lambda: PRICE,
            "transport": plain_transport,
            **options,
        }
        model = AnthropicModel(base_url=server.url, api_key="sk-test-1", **given)
        rig = Rig(
            folder,
            model,  # type: ignore[arg-type]
            policy=policy or small(50_000),
            tools=(Handy("write", write, read_only=False), *tools),
        )
        session = await rig.open()
        try:
            yield Bench(session, brain, server, ran, model)
        finally:
            await session.close()


def waits(events: list[Event]) -> list[float]:
    return [event.seconds for event in of(events, RetryWaiting)]


def compactions(events: list[Event]) -> list[Any]:
    return [e.report for e in of(events, Compacted) if e.report.layer is Layer.AUTO]
