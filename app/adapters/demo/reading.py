"""What the model sees when it reads a request: the newest wish, the calls made for it and all that stands before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from app.adapters.demo.head import (
    HEAD_START,
    holds_latest,
    in_progress,
    is_same_request,
    latest_words,
)
from app.adapters.demo.phrases import has_cjk
from app.adapters.demo.understanding import understand
from app.adapters.demo.wishes import Kind
from app.core.messages import JsonObject, Message, Text, ToolUse, message_from_json

STUB_START = "[Previous: used "
"""How the line begins that layer 1 leaves of a result."""
_NOTE = re.compile(r"\s*(?:\[.*\]|<.*>|\[The user (?:ran a command|brought) .*)\s*\Z", re.S)
"""What the program wrote beside the user's words: in brackets, or a line in brackets with an output under it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A tool call and what came of it, as the view shows it."""

    tool: str
    arguments: JsonObject
    text: str
    is_error: bool = False

    @property
    def cleared(self) -> bool:
        """Whether layer 1 has replaced the result by its stub."""
        return self.text.startswith(STUB_START)

    def argument(self, name: str) -> str:
        """Return an argument as text; "" when it is missing."""
        value = self.arguments.get(name, "")
        return value if isinstance(value, str) else str(value)


@dataclass(frozen=True, slots=True)
class Reading:
    """A request, read."""

    tools: frozenset[str]
    """Names of the tools that may be called; empty when the request forbids calls."""
    head: str
    """The head of the compaction in force; "" before the first."""
    request: str
    """The user's newest words."""
    in_head: bool
    """Whether the history was compacted since the user asked."""
    steps: tuple[Outcome, ...]
    """Calls made since the user asked, oldest first, as far as the view holds them."""
    said: tuple[str, ...]
    """What the model said since then."""
    before: tuple[Outcome, ...]
    """Calls made earlier."""
    said_before: tuple[str, ...]
    requests: tuple[str, ...]
    """All words of the user in the view, oldest first, without those in the head."""

    @property
    def chinese(self) -> bool:
        """Whether the user writes Chinese."""
        return has_cjk(self.request)

    @property
    def everything(self) -> tuple[Outcome, ...]:
        """All calls in the view, oldest first."""
        return (*self.before, *self.steps)

    @property
    def own_words(self) -> str:
        """All that the model said, and the head, where its notes of earlier live on."""
        return "\n".join((self.head, *self.said_before, *self.said))


def read_request(body: Mapping[str, Any]) -> Reading:
    """Return the reading of a valid request body."""
    messages = [message_from_json(message) for message in body["messages"]]
    forbidden = body.get("tool_choice", {}).get("type") == "none"
    tools = frozenset() if forbidden else frozenset(t["name"] for t in body.get("tools", []))
    head, spoken = _words(messages)
    asked_at, request = _wanted(spoken)
    in_head = _is_older_than_head(request, head, [text for _, text in spoken])
    if not request:
        request = latest_words(head)
    steps, said = list(_steps(messages)), list(_said(messages))
    return Reading(
        tools=tools,
        head=head,
        request=request,
        in_head=in_head,
        steps=tuple(step for at, step in steps if at > asked_at),
        said=tuple(text for at, text in said if at > asked_at),
        before=tuple(step for at, step in steps if at <= asked_at),
        said_before=tuple(text for at, text in said if at <= asked_at),
        requests=tuple(text for _, text in spoken),
    )


def _words(messages: list[Message]) -> tuple[str, list[tuple[int, str]]]:
    """Return the head, and (position, text) of everything else that the user wrote."""
    head = ""
    spoken: list[tuple[int, str]] = []
    for at, message in enumerate(messages):
        if message.role != "user":
            continue
        for block in message.content:
            if not isinstance(block, Text):
                continue
            if at == 0 and not head and not spoken and block.text.startswith(HEAD_START):
                head = block.text
            elif not _NOTE.match(block.text):
                spoken.append((at, block.text.strip()))
    return head, spoken


def _wanted(spoken: list[tuple[int, str]]) -> tuple[int, str]:
    """Return position and text of the request to work on: the newest, or the one that "go on" means."""
    for at, text in reversed(spoken):
        if understand(text).kind is not Kind.CONTINUE:
            return at, text
    return spoken[-1] if spoken else (-1, "")


def _is_older_than_head(request: str, head: str, spoken: list[str]) -> bool:
    """Whether the history was compacted while the request was being worked on.

    Its words then stand in the head alone; or still after it, where the summary in the head says that they were in
    progress, and the user has not said them again since.
    """
    if not head or not spoken:
        return bool(head)
    return (
        not holds_latest(head)
        and is_same_request(request, in_progress(head))
        and spoken.count(request) == 1
    )


def _steps(messages: list[Message]) -> Iterator[tuple[int, Outcome]]:
    """Yield (position of the call's message, call with its result)."""
    for at, (asked, answered) in enumerate(pairwise(messages)):
        results = {result.tool_use_id: result for result in answered.tool_results}
        for block in asked.content:
            if isinstance(block, ToolUse) and block.id in results:
                result = results[block.id]
                yield at, Outcome(block.name, block.input, result.text, result.is_error)


def _said(messages: list[Message]) -> Iterator[tuple[int, str]]:
    for at, message in enumerate(messages):
        if message.role == "assistant" and message.text.strip():
            yield at, message.text
