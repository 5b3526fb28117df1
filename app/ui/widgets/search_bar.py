"""The search bar under the chat: what is searched for, and which of how many places is in view."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from app.ui.chat.finding import Finding
from app.ui.format import plural
from app.ui.keymap import Place, bindings


class SearchBar(Horizontal):
    """One row with a text; it says what is wanted and shows what was found."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.SEARCH))

    class Changed(Message):
        """Another text is searched for."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Step(Message):
        """The next place is wanted."""

        def __init__(self, *, backwards: bool) -> None:
            super().__init__()
            self.backwards = backwards

    class Closed(Message):
        """The search is over."""

        def __init__(self, *, stay: bool) -> None:
            super().__init__()
            self.stay = stay

    def compose(self) -> ComposeResult:
        yield Static("find ", id="search-label", markup=False)
        area = Input(placeholder="words in the chat, whatever their case", compact=True)
        area.cursor_blink = False
        yield area
        yield Static(id="search-found", markup=False)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def take_keys(self) -> None:
        """Let the keyboard write here again, over what was searched for."""
        area = self.query_one(Input)
        area.focus()
        area.select_all()

    def show_finding(self, finding: Finding, *, reading: bool) -> None:
        """Say where the search stands.

        Args:
            finding: That.
            reading: Whether older messages are still being read from the record.
        """
        empty = not self.query_one(Input).value
        said = Content("") if empty else Content.styled(*found_words(finding))
        if reading:
            said = Content.assemble(said, (" · reading older…", "$text-muted"))
        self.query_one("#search-found", Static).update(said)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_older()

    def action_older(self) -> None:
        self.post_message(self.Step(backwards=True))

    def action_newer(self) -> None:
        self.post_message(self.Step(backwards=False))

    def action_stay(self) -> None:
        self.post_message(self.Closed(stay=True))

    def action_close(self) -> None:
        self.post_message(self.Closed(stay=False))


def found_words(finding: Finding) -> tuple[str, str]:
    """Return what the bar says of a search, and its style."""
    if not finding.places:
        return "not found", "$text-warning"
    if not finding.place:
        return plural(finding.places, "place"), "$text-muted"
    return f"{finding.place:,} of {finding.places:,}", "$foreground"
