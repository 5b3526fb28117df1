"""A whole session at the embedded model: real client, tools, layers and record, in a temporary folder."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from app.adapters.anthropic_model import AnthropicModel
from app.adapters.demo import DEMO_API_KEY, DEMO_BASE_URL, DEMO_MODEL_ID
from app.adapters.demo.transport import DemoTransport
from app.adapters.journal import Journal
from app.agent.parts import SessionParts
from app.agent.prompt import Surroundings
from app.agent.session import Session
from app.core import remarks
from app.core.events import Compacted, Event, ToolFinished
from app.core.permission import Answered, ApprovalAnswer, ApprovalRequest, Mode
from app.core.policy import AutoPolicy, CompactionPolicy, ManualPolicy, MicroPolicy, MicroRule
from app.core.reports import Layer, Outcome
from app.permission.judge import judge
from app.permission.places import Places
from app.tools.checkpoints import Checkpoints
from app.tools.process import Processes
from app.tools.registry import build_tools
from app.tools.workspace import Workspace
from tests.fakes.clock import FakeClock


class Recorder(DemoTransport):
    """Keeps the body of every request and whether it was refused."""

    def __init__(self, **options: Any) -> None:
        super().__init__(delay=0, **options)
        self.bodies: list[dict[str, Any]] = []
        self.refused: list[str] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        data = await request.aread()
        response = await super().handle_async_request(request)
        if request.url.path == "/v1/messages":
            self.bodies.append(json.loads(data))
        if response.status_code != 200:
            self.refused.append((await response.aread()).decode())
        return response


class Nod:
    """A user who says yes, or no to the tools named."""

    def __init__(self, *refused: str) -> None:
        self.refused = refused
        self.asked: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.asked.append(request)
        no = request.tool in self.refused
        return ApprovalAnswer(Answered.NO if no else Answered.YES)


@dataclass
class Desk:
    """The session and what came of each turn."""

    folder: Path
    policy: CompactionPolicy = field(default_factory=lambda: CompactionPolicy())
    mode: Mode = Mode.ASK
    user: Nod = field(default_factory=Nod)
    transport: Recorder = field(default_factory=Recorder)
    events: list[Event] = field(default_factory=list)
    session: Session | None = None
    processes: Processes | None = None

    async def open(self) -> Desk:
        clock = FakeClock()
        record = await Journal.create(self.folder / ".transcripts", clock=clock)
        workspace = Workspace(self.folder)
        places = Places.of(self.folder, self.folder)
        checkpoints = Checkpoints(workspace, record.contents, partial(record.remark, remarks.FILES))
        self.processes = processes = Processes(
            self.folder, {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        )

        async def read_lines(path: str, first: int, last: int) -> str | None:
            file = self.folder / path
            if not file.is_file():
                return None
            return "\n".join(file.read_text().splitlines()[first - 1 : last])

        self.session = await Session.open(
            SessionParts(
                record=record,
                model=AnthropicModel(
                    base_url=DEMO_BASE_URL, api_key=DEMO_API_KEY, transport=self.transport
                ),
                approver=self.user,
                clock=clock,
                surroundings=Surroundings(self.folder, "2026-01-01"),
                checkpoints=checkpoints,
                tools=lambda needs: build_tools(
                    workspace,
                    record=record,
                    set_todo=needs.set_todo,
                    processes=processes,
                    wrap=lambda argv, folder: argv,
                    checkpoints=checkpoints,
                    changes_nothing=lambda command: False,
                    room=needs.room,
                ),
                judge=lambda tool, arguments, mode, rules: judge(
                    tool, arguments, mode=mode, rules=rules, places=places
                ),
                mode=self.mode,
                read_lines=read_lines,
                policy=self.policy,
                model_id=DEMO_MODEL_ID,
                window_of=lambda info, _: ((info.window if info else None) or 200_000, "endpoint"),
            )
        )
        return self

    async def __aenter__(self) -> Desk:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        assert self.session is not None
        await self.session.close()
        if self.processes is not None:
            await self.processes.close()

    async def say(self, text: str) -> str:
        """Run a turn; return the words of its last answer."""
        assert self.session is not None
        self.events = [event async for event in self.session.submit(text)]
        assert self.transport.refused == []
        last = self.session.conversation.entries[-1].message
        assert last.role == "assistant", self.events[-3:]
        return last.text

    def calls(self, tool: str = "") -> list[ToolFinished]:
        """The calls of the last turn."""
        return [e for e in self.events if isinstance(e, ToolFinished) and tool in ("", e.tool)]

    def targets(self, tool: str) -> list[str]:
        return [event.target for event in self.calls(tool)]

    def compactions(self, layer: Layer) -> int:
        """Applied runs of a layer in the last turn."""
        reports = [e.report for e in self.events if isinstance(e, Compacted)]
        return sum((r.layer, r.outcome) == (layer, Outcome.APPLIED) for r in reports)


def policy(
    threshold: int = 50_000, rule: MicroRule = MicroRule.AUTO, **micro: Any
) -> CompactionPolicy:
    return CompactionPolicy(
        micro=MicroPolicy(rule=rule, **micro),
        auto=AutoPolicy(threshold=threshold),
        manual=ManualPolicy(),
    )


def write_project(folder: Path, count: int = 5, lines: int = 20) -> list[str]:
    """Write a small Python project; return the paths of its modules."""
    (folder / "src").mkdir()
    names = [f"src/part_{at}.py" for at in range(count)]
    for at, name in enumerate(names):
        body = "\n".join(f"    value_{line} = {line} * {at}" for line in range(lines))
        (folder / name).write_text(
            f'"""Part {at} of the machine."""\n\n\ndef turn_{at}():\n{body}\n'
        )
    (folder / "README.md").write_text("# The machine\n")
    (folder / "config.yaml").write_text("name: machine\nspeed: 3\n")
    return sorted(names)
