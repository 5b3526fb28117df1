"""The text area of the prompt: chips that act as one character, pastes that are folded, keys that the box decides."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from app.errors import ToolError
from app.tools.output import clean
from app.ui.keymap import Place, bindings
from app.ui.prompt.folded import CHIP, REFOLD, Folded

PICTURE_NAME = "clipboard.png"


class PromptArea(TextArea):
    """The text area itself; it turns keys into the box's messages.

    Args:
        placeholder: What an empty prompt says.
        folder: Where relative paths of pasted pictures begin.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.PROMPT))

    class Wanted(Message):
        """A key asked for something that the box decides: ``what`` names it."""

        def __init__(self, what: str, number: int = 0) -> None:
            super().__init__()
            self.what = what
            self.number = number

    class Problem(Message):
        """Something could not be put into the prompt."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, placeholder: str, folder: Path) -> None:
        super().__init__(
            compact=True, highlight_cursor_line=False, soft_wrap=True, placeholder=placeholder
        )
        self.cursor_blink = False
        self.folded = Folded()
        self._folder = folder

    async def _on_key(self, event: events.Key) -> None:
        """Leave Enter to the bindings; a text area would take it for itself."""
        if event.key != "enter":
            await super()._on_key(event)
        event.prevent_default()

    # Pastes and pictures

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        self.focus()
        if not event.text:  # what some terminals send when the clipboard holds a picture
            self.action_paste()
            return
        text = clean(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        from app.ui.prompt.pictures import dropped_pictures

        paths = dropped_pictures(text, self._folder)
        if paths:
            self.run_worker(self._add_pictures(paths), group="pictures")
        else:
            self._put(self.folded.folded_if_large(text))

    def action_paste(self) -> None:
        """Paste the system clipboard's picture, or else what was copied or cut here."""
        self.run_worker(self._paste_clipboard(), group="pictures")

    async def _paste_clipboard(self) -> None:
        from app.ui.prompt.pictures import clipboard_picture, picture_of

        data = await asyncio.to_thread(clipboard_picture)
        if data is None:
            super().action_paste()
            return
        try:
            picture = await asyncio.to_thread(picture_of, data, PICTURE_NAME)
        except ToolError as error:
            self.post_message(self.Problem(str(error)))
        else:
            self._put(self.folded.picture(picture) + " ")

    async def _add_pictures(self, paths: list[Path]) -> None:
        from app.ui.prompt.pictures import read_picture

        for path in paths:
            try:
                picture = await asyncio.to_thread(read_picture, path)
            except ToolError as error:
                self._put(f"{path} ")
                self.post_message(self.Problem(str(error)))
            else:
                self._put(self.folded.picture(picture) + " ")

    def _put(self, text: str) -> None:
        """Insert a text in the place of what is selected."""
        done = self.replace(text, *self.selection, maintain_selection_offset=False)
        self.move_cursor(done.end_location)

    # The text

    @property
    def whole_text(self) -> str:
        """The text with every folded paste in full."""
        return self.folded.whole(self.text)

    def set_text(self, text: str) -> None:
        """Replace everything; the cursor goes to the end, and undo brings back what was there."""
        self.replace(text, self.document.start, self.document.end)
        self.move_cursor(self.document.end)

    def set_whole_text(self, text: str) -> None:
        """Replace everything by a text that is folded again when it is very large."""
        self.set_text(self.folded.folded_if_large(text, REFOLD))

    def empty(self) -> None:
        """Clear the text; what was folded stays known, for a text that comes back."""
        self.text = ""

    # Keys

    def action_send(self) -> None:
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if line[:column].endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column))
            return
        self.post_message(self.Wanted("send"))

    def action_newline(self) -> None:
        self.insert("\n")

    def action_complete(self) -> None:
        self.post_message(self.Wanted("complete"))

    def action_up(self) -> None:
        self.post_message(self.Wanted("up"))

    def action_down(self) -> None:
        self.post_message(self.Wanted("down"))

    def action_search_history(self) -> None:
        self.post_message(self.Wanted("history"))

    def action_delete_or_quit(self) -> None:
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.Wanted("quit"))

    def action_chat_page(self, step: int) -> None:
        self.post_message(self.Wanted("page", step))

    def action_next_mode(self) -> None:
        self.post_message(self.Wanted("mode"))

    def action_editor(self) -> None:
        self.post_message(self.Wanted("editor"))

    def action_unfold(self) -> None:
        """Put the text of the chip at the cursor, or of the nearest one before it, in the chip's place."""
        row, column = self.cursor_location
        chips = [m for m in CHIP.finditer(self.document.get_line(row)) if m.start() <= column]
        for chip in reversed(chips):
            text = self.folded.whole(chip[0])
            if text != chip[0]:
                self.replace(text, (row, chip.start()), (row, chip.end()))
                return

    # A chip is one character

    def action_delete_left(self) -> None:
        if not self._delete_chip(before=True):
            super().action_delete_left()

    def action_delete_word_left(self) -> None:
        if not self._delete_chip(before=True):
            super().action_delete_word_left()

    def action_delete_right(self) -> None:
        if not self._delete_chip(before=False):
            super().action_delete_right()

    def action_delete_word_right(self) -> None:
        if not self._delete_chip(before=False):
            super().action_delete_word_right()

    def watch_selection(self, previous: Selection, selection: Selection) -> None:
        """Keep the cursor out of chips: it goes over them as over one character."""
        row, column = selection.end
        chip = self._chip(row, lambda m: m.start() < column < m.end())
        if chip is not None and selection.is_empty:
            came_from_left = previous.end <= (row, chip.start())
            self.move_cursor((row, chip.end() if came_from_left else chip.start()))

    def _delete_chip(self, *, before: bool) -> bool:
        row, column = self.cursor_location
        chip = self._chip(row, lambda m: column == (m.end() if before else m.start()))
        if chip is None or not self.selection.is_empty:
            return False
        self.delete((row, chip.start()), (row, chip.end()))
        return True

    def _chip(self, row: int, fits: Callable[[re.Match[str]], bool]) -> re.Match[str] | None:
        return next((m for m in CHIP.finditer(self.document.get_line(row)) if fits(m)), None)
