"""A small app around the chat pane, and what a person would read on its screen."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import App, ComposeResult
from textual.widgets import Input

from app.ui.chat.entries import TextSection
from app.ui.stylesheets import sheets
from app.ui.themes import DARK, OWN
from app.ui.widgets.chat_pane import ChatPane


class ChatApp(App[None]):
    """The pane above an input that has the focus, as in the real screen."""

    CSS_PATH = [path for path in sheets() if path.name == "chat_pane.tcss"]

    def __init__(self, theme: str = DARK.name) -> None:
        super().__init__()
        self._first_theme = theme
        self.dividers: list[ChatPane.DividerOpened] = []
        self.older: list[ChatPane.OlderWanted] = []
        self.tools: list[ChatPane.ToolOpened] = []
        self.opened: list[str] = []

    def compose(self) -> ComposeResult:
        yield ChatPane()
        yield Input()

    def on_mount(self) -> None:
        for theme in OWN:
            self.register_theme(theme)
        self.theme = self._first_theme
        self.query_one(Input).focus()

    @property
    def pane(self) -> ChatPane:
        return self.query_one(ChatPane)

    def on_chat_pane_divider_opened(self, event: ChatPane.DividerOpened) -> None:
        self.dividers.append(event)

    def on_chat_pane_older_wanted(self, event: ChatPane.OlderWanted) -> None:
        self.older.append(event)

    def on_chat_pane_tool_opened(self, event: ChatPane.ToolOpened) -> None:
        self.tools.append(event)

    def on_chat_pane_copied(self, event: ChatPane.Copied) -> None:
        self.copy_to_clipboard(event.text)

    def open_url(self, url: str, *, new_tab: bool = True) -> None:
        self.opened.append(url)


def screen_lines(pane: ChatPane) -> list[str]:
    """Return the rows of the pane as text, drawn up to date."""
    pane.draw_now()
    return [pane.render_line(y).text.rstrip() for y in range(pane.size.height)]


def screen_text(pane: ChatPane) -> str:
    return "\n".join(screen_lines(pane))


def all_rows(pane: ChatPane) -> list[str]:
    """Return every row of the chat, in view or not."""
    pane.draw_now()
    transcript = pane.transcript
    return [
        "".join(segment.text for segment in row.segments).rstrip()
        for index in range(len(transcript))
        for row in transcript.rows(index)
    ]


def with_chat(width: int = 80, height: int = 24) -> Callable[..., Callable[..., Awaitable[None]]]:
    """Run a test inside a chat app; it gets ``pilot`` and ``pane`` besides its own arguments."""

    def decorate(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def run(**arguments: Any) -> None:
            async with ChatApp().run_test(size=(width, height)) as pilot:
                await pilot.pause()
                given: dict[str, Any] = {"pilot": pilot, "pane": pilot.app.pane}
                wanted = inspect.signature(test).parameters
                await test(**arguments, **{k: v for k, v in given.items() if k in wanted})

        own = [
            p
            for p in inspect.signature(test).parameters.values()
            if p.name not in ("pilot", "pane")
        ]
        run.__name__, run.__doc__ = test.__name__, test.__doc__
        run.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
        return run

    return decorate


def chat_markdown(pane: ChatPane) -> str:
    """Return everything that the chat holds, folded or not, as Markdown."""
    pane.before_draw()
    parts: list[str] = []
    group = 0
    for section in pane.transcript.sections:
        if isinstance(section, TextSection) and section.group == group and parts:
            parts[-1] += section.source
            continue
        group = section.group if isinstance(section, TextSection) else 0
        if section.source.strip():
            parts.append(section.source)
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"
