"""The prompt: several lines, history, completion of commands and files, and a draft that outlives the program."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from app.ui.commands import Completion, Value, completions
from app.ui.footer_hints import Offers
from app.ui.later import later
from app.ui.prompt.drafts import Draft, Drafts
from app.ui.prompt.mentions import Mention, mention_before, written
from app.ui.prompt_history import PromptHistory
from app.ui.widgets.completion_popup import CompletionPopup
from app.ui.widgets.prompt_area import PromptArea

if TYPE_CHECKING:
    from app.ui.prompt.file_index import FileIndex

PLACEHOLDER = "Ask, or / for commands"
DRAFT_SECONDS = 0.3
"""How long after a key the draft is kept; a key that follows sooner does not put it off."""
FILES = 40
"""Files offered for a mention."""
FEW = 5_000
"""Files up to which a search is so quick that no thread is needed."""
SEARCHED = 50
"""Earlier messages offered."""


class PromptBox(Vertical):
    """Popup and text area.

    Args:
        history: What was sent before.
        values: Further words for a command's argument, by the command's name.
        folder: The project folder.
        drafts: Where the unsent text is kept; None keeps it nowhere.
    """

    class Submitted(Message):
        """The user sent a text; folded pastes are in it whole, chips of pictures stand for them."""

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

    class OffersChanged(Message):
        """Something else is offered above the prompt, or nothing any more."""

    class DraftFound(Message):
        """What an earlier run left unsent stands in the prompt."""

    class _FilesRead(Message):
        """There are more files to find."""

    def __init__(
        self,
        history: PromptHistory,
        values: Callable[[str], Iterable[Value]],
        folder: Path,
        drafts: Drafts | None = None,
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._history = history
        self._values = values
        self._folder = folder
        self._drafts = drafts
        self._files: FileIndex | None = None
        self._searching = False
        self._unsearched = ""
        """What stood in the prompt before the history was searched."""
        self._saving = asyncio.Lock()
        self._save_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield CompletionPopup()
        yield PromptArea(PLACEHOLDER, self._folder, self._decide)

    def on_mount(self) -> None:
        if self._drafts is not None:
            self.call_after_refresh(lambda: self.run_worker(later(self._take_draft), group="draft"))

    @property
    def area(self) -> PromptArea:
        """The text area."""
        return self.query_one(PromptArea)

    @property
    def popup(self) -> CompletionPopup:
        """The list of offers."""
        return self.query_one(CompletionPopup)

    @property
    def offers(self) -> Offers:
        """What is offered above the prompt."""
        if self._searching:
            return Offers.HISTORY
        return Offers.COMPLETIONS if self.popup.is_open else Offers.NOTHING

    def insert_typed(self, text: str) -> None:
        """Add what was typed elsewhere but meant for the prompt."""
        self.area.insert(text)

    def give_back(self, text: str) -> None:
        """Put a text in front of the draft."""
        draft = self.area.text
        self.area.set_whole_text(f"{text}\n{draft}" if draft.strip() else text)
        self.area.focus()

    def step_back(self) -> bool:
        """Close the offers, and put back what stood there before a search; return whether there was anything."""
        searched = self._searching
        closed = self.close_popup()
        if searched:
            self.area.set_text(self._unsearched)
            self.close_popup()
        return closed or searched

    def close_popup(self) -> bool:
        """Close the offers; return whether there were any."""
        was_open = self.popup.is_open
        if self._searching:
            self._searching = False
            self.post_message(self.OffersChanged())
        self.popup.offer(())
        return was_open

    # The draft

    async def _take_draft(self) -> None:
        if self._drafts is None:
            return
        draft = await asyncio.to_thread(self._drafts.take)
        if draft.text.strip():
            self.area.folded.restore(dict(draft.pastes))
            self.give_back(draft.text)
            self.post_message(self.DraftFound())

    def _draft_changed(self) -> None:
        if self._drafts is not None and self._save_timer is None:
            self._save_timer = self.set_timer(DRAFT_SECONDS, self._begin_saving)

    def _begin_saving(self) -> None:
        self._save_timer = None
        self.run_worker(later(self.keep_draft), group="draft")

    async def keep_draft(self) -> None:
        """Write the draft as it is now; one write follows another."""
        if self._drafts is None:
            return
        async with self._saving:
            text = self.area.text
            draft = Draft(text, self.area.folded.pastes(text))
            await asyncio.to_thread(self._drafts.save, draft)

    # Offers

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.set_class(self.area.text.startswith("!"), "-shell")
        self._draft_changed()
        self.offer()

    def offer(self, *, at_once: bool = False) -> None:
        """Offer what completes the text as it is now; a large folder is searched in a thread unless ``at_once``."""
        text = self.area.text
        if self._searching:
            self._offer_history()
        elif text.startswith("/") and "\n" not in text:
            name = text[1:].partition(" ")[0]
            self.popup.offer(completions(text, self._values(name) if " " in text else ()))
        else:
            self._offer_files(at_once=at_once)

    def _offer_files(self, *, at_once: bool = False) -> None:
        mention = self._mention()
        if mention is None:
            self.popup.offer(())
            return
        files = self._index()
        files.renew(self._tell_files)
        if at_once or len(files) <= FEW:
            self._show_files(mention, files.search(mention.query, FILES))
        else:
            self.run_worker(later(self._search_files, mention), group="files", exclusive=True)

    async def _search_files(self, mention: Mention) -> None:
        found = await asyncio.to_thread(self._index().search, mention.query, FILES)
        if self._mention() == mention and not self._searching:
            self._show_files(mention, found)

    def _show_files(self, mention: Mention, found: Iterable[str]) -> None:
        offers = [Completion(written(p), p, "", (mention.start, mention.end)) for p in found]
        self.popup.offer(offers, "reading the folder…" if self._index().is_reading else "")

    def _mention(self) -> Mention | None:
        row, column = self.area.cursor_location
        return mention_before(self.area.document.get_line(row)[:column])

    def _index(self) -> FileIndex:
        """Return the index of files, made with the first mention."""
        if self._files is None:
            from app.ui.prompt.file_index import FileIndex

            self._files = FileIndex(self._folder)
        return self._files

    def _tell_files(self) -> None:
        """Say in the reading thread that there is more; the program may have ended meanwhile."""
        with suppress(RuntimeError):
            self.post_message(self._FilesRead())

    def on_prompt_box__files_read(self, event: _FilesRead) -> None:
        event.stop()
        if not self._searching and not self.area.text.startswith("/"):
            self._offer_files()

    def _offer_history(self) -> None:
        found = self._history.search(self.area.text, SEARCHED)
        self.popup.offer([Completion(text, " ".join(text.split())[:200], "") for text in found])

    def on_completion_popup_toggled(self, event: CompletionPopup.Toggled) -> None:
        event.stop()
        self.post_message(self.OffersChanged())

    def on_completion_popup_chosen(self, event: CompletionPopup.Chosen) -> None:
        event.stop()
        self._take(event.completion)
        self.area.focus()

    def _take(self, completion: Completion) -> None:
        self.close_popup()
        if completion.span is None:
            self.area.set_whole_text(completion.text)
            return
        row = self.area.cursor_location[0]
        first, last = completion.span
        done = self.area.replace(completion.text, (row, first), (row, last))
        self.area.move_cursor(done.end_location)

    # Keys

    def _decide(self, what: str, number: int) -> None:
        """Do what a key of the text area asked for, before the next key is looked at."""
        if what in ("send", "complete"):
            self.offer(at_once=True)  # keys may come faster than the area tells its changes
        match what:
            case "send":
                self._send()
            case "complete" if self.popup.chosen is not None:
                self._take(self.popup.chosen)
            case "complete":
                self.screen.focus_next()
            case "up" | "down":
                self._move(-1 if what == "up" else 1)
            case "history" if self._searching:
                self.popup.move(1)
            case "history":
                self._searching, self._unsearched = True, self.area.text
                self._offer_history()
                self.post_message(self.OffersChanged())
            case "page":
                self.post_message(self.PageAsked(number))
            case "mode":
                self.post_message(self.ModeAsked())
            case "editor":
                self.post_message(self.EditorAsked())
            case "quit":
                self.post_message(self.QuitAsked())

    def _send(self) -> None:
        chosen = self.popup.chosen
        if chosen is not None and (self._searching or self._completes_more(chosen)):
            self._take(chosen)
            return
        text = self.area.whole_text
        if chosen is not None and chosen.span is None and (" " not in text or self.popup.was_moved):
            text = chosen.text.rstrip()
        if not text.strip():
            return
        self._history.add(text)
        self.area.empty()
        self.close_popup()
        self._begin_saving()
        self.post_message(self.Submitted(text))

    def _completes_more(self, chosen: Completion) -> bool:
        """Whether the offer for a mention says more than what was typed, so that Enter takes it instead of sending."""
        if chosen.span is None:
            return False
        row, _ = self.area.cursor_location
        typed = self.area.document.get_line(row)[slice(*chosen.span)]
        return len(typed) > 1 and typed.rstrip('"') != chosen.text.rstrip('" ')

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
            self._draft_changed()
