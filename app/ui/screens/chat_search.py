"""Searching the chat of a pair screen: the bar, and older messages read from the record while it is open."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from app.errors import PalError

if TYPE_CHECKING:
    from app.ui.screens.pair import PairScreen
    from app.ui.widgets.search_bar import SearchBar

FIRST_PAGE, LARGEST_PAGE = 100, 200
"""Messages read from the record at once, each time twice as many: few enough that keys are taken in between."""


class ChatSearch:
    """Opens, drives and closes the search bar of a pair screen."""

    def __init__(self, screen: PairScreen) -> None:
        self._screen = screen
        self._bar: SearchBar | None = None
        self._text = ""
        self._waiting = False
        """Whether an older place is wanted that was not read yet."""
        self.reading = False
        """Whether older messages are being read."""

    @property
    def has_keys(self) -> bool:
        """Whether the keyboard writes in the bar."""
        return self._bar is not None and self._bar.has_focus_within

    def open(self) -> None:
        """Open the bar; in an open one go to the next older place, or write in it when the keyboard is elsewhere."""
        if self._bar is not None:
            if self.has_keys:
                self.step(backwards=True)
            else:
                self._bar.take_keys()
            return
        from app.ui.widgets.search_bar import SearchBar  # few sessions search

        self._bar = SearchBar()
        self._screen.query_one("#body").mount(self._bar, after=self._screen.chat)

    def close(self, *, stay: bool = False) -> bool:
        """Close the bar and go back to where the search began, unless the view is to ``stay``; tell if it was open."""
        if self._bar is None:
            return False
        self._bar.remove()
        self._bar, self._text, self._waiting = None, "", False
        chat = self._screen.chat
        chat.end_search(stay=stay)
        (chat if stay else self._screen.prompt.area).focus()
        return True

    def search(self, text: str) -> None:
        """Search for another text, from where the search began."""
        self._text, self._waiting = text, False
        self._screen.chat.search(text)
        if text:
            self._waiting = not self._screen.chat.show_match(around=False) and self._has_older
            if self._has_older and not self.reading:
                self.reading = True
                self._screen.run_worker(self._read_older(), group="older", exclusive=True)
        self._tell()

    def step(self, *, backwards: bool) -> None:
        """Go to the next older or newer place; behind the oldest that is read, wait for what is being read."""
        if self._text:
            found = self._screen.chat.show_match(backwards=backwards, around=not self.reading)
            self._waiting = backwards and not found and self.reading
            self._tell()

    @property
    def _has_older(self) -> bool:
        return self._screen.chat.older is not None

    def _tell(self) -> None:
        if self._bar is not None and self._bar.is_mounted:
            self._bar.show_finding(self._screen.chat.finding, reading=self.reading)

    async def _read_older(self) -> None:
        """Bring older messages into the chat, page by page, as long as something is searched for."""
        screen, page = self._screen, FIRST_PAGE
        try:
            while self._text and screen.session is not None and screen.chat.older is not None:
                await screen.opening.bring_older(screen.chat.older, page)
                page = min(2 * page, LARGEST_PAGE)
                self._after_page()
                await asyncio.sleep(0)
        except PalError as error:
            screen.chat.add_error(str(error), error.hint)
        finally:
            self.reading = self._waiting = False
            self._tell()

    def _after_page(self) -> None:
        if self._waiting and self._screen.chat.show_match(around=False):
            self._waiting = False
        self._tell()
