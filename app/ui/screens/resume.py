"""Earlier sessions of the folder: search all that was ever said, go on with one, copy, name, export or delete it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from app.core.figures import size
from app.core.visible_text import one_line
from app.errors import PalError
from app.ui.format import plural
from app.ui.keymap import Place, bindings
from app.ui.screens.sheet import Sheet
from app.ui.session_rows import called, card_has, session_row, words_of
from app.ui.widgets.key_footer import Hint, KeyFooter
from app.ui.wiring import SessionCard, SessionHit, SessionShelf

SHOWN = 200
"""Rows at most; a search finds the others."""
PAUSE = 0.15
"""Seconds without a key after which a search begins."""
SHORTEST = 2
"""Characters from which on the records are searched; one alone would stand in all of them."""
HINTS = (
    Hint("Enter", "go on"),
    Hint("Ctrl+F", "fork", "fork"),
    Hint("Ctrl+R", "rename", "rename"),
    Hint("Ctrl+E", "export", "export"),
    Hint("Ctrl+D", "delete", "delete"),
    Hint("Esc", "back", "close"),
)
WRITING_HINTS = (Hint("Enter", "take it"), Hint("Esc", "leave it", "close"))
ASKING_HINTS = (Hint("y", "delete"), Hint("n", "keep", "close"))


class ResumeScreen(Sheet[str]):
    """Returns the name of the session to go on with, or None.

    Args:
        shelf: The sessions.
        current: Name of the open session; it is left out.
        told: What is said first, instead of how many there are.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Place.SESSIONS)]

    def __init__(self, shelf: SessionShelf, current: str, told: str = "") -> None:
        super().__init__()
        self._shelf = shelf
        self._current = current
        self._told = told
        self._cards: dict[str, SessionCard] = {}
        self._hits: dict[str, SessionHit] = {}
        self._loading = True
        self._searching = False
        self._warned = ""
        """The session of which Enter has said that it is open elsewhere."""
        self._timer: Timer | None = None
        self._use: Callable[[str], Awaitable[None]] | None = None
        """What the answer to the open question does."""

    def title_text(self) -> str:
        return "earlier sessions"

    def hint_row(self) -> tuple[Hint, ...]:
        return HINTS

    def body(self) -> Iterable[Widget]:
        yield Input(placeholder="search all that was ever said", compact=True, id="search")
        yield Static("reading…", id="note", markup=False)
        yield OptionList(markup=False, compact=True)
        yield Static(id="question", markup=False)
        yield Input(compact=True, id="answer")

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self.query_one("#search").focus()
        self.run_worker(self._load(), group="load")

    async def _load(self) -> None:
        try:
            async with aclosing(self._shelf.cards()) as batches:
                async for batch in batches:
                    self._cards |= {c.name: c for c in batch if c.name != self._current}
                    self._fill()
        except PalError as error:
            self._say(str(error), "$text-error")
            return
        self._loading = False
        self._fill()

    # Searching

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id != "search":
            return
        self._told, self._hits, self._searching = "", {}, False
        self.workers.cancel_group(self, "search")
        if self._timer is not None:
            self._timer.stop()
        if len(event.value.strip()) >= SHORTEST:
            self._searching = True
            self._timer = self.set_timer(PAUSE, lambda: self._begin_search(event.value))
        self._fill()

    def _begin_search(self, text: str) -> None:
        self.run_worker(self._search(text), group="search", exclusive=True)

    async def _search(self, text: str) -> None:
        try:
            async with aclosing(self._shelf.search(text)) as hits:
                async for hit in hits:
                    self._hits[hit.session] = hit
                    self._fill()
        except PalError as error:
            self._say(str(error), "$text-error")
            return
        self._searching = False
        self._fill()

    @property
    def _words(self) -> tuple[str, ...]:
        return words_of(self.query_one("#search", Input).value)

    def _fill(self) -> None:
        """Show the rows that fit the search; the chosen one stays chosen."""
        words = self._words
        found = [c for c in self._cards.values() if c.name in self._hits or card_has(c, words)]
        options = self.query_one(OptionList)
        chosen = options.highlighted_option
        options.set_options(
            Option(session_row(card, self._hits.get(card.name), words), id=card.name)
            for card in found[:SHOWN]
        )
        names = [card.name for card in found[:SHOWN]]
        kept = names.index(chosen.id) if chosen and chosen.id in names else 0
        options.highlighted = kept if names else None
        if self._told:
            self._say(self._told, "$text-warning")
        else:
            self._say(self._count(len(found)), "$text-muted")

    def _count(self, found: int) -> str:
        if not self._cards and not self._loading:
            return "There is no earlier session in this folder."
        busy = " · searching…" if self._searching else " · reading…" if self._loading else ""
        more = f" · the first {SHOWN} are shown" if found > SHOWN else ""
        return f"{plural(found, 'session')}{more}{busy}"

    def _say(self, text: str, style: str) -> None:
        self.query_one("#note", Static).update(Content.styled(one_line(text, 400), style))

    # Keys

    def on_key(self, event: events.Key) -> None:
        """Let the arrows choose while the keyboard stays in the search line; answer a yes-or-no question."""
        options = self.query_one(OptionList)
        if self._use is not None and self.focused is None:
            event.stop()
            self._answer("yes" if event.key == "y" else None)
        elif self._use is None and event.key in ("down", "up", "pagedown", "pageup"):
            step = event.key.replace("page", "page_")
            getattr(options, f"action_{step if 'page' in step else f'cursor_{step}'}")()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "answer":
            self._answer(event.value)
        else:
            self._choose()

    def on_option_list_option_selected(self) -> None:
        self._choose()

    def action_close(self) -> None:
        if self._use is not None:
            self._answer(None)
        else:
            self.dismiss(None)

    @property
    def _chosen(self) -> SessionCard | None:
        option = self.query_one(OptionList).highlighted_option
        return self._cards.get(option.id or "") if option is not None else None

    def _choose(self) -> None:
        card = self._chosen
        if card is None or self._use is not None:
            return
        if card.too_new:
            self._say(
                "A newer version of this program wrote it: update to go on with it.",
                "$text-warning",
            )
        elif card.holder and self._warned != card.name:
            self._warned = card.name
            self._say(
                f"It is open in {card.holder}: close it there, or Ctrl+F goes on with a copy. "
                "Enter tries all the same.",
                "$text-warning",
            )
        else:
            self.dismiss(card.name)

    def action_fork(self) -> None:
        card = self._chosen
        if card is not None and self._use is None:
            self.run_worker(self._do(self._fork(card)), group="change")

    async def _fork(self, card: SessionCard) -> None:
        self._say("copying…", "$text-muted")
        self.dismiss(await self._shelf.fork(card.name))

    def action_rename(self) -> None:
        card = self._chosen
        if card is None:
            return

        async def use(title: str) -> None:
            kept = await self._shelf.rename(card.name, title)
            self._cards[card.name] = replace(card, title=kept)
            self._fill()

        self._ask(f"Name of “{called(card)}”; empty takes it away", use, card.title)

    def action_export(self) -> None:
        card = self._chosen
        if card is None:
            return

        async def use(file: str) -> None:
            if file.strip():
                path = await self._shelf.export(card.name, file.strip())
                self._say(f"Wrote {path}", "$text-success")

        question = "Write it to; .md is Markdown, .jsonl one message a line"
        self._ask(question, use, f"palimpsest-{card.name}.md")

    def action_delete(self) -> None:
        card = self._chosen
        if card is None:
            return

        async def use(_: str) -> None:
            await self._shelf.delete(card.name)
            self._cards.pop(card.name, None)
            self._fill()

        figures = f"{plural(card.messages, 'message')}, {size(card.size)}"
        self._ask(f"Delete “{called(card)}” for good ({figures})?", use)

    # Questions

    def _ask(
        self, question: str, use: Callable[[str], Awaitable[None]], value: str | None = None
    ) -> None:
        """Ask at the foot: for a line of text that begins as ``value``, or without one for yes or no."""
        if self._use is not None:
            return
        self._use = use
        self.query_one("#question", Static).update(Content.styled(question, "bold $text-warning"))
        self.add_class("-asking" if value is None else "-writing")
        hints = ASKING_HINTS if value is None else WRITING_HINTS
        self.query_one(KeyFooter).hints = self.as_moved(hints)
        if value is None:
            self.set_focus(None)
        else:
            line = self.query_one("#answer", Input)
            line.value = value
            line.focus()

    def _answer(self, text: str | None) -> None:
        """Take the answer; None is no answer."""
        use, self._use = self._use, None
        self.remove_class("-asking", "-writing")
        self.query_one(KeyFooter).hints = self.as_moved(HINTS)
        self.query_one("#search").focus()
        if use is not None and text is not None:
            self.run_worker(self._do(use(text)), group="change")

    async def _do(self, work: Awaitable[None]) -> None:
        try:
            await work
        except PalError as error:
            self._say(f"{error} {error.hint}", "$text-error")
