"""The card of a tool call: one line when folded, with its live tail, diff or result when not."""

from __future__ import annotations

import re
from collections import deque
from enum import StrEnum
from time import monotonic

from rich.cells import cell_len

from app.core.fences import fenced
from app.core.visible_text import one_line, visible_text
from app.ui.chat.diff_rows import NARROWEST_SPLIT, SPLIT_FROM, diff_counts, diff_lines
from app.ui.chat.entries import WRAPPED, Fold, Section
from app.ui.chat.heights import Extent
from app.ui.chat.lines import Inks, Line, Run, crop, lines_of
from app.ui.format import short_tokens
from app.ui.keymap import shown_key

TAIL_ROWS = 12
"""Lines of a running tool's output that are shown."""
TAIL_CHARS = 16_384
"""Characters of its output that are kept for that."""
SHORT_ROWS = 24
"""Lines of a diff that are shown without being asked for."""
TOOL_CELLS = 28
"""Cells that a tool's name takes at most; a model may call one that does not exist by any name."""
RESULT_INDENT: tuple[Run, ...] = (("│ ", ("rail",)),)
SLOW = 2.0
"""Seconds from which on a running tool shows how long it has been running."""


class CardState(StrEnum):
    """Where a call stands."""

    ARRIVING = "arriving"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


_SIGNS: dict[CardState, Run] = {
    CardState.ARRIVING: ("○", ("running",)),
    CardState.RUNNING: ("◐", ("running",)),
    CardState.DONE: ("✓", ("ok",)),
    CardState.FAILED: ("✗", ("failed",)),
}

_ENDED_BADLY: Run = ("▲", ("warning",))
"""A command that ran and said no: the call did not fail, but a tick would deceive."""
_BAD_EXIT = re.compile(r"exit [1-9]")


class CardSection(Section):
    """One tool call."""

    foldable = True

    def __init__(self, call: str, tool: str, target: str = "", group: int = 0) -> None:
        super().__init__(group)
        self.call = call
        self.tool = one_line(tool, 80)
        self.target = one_line(target)
        self.state = CardState.ARRIVING
        self.fold = Fold.FOLDED
        self.result = ""
        """Id of the result, ``r<N>``."""
        self.cleared = False
        self.text = ""
        self.diff = ""
        self.split: bool | None = None
        """Whether both sides of the diff stand beside each other; None where they have room."""
        self.outcome = ""
        self.seconds = 0.0
        self.chars = 0
        self.began = 0.0
        self._tail: deque[str] = deque()
        self._tail_chars = 0
        self.touched = False
        """Whether the user folded or unfolded it."""

    @property
    def compact(self) -> bool:  # type: ignore[override]
        """Whether it is a single line now."""
        return self.fold is Fold.FOLDED and self.state is not CardState.RUNNING

    def arriving(self, chars: int) -> None:
        """Note that the model is writing the call."""
        self.chars = chars

    def start(self, tool: str, target: str) -> None:
        """Note that the call runs."""
        self.tool, self.target = one_line(tool, 80), one_line(target)
        self.state, self.began = CardState.RUNNING, monotonic()

    def output(self, text: str) -> None:
        """Add to what a running call wrote; only the end of it is kept."""
        self._tail.append(text)
        self._tail_chars += len(text)
        while self._tail_chars - len(self._tail[0]) >= TAIL_CHARS:
            self._tail_chars -= len(self._tail.popleft())

    def finish(
        self,
        *,
        ok: bool,
        text: str,
        outcome: str,
        seconds: float,
        diff: str,
        result: str,
        wanted: bool = False,
    ) -> None:
        """Note how the call ended; the output of one that the user made is ``wanted`` in sight while it is short."""
        self.state = CardState.DONE if ok else CardState.FAILED
        self.text, self.outcome, self.seconds = text, one_line(outcome, 120), seconds
        self.diff, self.result = diff, result
        self._tail.clear()
        if not self.touched:
            short = wanted and text.count("\n") < SHORT_ROWS
            self.fold = Fold.SHORT if diff else Fold.FULL if short else Fold.FOLDED

    def toggle(self) -> None:
        """Unfold it wholly, or fold it to its line."""
        self.touched = True
        self.fold = Fold.FOLDED if self.fold is Fold.FULL or self._fits_short else Fold.FULL

    def is_split(self, width: int) -> bool:
        """Whether both sides of its diff stand beside each other in rows of ``width`` cells."""
        wanted = width >= SPLIT_FROM if self.split is None else self.split
        return wanted and width >= NARROWEST_SPLIT

    @property
    def _fits_short(self) -> bool:
        return self.fold is Fold.SHORT and self.diff.count("\n") <= SHORT_ROWS

    @property
    def source(self) -> str:
        head = f"**{self.tool}** `{self.target}`" if self.target else f"**{self.tool}**"
        if self.outcome:
            head += f" → {self.outcome}"
        body, language = (self.diff, "diff") if self.diff else (self.text, "")
        if not body:
            return head
        return f"{head}\n\n{fenced(visible_text(body), language)}"

    @property
    def weight(self) -> int:
        return len(self.text) + len(self.diff)

    def extent(self) -> Extent:
        if self.fold is Fold.FOLDED:
            return (1 if self.state is not CardState.RUNNING else 2), 0
        if self.fold is Fold.SHORT:
            return min(SHORT_ROWS, self.diff.count("\n")) + 2, 0
        body = self.diff or self.text
        return body.count("\n") + 2, round(WRAPPED * len(body))

    def lines(self, width: int) -> list[Line]:
        lines = [self._head(width)]
        if self.state is CardState.RUNNING:
            return lines + self._tail_lines()
        if self.fold is Fold.FOLDED:
            return lines + self._complaint()
        body: list[Line] = []
        room = width - cell_len(RESULT_INDENT[0][0])
        if self.diff:
            body = diff_lines(self.diff, room if self.is_split(width) else 0)
            hidden = len(body) - SHORT_ROWS
            if self.fold is Fold.SHORT and hidden > 0:
                more = f"… {hidden:,} more lines · enter shows them"
                body = [*body[:SHORT_ROWS], Line([(more, ("muted",))])]
        if self.text and (not self.diff or self.state is CardState.FAILED):
            inks: Inks = ("error",) if self.state is CardState.FAILED else ("output",)
            text = visible_text(self.text).strip("\n")
            body += lines_of(text, *inks, by_cells=True)
        if self.result and self.fold is Fold.FULL:
            where = f"{self.result} in the record; {shown_key('chat_result')} shows all of it"
            body.append(Line([(where, ("muted", "italic"))], copied=False))
        for each in body:
            each.lead = (*RESULT_INDENT, *each.lead)
            each.rest = RESULT_INDENT if each.rest is None else (*RESULT_INDENT, *each.rest)
            each.leads = tuple((*RESULT_INDENT, *lead) for lead in each.leads)
        return lines + body

    def _head(self, width: int) -> Line:
        ended_badly = self.state is CardState.DONE and _BAD_EXIT.match(self.outcome) is not None
        sign, inks = _ENDED_BADLY if ended_badly else _SIGNS[self.state]
        cleared = "  ◌ cleared" if self.cleared else ""
        name = crop(self.tool, TOOL_CELLS)
        room = width - 3 - cell_len(name) - len(cleared)
        right = _fitting(self._right(), room - min(cell_len(self.target), width // 3) - 3)
        room -= cell_len(right)
        target = crop(self.target, max(8, room - 3))
        used = 2 + cell_len(name) + (2 + cell_len(target) if target else 0)
        blank = max(2, width - used - cell_len(right) - len(cleared))
        runs: list[Run] = [(f"{sign} ", inks), (name, ("tool",))]
        if target:
            runs += [("  ", ()), (target, ("target",))]
        runs.append((" " * blank, ()))
        is_quiet = self.state is not CardState.FAILED and not ended_badly
        runs.append((right, ("muted",) if is_quiet else inks))
        if cleared:
            runs.append((cleared, ("muted",)))
        return Line(runs, cropped=True)

    def _right(self) -> str:
        match self.state:
            case CardState.ARRIVING:
                return f"writing {short_tokens(self.chars)} characters" if self.chars else "writing"
            case CardState.RUNNING:
                elapsed = monotonic() - self.began
                return f"running {elapsed:.0f} s" if elapsed >= SLOW else "running"
        parts = [self.outcome] if self.outcome else []
        if self.diff and "+" not in self.outcome:
            added, removed = diff_counts(self.diff)
            parts.append(f"+{added} −{removed}")
        if self.seconds >= 0.1:
            parts.append(f"{self.seconds:.1f} s")
        return " · ".join(parts)

    def _tail_lines(self) -> list[Line]:
        text = visible_text("".join(self._tail)[-TAIL_CHARS:]).rstrip("\n")
        if not text:
            return []
        lines = lines_of("\n".join(text.split("\n")[-TAIL_ROWS:]), "output")
        for each in lines:
            each.lead, each.cropped, each.by_cells = RESULT_INDENT, True, True
        return lines

    def _complaint(self) -> list[Line]:
        """Return the first line of a failed call's result, so that the reason is seen without unfolding."""
        if self.state is not CardState.FAILED or not self.text:
            return []
        first = one_line(self.text.lstrip().split("\n", 1)[0])
        return [Line([(first, ("muted",))], lead=(("  ", ()),), cropped=True)] if first else []


def _fitting(text: str, room: int) -> str:
    """Return what stands on the right of a card, its longest parts left out until it fits; the first stays."""
    first, *others = text.split(" · ")
    while others and cell_len(" · ".join([first, *others])) > room:
        others.remove(max(others, key=cell_len))
    return " · ".join([first, *others])
