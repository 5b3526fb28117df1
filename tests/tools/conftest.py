"""A project folder with the real tools on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from app.adapters.contents import Contents
from app.core.effects import Effects
from app.core.events import TodoItem
from app.core.history import Entry
from app.core.messages import JsonObject, Message
from app.core.originals import Texts
from app.core.policy import AutoPolicy, CompactionPolicy, EntryPolicy
from app.core.ports import Tool, ToolOutcome
from app.errors import ToolError
from app.tools.checkpoints import Checkpoints
from app.tools.environment import child_environment
from app.tools.process import Processes
from app.tools.registry import build_tools
from app.tools.result_room import Room
from app.tools.workspace import Workspace

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "ANTHROPIC_API_KEY": "sk-ant-probe-0000",
}


async def until(condition: Callable[[], Any]) -> None:
    """Wait for something that another process does."""
    for _ in range(1_000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")


@dataclass
class FakeRecord:
    """The record as recall sees it."""

    entries: list[Entry] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)

    def add(self, message: Message, effects: dict[str, Effects] | None = None) -> Entry:
        results = sum(len(entry.message.tool_results) for entry in self.entries)
        number = len(self.entries) + 1
        first = results + 1 if message.tool_results else 0
        entry = Entry(number, number, "2026-11-29T22:16:40.000Z", message, (), effects or {}, first)
        self.entries.append(entry)
        return entry

    async def result_entry(self, number: int) -> Entry | None:
        for entry in self.entries:
            if entry.first_result and entry.first_result <= number < entry.first_result + len(
                entry.message.tool_results
            ):
                return entry
        return None

    async def messages(self, numbers: Sequence[int]) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.number in numbers)

    async def texts(self) -> AsyncGenerator[Texts, None]:
        for entry in reversed(self.entries):
            yield ((entry.id, entry.message.text),)

    async def load_output(self, name: str) -> str | None:
        return self.outputs.get(name)


@dataclass
class Bench:
    """The tools of one project, with all that they were given."""

    root: Path
    workspace: Workspace
    processes: Processes
    record: FakeRecord
    policy: CompactionPolicy
    checkpoints: Checkpoints
    notes: list[JsonObject]
    """What the record was told of changed files."""
    factor: float = 1.0
    wrap: Callable[[Sequence[str], Path], Sequence[str]] = lambda argv, cwd: argv
    changes_nothing: Callable[[str], bool] = lambda command: False
    todos: list[tuple[TodoItem, ...]] = field(default_factory=list)
    emitted: list[str] = field(default_factory=list)

    @property
    def tools(self) -> dict[str, Tool]:
        built = build_tools(
            self.workspace,
            record=self.record,
            set_todo=self.todos.append,
            processes=self.processes,
            wrap=lambda argv, cwd: self.wrap(argv, cwd),
            checkpoints=self.checkpoints,
            changes_nothing=lambda command: self.changes_nothing(command),
            room=lambda: Room(self.policy, self.factor),
        )
        return dict(built)

    async def call(self, name: str, **arguments: Any) -> ToolOutcome:
        return await self.tools[name].run(arguments, self.emitted.append)

    async def text(self, name: str, **arguments: Any) -> str:
        outcome = await self.call(name, **arguments)
        assert isinstance(outcome.content, str)
        return outcome.content

    async def refusal(self, name: str, **arguments: Any) -> str:
        with pytest.raises(ToolError) as caught:
            await asyncio.wait_for(self.call(name, **arguments), 5)
        return str(caught.value)

    def page_tokens(self, tokens: int) -> None:
        self.policy = replace(
            self.policy, entry=EntryPolicy(read_tokens=tokens), auto=AutoPolicy(threshold=1_000_000)
        )

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    root = tmp_path / "project"
    root.mkdir()
    processes = Processes(root, child_environment(ENVIRONMENT, project=root))
    workspace = Workspace(root)
    notes: list[JsonObject] = []

    async def note(data: JsonObject) -> None:
        notes.append(data)

    contents = Contents(lambda: tmp_path)
    checkpoints = Checkpoints(workspace, contents, note)
    made = Bench(root, workspace, processes, FakeRecord(), CompactionPolicy(), checkpoints, notes)
    yield made
    await processes.close()
    contents.close()
