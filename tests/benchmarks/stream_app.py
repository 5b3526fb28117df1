"""An app that draws one streamed answer and writes down what that cost: our chat pane, or Textual's Markdown stream.

Called as ``python stream_app.py pane|textual SEED CHARS RESULT``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Input, Markdown

from app.ui.stylesheets import sheets
from app.ui.themes import DARK, OWN
from app.ui.widgets.chat_pane import ChatPane
from tests.benchmarks.sessions import markdown

DELTA = 8
GAP = 0.005
"""Seconds between deltas: 1,600 characters a second."""


class StreamApp(App[None]):
    CSS_PATH = [path for path in sheets() if path.name == "chat_pane.tcss"]

    def __init__(self, ours: bool, text: str, result: Path) -> None:
        super().__init__()
        self.ours = ours
        self.text = text
        self.result = result
        for theme in OWN:
            self.register_theme(theme)
        self.theme = DARK.name

    def compose(self) -> ComposeResult:
        if self.ours:
            yield ChatPane()
        else:
            with VerticalScroll():
                yield Markdown()
        yield Input()

    def on_mount(self) -> None:
        if not self.ours:
            self.query_one(VerticalScroll).anchor()
        self.set_timer(0.3, self._begin)

    def _begin(self) -> None:
        self.run_worker(self._stream())

    async def _stream(self) -> None:
        deltas = [self.text[at : at + DELTA] for at in range(0, len(self.text), DELTA)]
        begin_cpu, begin, late = time.process_time(), time.monotonic(), []
        if self.ours:
            pane = self.query_one(ChatPane)
            pane.begin_answer()
        else:
            stream = Markdown.get_stream(self.query_one(Markdown))
        for at, delta in enumerate(deltas, 1):
            if self.ours:
                pane.append_text(delta)
            else:
                await stream.write(delta)
            due = begin + at * GAP
            before = time.monotonic()
            await asyncio.sleep(max(0.0, due - before))
            late.append(time.monotonic() - max(due, before))
        if self.ours:
            pane.finish_answer()
        else:
            await stream.stop()
        done: asyncio.Event = asyncio.Event()
        self.call_after_refresh(done.set)
        await done.wait()
        figures = {
            "cpu": time.process_time() - begin_cpu,
            "wall": time.monotonic() - begin,
            "late": late,
        }
        self.result.write_text(json.dumps(figures), encoding="utf-8")
        self.exit()


if __name__ == "__main__":
    kind, seed, chars, result = sys.argv[1:]
    StreamApp(kind == "pane", markdown(int(seed), int(chars)), Path(result)).run()
