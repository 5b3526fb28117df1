"""Earlier sessions of the folder, to go on with one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime

from textual.content import Content
from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from app.core.visible_text import one_line
from app.errors import PalError
from app.ui.format import plural, size
from app.ui.screens.sheet import Sheet
from app.ui.widgets.key_footer import Hint
from app.ui.wiring import SessionCard


class ResumeScreen(Sheet[str]):
    """Returns the name of the chosen session, or None.

    Args:
        list_sessions: Reads the sessions, newest first.
        current: Name of the open session; it is left out.
    """

    def __init__(
        self, list_sessions: Callable[[], Awaitable[Sequence[SessionCard]]], current: str
    ) -> None:
        super().__init__()
        self._list = list_sessions
        self._current = current
        self._cards: list[SessionCard] = []

    def title_text(self) -> str:
        return "resume a session"

    def hint_row(self) -> tuple[Hint, ...]:
        return (
            Hint("type", "to search"),
            Hint("↑↓", "choose"),
            Hint("Enter", "resume"),
            Hint("Esc", "back", "close"),
        )

    def body(self) -> Iterable[Widget]:
        yield Input(placeholder="search", compact=True)
        yield Static("reading…", id="note", markup=False)
        yield OptionList(markup=False, compact=True)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self.run_worker(self._load())

    async def _load(self) -> None:
        try:
            self._cards = [card for card in await self._list() if card.name != self._current]
        except PalError as error:
            self.query_one("#note", Static).update(Content.styled(str(error), "$text-error"))
            return
        self._fill("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._fill(event.value)

    def on_key(self, event: Key) -> None:
        """Let the arrows choose while the keyboard stays in the search line."""
        options = self.query_one(OptionList)
        if event.key == "down":
            options.action_cursor_down()
        elif event.key == "up":
            options.action_cursor_up()

    def on_input_submitted(self) -> None:
        option = self.query_one(OptionList).highlighted_option
        if option is not None:
            self.dismiss(option.id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def _fill(self, word: str) -> None:
        wanted = word.casefold()
        found = [
            c for c in self._cards if wanted in f"{c.name} {c.first_words} {c.model}".casefold()
        ]
        options = self.query_one(OptionList)
        options.set_options(Option(_row(card), id=card.name) for card in found)
        options.highlighted = 0 if found else None
        note = (
            plural(len(found), "session")
            if self._cards
            else "There is no earlier session in this folder."
        )
        self.query_one("#note", Static).update(Content.styled(note, "$text-muted"))


def _row(card: SessionCard) -> Content:
    facts = [plural(card.messages, "message")]
    if card.compactions:
        facts.append(plural(card.compactions, "compaction"))
    if card.size:
        facts.append(size(card.size))
    if card.model:
        facts.append(one_line(card.model, 40))
    first = one_line(card.first_words, 200) or "(nothing said yet)"
    return Content.assemble(
        (f"{_when(card.time)}  ", "$text-primary"),
        first,
        "\n",
        (f"{'':18}{' · '.join(facts)}", "$text-muted"),
    )


def _when(time: str) -> str:
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return f"{time[:16]:16}"
