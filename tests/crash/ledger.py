"""What a run acknowledged: on its output, on its screen, and in the requests that left. All of it must be in the record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TAG = re.compile(r"\(job (\d+)\)")
"""Each text that a test sends holds a number of its own."""
SUMMARY_CALL = "The conversation is about to be compressed"
JsonObject = dict[str, Any]


@dataclass
class Ledger:
    """Acknowledgements of all runs of one session."""

    said: dict[str, str] = field(default_factory=dict)
    """The user's words by message id."""
    jobs: set[str] = field(default_factory=set)
    """Numbers of the user's messages that stood on the screen, as sent or as waiting."""
    results: dict[str, str] = field(default_factory=dict)
    """Texts of finished calls by ``tool_use_id``."""
    answers: list[str] = field(default_factory=list)
    """Last words of ended turns."""
    compactions: int = 0
    sizes: set[tuple[str, str]] = field(default_factory=set)
    """Tokens before and after, of compactions that stood on the screen."""
    bodies: list[JsonObject] = field(default_factory=list)
    """Requests that left."""

    def hear(self, out: Path) -> list[JsonObject]:
        """Take what a run printed as stream-json; return its whole lines."""
        heard = list(json_lines(out))
        for event in heard:
            match event:
                case {"type": "turn_started", "message": str(id_), "text": str(text)}:
                    self.said[id_] = text
                case {"type": "tool_finished", "id": str(id_), "text": str(text)}:
                    self.results[id_] = text
                case {
                    "type": "compacted",
                    "layer": "auto" | "manual",
                    "outcome": "applied",
                }:
                    self.compactions += 1
                case {"type": "turn_ended", "end": "done", "text": str(text)}:
                    self.answers.append(text)
        return heard

    def see(self, screen: str) -> None:
        """Take what stood on the screen of the app."""
        lines = screen.splitlines()
        chat = " ".join(
            line.split("│")[0].strip("▌ ") for line in lines if line.lstrip().startswith("▌")
        )
        waiting = " ".join(line for line in lines if "↳ queued" in line)
        self.jobs |= set(TAG.findall(chat)) | set(TAG.findall(waiting))
        rows = re.findall(r"\[(?:auto_compact triggered|manual compact)\] (\d+) -> (\d+)", screen)
        self.sizes |= set(rows)

    def intercept(self, bodies: Path) -> list[JsonObject]:
        """Take the requests that a run sent; return them."""
        sent = list(json_lines(bodies))
        self.bodies += sent
        return sent


def json_lines(path: Path) -> Iterator[JsonObject]:
    """Yield the objects of a file's whole lines."""
    if path.exists():
        for line in path.read_bytes().split(b"\n")[:-1]:
            if line.strip():
                yield json.loads(line)


def is_summary_call(body: JsonObject) -> bool:
    return SUMMARY_CALL in json.dumps(body["messages"][-1])


def blocks(message: JsonObject) -> list[JsonObject]:
    """The content blocks of a message; plain text is one."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def text_of(result: JsonObject) -> str:
    """The text of a tool result."""
    content = result.get("content", "")
    parts: Iterable[Any] = [content] if isinstance(content, str) else content
    return "\n".join(p if isinstance(p, str) else p.get("text", "") for p in parts)
