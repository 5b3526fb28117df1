"""todo: the model's short list of what is to be done, which the user sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from app.core.effects import Effects
from app.core.events import TodoItem
from app.core.messages import JsonObject
from app.core.ports import Emit, Proposal, ToolOutcome
from app.core.requests import ToolSpec
from app.errors import ToolError

SetTodo = Callable[[tuple[TodoItem, ...]], None]
"""Takes the whole new list."""
STATES = ("pending", "doing", "done")
SIGNS = {"pending": "[ ]", "doing": "[>]", "done": "[x]"}
MAX_ITEMS = 50
MAX_CHARS = 300


@dataclass(frozen=True, slots=True)
class TodoTool:
    """Replaces the todo list."""

    set_todo: SetTodo

    read_only: ClassVar[bool] = False

    @property
    def spec(self) -> ToolSpec:
        """Name, description and input schema."""
        return ToolSpec(
            "todo",
            "Replace the todo list that the user sees; always give the whole list. Use it for work of three steps or "
            "more, keep one item doing, and mark items done as soon as they are. The list survives compactions.",
            {
                "type": "object",
                "properties": {
                    "items": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "text": {"type": "string", "description": "One short line"},
                                "state": {"type": "string", "enum": list(STATES)},
                            },
                            "required": ["text", "state"],
                        },
                    }
                },
                "required": ["items"],
            },
        )

    def target(self, arguments: JsonObject) -> str:
        """Return how many items the list has."""
        items = arguments.get("items")
        count = len(items) if isinstance(items, list | tuple) else 0
        return "1 item" if count == 1 else f"{count} items"

    async def propose(self, arguments: JsonObject) -> Proposal:
        """Return the list."""
        items = _items(arguments)
        return Proposal(f"set the todo list ({self.target(arguments)})", _text(items))

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        """Set the list."""
        items = _items(arguments)
        self.set_todo(items)
        done = sum(item.state == "done" for item in items)
        outcome = f"{done} of {len(items)} done"
        effects = Effects(target=self.target(arguments), outcome=outcome)
        return ToolOutcome(_text(items) or "(the list is empty)", effects)


def _items(arguments: JsonObject) -> tuple[TodoItem, ...]:
    items = tuple(
        TodoItem(" ".join(raw["text"].split()), raw["state"]) for raw in arguments["items"]
    )
    if len(items) > MAX_ITEMS:
        raise ToolError(f"the list has {len(items)} items; at most {MAX_ITEMS}")
    for item in items:
        if not item.text or len(item.text) > MAX_CHARS:
            raise ToolError(f"each item needs 1 to {MAX_CHARS} characters of text")
    return items


def _text(items: tuple[TodoItem, ...]) -> str:
    return "\n".join(f"{SIGNS[item.state]} {item.text}" for item in items)
