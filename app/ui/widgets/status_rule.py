"""The rule above the prompt: what is being waited for, how long already, and how the last turn ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

from app.core.visible_text import one_line
from app.ui.format import plural, seconds, short_tokens
from app.ui.keymap import shown_key

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
LINE = "$foreground-disabled"
STEP = 0.1
"""Seconds between two frames; the timer runs only while something is waited for."""

CANCELS = "Esc cancels"
STILL_CANCELS = "Ctrl+C cancels"
"""What is said instead while Esc does something else first."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is waited for."""

    what: str
    since: float
    """Monotonic seconds."""
    hint: str = CANCELS
    tokens: float = 0.0
    """Estimated tokens that have come so far."""
    until: float | None = None
    """When the next attempt starts, for a countdown."""
    why: str = ""
    """Why there is a countdown; it stands last, since a narrow screen cuts the end off."""

    def text(self, now: float, *, escape_cancels: bool = True) -> str:
        """Return the sentence for the rule."""
        hint = STILL_CANCELS if self.hint == CANCELS and not escape_cancels else self.hint
        if self.until is not None:
            left = f"{self.what} in {max(0, round(self.until - now))}s · {hint}"
            return f"{left} · {self.why}" if self.why else left
        came = f" · ~{short_tokens(round(self.tokens))} tokens" if self.tokens else ""
        return f"{self.what} · {seconds(max(0.0, now - self.since))}{came} · {hint}"


class StatusRule(Widget):
    """One row that moves only while something is waited for.

    Args:
        time: Monotonic seconds.
    """

    def __init__(self, time: Callable[[], float], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._time = time
        self._waiting: Waiting | None = None
        self._timer: Timer | None = None
        self._fading: Timer | None = None
        self._said: tuple[str, str] = ("", "")
        self._note = ""
        self._new_rows = 0
        self._escape_cancels = True

    def show_escape(self, *, cancels: bool) -> None:
        """Take whether Esc cancels what is waited for, or does something else first."""
        if self._escape_cancels is not cancels:
            self._escape_cancels = cancels
            self.refresh()

    def show_new_rows(self, rows: int) -> None:
        """Say how many lines of the chat wait below what is in view."""
        self._new_rows = rows
        self.refresh()

    def note(self, text: str) -> None:
        """Say something that stays while nothing is waited for; "" ends it."""
        self._note = text
        self.refresh()

    @property
    def elapsed(self) -> float:
        """Seconds waited so far; 0 when idle."""
        return self._time() - self._waiting.since if self._waiting else 0.0

    def wait(
        self,
        what: str,
        *,
        seconds_left: float | None = None,
        hint: str = CANCELS,
        why: str = "",
    ) -> None:
        """Show what is waited for; the clock goes on from when waiting began."""
        if self._waiting is not None and seconds_left is None and self._waiting.until is None:
            self._waiting = replace(self._waiting, what=what, hint=hint)
            return
        now = self._time()
        since = self._waiting.since if self._waiting else now
        came = self._waiting.tokens if self._waiting else 0.0
        until = None if seconds_left is None else now + seconds_left
        self._waiting = Waiting(what, since, hint, came, until, why)
        self._said = ("", "")
        if self._timer is None:
            self._timer = self.set_interval(STEP, self.refresh)
        self.refresh()

    def arrived(self, tokens: float) -> None:
        """Count estimated tokens that came."""
        if self._waiting is not None:
            self._waiting = replace(self._waiting, tokens=self._waiting.tokens + tokens)

    def rest(self, said: str = "", style: str = "$text-muted") -> None:
        """Stop waiting and say how it ended."""
        self._waiting = None
        self._said = (said, style)
        self._stop_fading()
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.refresh()

    def rest_for(self, seconds_shown: float, said: str, style: str = "$text-muted") -> None:
        """Say something that holds only for a time, and is gone after it."""
        self.rest(said, style)
        self._fading = self.set_timer(seconds_shown, self._fade)

    def _fade(self) -> None:
        self._fading = None
        if self._waiting is None:
            self._said = ("", "")
            self.refresh()

    def _stop_fading(self) -> None:
        if self._fading is not None:
            self._fading.stop()
            self._fading = None

    def render(self) -> Content:
        width = self.size.width
        said, right = self._sentence(), Content("")
        if self._new_rows:
            below = f" ↓ {plural(self._new_rows, 'new line')}, {shown_key('chat_end')} "
            right = Content.styled(below, "bold $text-accent")
        room = width - right.cell_length - 2
        if len(said) == 0:
            return Content.assemble(("─" * (room + 2), LINE), right)
        said = said.truncate(max(0, room - 4), ellipsis=True)
        rest = max(0, room - said.cell_length - 2)
        return Content.assemble(("── ", LINE), said, (f" {'─' * rest}", LINE), right)

    def _sentence(self) -> Content:
        if self._waiting is None:
            said, style = self._said if self._said[0] else (self._note, "$text-primary")
            return Content.styled(one_line(said), style)
        now = self._time()
        frame = FRAMES[int((now - self._waiting.since) / STEP) % len(FRAMES)]
        return Content.assemble(
            (f"{frame} ", "bold $text-primary"),
            one_line(self._waiting.text(now, escape_cancels=self._escape_cancels)),
        )
