"""The messages that wait for the agent, to edit or remove them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.core.visible_text import one_line
from app.ui.keymap import Place, bindings
from app.ui.screens.sheet import Sheet
from app.ui.widgets.key_footer import Hint


class QueueScreen(Sheet[int]):
    """Returns the place of the message that shall come back to the prompt, or None.

    Args:
        texts: Returns what waits now, oldest first.
        remove: Takes the message at a place out of the queue, and calls back when that is done.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.QUEUE))

    def __init__(
        self, texts: Callable[[], Sequence[str]], remove: Callable[[int, Callable[[], None]], None]
    ) -> None:
        super().__init__()
        self._texts = texts
        self._remove = remove

    def title_text(self) -> str:
        return "queued messages"

    def hint_row(self) -> tuple[Hint, ...]:
        return (
            Hint("Enter", "edit"),
            Hint("Del", "remove", "remove"),
            Hint("Esc", "back", "close"),
        )

    def body(self) -> Iterable[Widget]:
        yield Static(id="note", markup=False)
        yield OptionList(markup=False, compact=True)

    def on_mount(self) -> None:
        self._fill()
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)

    def action_remove(self) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self._remove(at, self._fill)

    def _fill(self) -> None:
        if not self.is_attached:
            return
        texts, options = self._texts(), self.query_one(OptionList)
        at = options.highlighted or 0
        options.set_options(Option(one_line(text, 400)) for text in texts)
        options.highlighted = min(at, len(texts) - 1) if texts else None
        note = "They go to the model at its next step." if texts else "Nothing waits."
        self.query_one("#note", Static).update(Content.styled(note, "$text-muted"))
