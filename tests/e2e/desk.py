"""One desk for a test: a home of its own, a project, an endpoint, and `pal` started in a terminal."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.ui.widgets.approval_panel import GRACE
from tests.e2e.endpoint import KEY, MODEL, Endpoint
from tests.e2e.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
READY = "Enter send"
"""Stands in the footer while nothing runs."""
MARGIN = "▌ ▁▂▃▄▅▆▇█"
"""What stands beside the chat's words: bars of messages and the scroll bar."""
BUSY = b"queue"
"""Is written to the footer when work begins: Enter then queues."""
EMPTY_PROMPT = "Ask, or / for commands"
GAUGE = re.compile(r"~?([\d,]+) / ([\d,]+) +(\d+)%")
ROW = re.compile(r"\[(micro_compact|auto_compact triggered|manual compact)\] (\d+) -> (\d+)")


def environment(home: Path, **more: str) -> dict[str, str]:
    """An environment that holds nothing of the one the tests run in but the path."""
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "GIT_CONFIG_NOSYSTEM": "1",
        **more,
    }


@dataclass
class Desk:
    """Where one user works."""

    project: Path
    home: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def transcripts(self) -> Path:
        return self.project / ".transcripts"

    def pal(
        self, *arguments: str, columns: int = 110, rows: int = 46, env: Mapping[str, str] = {}
    ) -> Terminal:
        """Start `pal` in the project folder."""
        return Terminal(
            [sys.executable, "-m", "app", *arguments],
            cwd=self.project,
            env=environment(self.home, **{**self.env, **env}),
            columns=columns,
            rows=rows,
        )

    def use(self, endpoint: Endpoint, **settings: str) -> Desk:
        """Send messages to an endpoint from now on; further settings by their environment names."""
        endpoint.watched = self.transcripts
        self.env |= {
            "ANTHROPIC_BASE_URL": endpoint.url,
            "ANTHROPIC_API_KEY": KEY,
            "MODEL_ID": MODEL,
            **settings,
        }
        return self

    def session(self) -> Path:
        """The folder of the only session, or of the newest."""
        return max(path for path in self.transcripts.iterdir() if path.is_dir())

    def segments(self) -> list[list[dict[str, Any]]]:
        """The lines of each transcript segment."""
        files = sorted(self.session().glob("transcript_*.jsonl"))
        return [[json.loads(line) for line in file.read_text().splitlines()] for file in files]

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        """The lines of the events file, of one kind or all."""
        lines = (self.session() / "events.jsonl").read_text().splitlines()
        found = [json.loads(line) for line in lines]
        return [e for e in found if not kind or kind in (e.get("kind"), e.get("mark"))]

    def reports(self, layer: str = "") -> list[dict[str, Any]]:
        """Reports of the layers as the record has them."""
        found = [event["data"] for event in self.events("report")]
        return [report for report in found if not layer or report["layer"] == layer]


def chat(terminal: Terminal) -> str:
    """The chat as one line of words, without the log beside it."""
    return chat_of(terminal.text)


def chat_of(screen: str) -> str:
    """The chat in the text of a screen, as one line of words."""
    return " ".join(line.split("│")[0].strip(MARGIN) for line in screen.splitlines())


def used(terminal: Terminal) -> int:
    """Tokens that the gauge shows."""
    found = GAUGE.search(terminal.text)
    assert found, terminal.text
    return int(found[1].replace(",", ""))


def opened(terminal: Terminal) -> Terminal:
    """Read until the session is open."""
    terminal.until(
        lambda: bool(GAUGE.search(terminal.text)) and READY in terminal.text, "the gauge"
    )
    return terminal


def finish(terminal: Terminal, seconds: float = 60.0) -> None:
    """Read until nothing runs any more: the footer says so and nothing moves."""
    terminal.until(
        lambda: READY in terminal.text and not terminal.pump(0.2), "an idle screen", seconds=seconds
    )


def ask(terminal: Terminal, text: str, seconds: float = 60.0) -> None:
    """Send a message or command and read until all is done that it caused."""
    mark = len(terminal.raw)
    send(terminal, text)
    begun = time.monotonic() + (0.5 if text.startswith("/") else 2.0)  # not every command is work
    terminal.until(lambda: BUSY in terminal.raw[mark:] or time.monotonic() > begun)
    finish(terminal, seconds)


def answer_question(terminal: Terminal, *keys: str) -> None:
    """Answer the question that is asked, after the time in which keys still belong to the prompt."""
    terminal.wait_for("─ question", "asked because")
    terminal.read_for(GRACE + 0.1)
    terminal.press(*keys)


def send(terminal: Terminal, text: str) -> None:
    """Send a message or command and read until the prompt is empty again."""
    terminal.say(text)
    terminal.wait_for(EMPTY_PROMPT)
