"""The prompt: several lines, history at its edges, large pastes folded, commands completed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import TextArea

from app.ui.commands import Completion, completions
from app.ui.format import plural
from app.ui.keymap import Place, bindings
from app.ui.prompt_history import PromptHistory
from app.ui.widgets.completion_popup import CompletionPopup

FOLD_LINES = 10
FOLD_CHARS = 1_200
"""A paste with as many lines or characters is folded to a chip and sent whole."""
_CHIP = re.compile(r"\[pasted #(\d+): [^\]\n]*\]")


class PromptArea(TextArea):
    """The text area itself; it turns keys into the box's messages."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.PROMPT))

    class Wanted(Message):
        """A key asked for something that the box decides: ``what`` names it."""

        def __init__(self, what: str, number: int = 0) -> None:
            super().__init__()
            self.what = what
            self.number = number

    def __init__(self, placeholder: str) -> None:
        super().__init__(
            compact=True, highlight_cursor_line=False, soft_wrap=True, placeholder=placeholder
        )
        self.cursor_blink = False
        self._pastes: dict[int, str] = {}

    async def _on_key(self, event: events.Key) -> None:
        """Leave Enter to the bindings; a text area would take it for itself."""
        if event.key != "enter":
            await super()._on_key(event)
        event.prevent_default()

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.count("\n") + 1
        if lines >= FOLD_LINES or len(text) >= FOLD_CHARS:
            number = len(self._pastes) + 1
            self._pastes[number] = text
            size = plural(lines, "line") if lines > 1 else f"{len(text):,} characters"
            text = f"[pasted #{number}: {size}]"
        self.insert(text)
        self.focus()

    @property
    def whole_text(self) -> str:
        """The text with every folded paste in full."""
        return _CHIP.sub(lambda m: self._pastes.get(int(m[1]), m[0]), self.text)

    def set_text(self, text: str) -> None:
        """Replace everything; the cursor goes to the end."""
        self.text = text
        self.move_cursor(self.document.end)

    def set_whole_text(self, text: str) -> None:
        """Replace everything by a text that is folded again when it is large."""
        if text.count("\n") + 1 >= 4 * FOLD_LINES or len(text) >= 4 * FOLD_CHARS:
            number = len(self._pastes) + 1
            self._pastes[number] = text
            text = f"[pasted #{number}: {plural(text.count(chr(10)) + 1, 'line')}]"
        self.set_text(text)

    def empty(self) -> None:
        """Clear the text and forget its folded pastes."""
        self.text = ""
        self._pastes.clear()

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

    def action_delete_left(self) -> None:
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        chips = [m for m in _CHIP.finditer(before) if m.end() == column]
        if chips and self.selection.is_empty:
            self.delete((row, chips[-1].start()), (row, column))
        else:
            super().action_delete_left()

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


class PromptBox(Vertical):
    """Popup, text area and a border that says what goes on.

    Args:
        history: What was sent before.
        values: Further words for a command's argument, by the command's name.
    """

    class Submitted(Message):
        """The user sent a text; folded pastes are in it whole."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class ModeAsked(Message):
        """The next mode is wanted."""

    class QuitAsked(Message):
        """Ctrl+D on an empty prompt."""

    class PageAsked(Message):
        """The chat shall scroll by ``pages``."""

        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    class EditorAsked(Message):
        """The text shall be written in the user's editor."""

    def __init__(
        self,
        history: PromptHistory,
        values: Callable[[str], Iterable[str]],
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._history = history
        self._values = values
        self._searching = False

    def compose(self) -> ComposeResult:
        yield CompletionPopup()
        yield PromptArea("Ask, or / for commands")

    @property
    def area(self) -> PromptArea:
        """The text area."""
        return self.query_one(PromptArea)

    @property
    def popup(self) -> CompletionPopup:
        """The list of offers."""
        return self.query_one(CompletionPopup)

    def insert_typed(self, text: str) -> None:
        """Add what was typed elsewhere but meant for the prompt."""
        self.area.insert(text)

    def give_back(self, text: str) -> None:
        """Put a text in front of the draft."""
        draft = self.area.text
        self.area.set_whole_text(f"{text}\n{draft}" if draft.strip() else text)
        self.area.focus()

    def close_popup(self) -> bool:
        """Close the offers; return whether there were any."""
        was_open = self.popup.is_open
        self._searching = False
        self.popup.offer(())
        return was_open

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._offer()

    def _offer(self) -> None:
        """Offer what completes the text as it is now."""
        text = self.area.text
        if self._searching:
            self._offer_history()
            return
        name = text[1:].partition(" ")[0] if text.startswith("/") else ""
        self.popup.offer(completions(text, self._values(name) if " " in text else ()))

    def on_completion_popup_chosen(self, event: CompletionPopup.Chosen) -> None:
        event.stop()
        self._take(event.completion)
        self.area.focus()

    def on_prompt_area_wanted(self, event: PromptArea.Wanted) -> None:
        event.stop()
        if event.what in ("send", "complete"):
            self._offer()  # keys may come faster than the area tells its changes
        match event.what:
            case "send":
                self._send()
            case "complete" if self.popup.chosen is not None:
                self._take(self.popup.chosen)
            case "complete":
                self.screen.focus_next()
            case "up" | "down":
                self._move(-1 if event.what == "up" else 1)
            case "history":
                self._searching = True
                self._offer_history()
            case "page":
                self.post_message(self.PageAsked(event.number))
            case "mode":
                self.post_message(self.ModeAsked())
            case "editor":
                self.post_message(self.EditorAsked())
            case "quit":
                self.post_message(self.QuitAsked())

    def _send(self) -> None:
        chosen = self.popup.chosen
        if chosen is not None and self._searching:
            self._take(chosen)
            return
        text = self.area.whole_text
        if chosen is not None and (" " not in text or self.popup.was_moved):
            text = chosen.text.rstrip()
        if not text.strip():
            return
        self._history.add(text)
        self.area.empty()
        self.close_popup()
        self.post_message(self.Submitted(text))

    def _take(self, completion: Completion) -> None:
        self.close_popup()
        self.area.set_text(completion.text)

    def _move(self, step: int) -> None:
        area = self.area
        if self.popup.is_open:
            self.popup.move(step)
            return
        if step < 0 and not area.cursor_at_first_line:
            area.action_cursor_up()
            return
        if step > 0 and not area.cursor_at_last_line:
            area.action_cursor_down()
            return
        text = self._history.before(area.whole_text) if step < 0 else self._history.after()
        if text is not None:
            with self.prevent(TextArea.Changed):
                area.set_whole_text(text)

    def _offer_history(self) -> None:
        found = self._history.search(self.area.text)
        self.popup.offer([Completion(text, " ".join(text.split())[:200], "") for text in found])
