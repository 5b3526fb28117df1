"""The text area of the prompt: chips that act as one character, pastes that are folded, keys that the box decides."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from app.core.visible_text import visible_text
from app.errors import ToolError
from app.ui.keymap import BY_ID, NOT_MOVED, Place, actions, bindings
from app.ui.prompt.folded import CHIP, REFOLD, Folded

PICTURE_NAME = "clipboard.png"


class PromptArea(TextArea):
    """The text area itself; it turns keys into the box's messages.

    Args:
        placeholder: What an empty prompt says.
        folder: Where relative paths of pasted pictures begin.
        decide: Does at once what a key asked for and the box decides: its name, and a number for some.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.PROMPT))

    class Problem(Message):
        """Something could not be put into the prompt."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, placeholder: str, folder: Path, decide: Callable[[str, int], None]) -> None:
        super().__init__(
            compact=True, highlight_cursor_line=False, soft_wrap=True, placeholder=placeholder
        )
        self.cursor_blink = False
        self.folded = Folded()
        self._folder = folder
        self._decide = decide

    async def _on_key(self, event: events.Key) -> None:
        """Do what a key is bound to here and now.

        Keys that travel up to the application are done after letters that were typed behind them.
        """
        event.prevent_default()
        action = self._action_of(event.key)
        if action is not None:
            event.stop()
            await self.run_action(action)
        else:
            await super()._on_key(event)

    def _action_of(self, key: str) -> str | None:
        moved: Mapping[str, str] = getattr(self.app, "moved_keys", NOT_MOVED)
        own = actions(Place.PROMPT, moved).get(key)
        if own is not None:
            return own
        inherited = self._bindings.key_to_bindings.get(key, ())
        return next((b.action for b in inherited if b.id not in BY_ID), None)

    # Pastes and pictures

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        self.focus()
        if not event.text:  # what some terminals send when the clipboard holds a picture
            self.action_paste()
            return
        text = visible_text(event.text, progress=False)
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

    def get_line(self, line_index: int) -> Text:
        """Return a line with its chips set apart."""
        line = super().get_line(line_index)
        for chip in CHIP.finditer(line.plain):
            line.stylize("bold", chip.start(), chip.end())
        return line

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
        self._decide("send", 0)

    def action_newline(self) -> None:
        self.insert("\n")

    def action_complete(self) -> None:
        self._decide("complete", 0)

    def action_up(self) -> None:
        self._decide("up", 0)

    def action_down(self) -> None:
        self._decide("down", 0)

    def action_search_history(self) -> None:
        self._decide("history", 0)

    def action_delete_or_quit(self) -> None:
        if self.text:
            self.action_delete_right()
        else:
            self._decide("quit", 0)

    def action_chat_page(self, step: int) -> None:
        self._decide("page", step)

    def action_next_mode(self) -> None:
        self._decide("mode", 0)

    def action_editor(self) -> None:
        self._decide("editor", 0)

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
