"""What the chat holds: one section for each thing said, done or noted, and how each lays itself out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rich.cells import cell_len

from app.core.reports import CompactionReport, Outcome
from app.ui.chat.compaction_words import divider_text
from app.ui.chat.heights import Extent
from app.ui.chat.lines import Inks, Line, Run, crop, lines_of
from app.ui.chat.markdown_rendering import markdown_lines, piece_lines
from app.ui.chat.markdown_stream import Piece

if TYPE_CHECKING:
    from app.ui.chat.lines import Row

LONG_PASTE = 40
"""Lines of a user's message from which on it is folded."""
PASTE_HEAD = 12
"""Lines of a folded message that are shown."""
WRAPPED = 0.55
"""Share of a text's cells that makes further rows when it wraps: the rest fills the last row of each line."""
MOST_LAID_OUT = 32_768
"""Characters of a single block up to which its Markdown is laid out; a longer one is shown as it was written."""
LONG_CODE_LINE = 100
"""Characters from which on a line of code is thought to wrap."""
FOLDED: Extent = (2, 0)
"""Extent of a single line and the gap above it."""


class Fold(StrEnum):
    """How much of a section is shown."""

    FOLDED = "folded"
    SHORT = "short"
    """Its beginning, with a line that says how much more there is."""
    FULL = "full"


class Section:
    """A part of the chat that is laid out, measured and cached by itself.

    Attributes:
        serial: Its place for good: later sections have higher ones.
        index: Its place now among all sections.
        group: Sections of one answer share it; the cursor moves by groups.
        begins: Number of the model's message in the record that begins with it; 0 for all others.
        rows: Its painted rows, or None when they must be made anew.
    """

    foldable = False
    compact = False
    """Whether no blank row is needed between it and another compact one."""
    bar: Run | None = None
    """What stands in the gutter, in front of each of its rows."""

    def __init__(self, group: int = 0) -> None:
        self.serial = 0
        self.index = 0
        self.group = group
        self.begins = 0
        self.rows: list[Row] | None = None
        self.fold = Fold.FULL

    def gap_after(self, before: Section | None) -> bool:
        """Whether a blank row stands above it when ``before`` is the section in front."""
        return before is not None and not (self.compact and before.compact)

    def lines(self, width: int) -> list[Line]:
        """Return its lines for text rows of ``width`` cells."""
        raise NotImplementedError

    @property
    def source(self) -> str:
        """Its text for copying and export, as Markdown."""
        raise NotImplementedError

    @property
    def weight(self) -> int:
        """About how many characters it keeps."""
        return 0

    def extent(self) -> Extent:
        """Return about how much room it takes, without laying it out."""
        source = self.source.strip("\n")
        breaks = source.count("\n")
        return breaks + 2, round(WRAPPED * len(source)) if breaks else len(source)

    def toggle(self) -> None:
        """Fold or unfold it."""


class UserSection(Section):
    """What the user said; never taken for Markdown."""

    bar = ("▌", ("user-bar",))

    def __init__(self, text: str, message: str = "", *, queued: bool = False) -> None:
        super().__init__()
        self.text = text
        self.message = message
        self.queued = queued
        self.foldable = text.count("\n") >= LONG_PASTE
        if self.foldable:
            self.fold = Fold.SHORT

    @property
    def source(self) -> str:
        return self.text

    @property
    def weight(self) -> int:
        return len(self.text)

    def lines(self, width: int) -> list[Line]:
        del width
        shown, hidden = self.text, 0
        if self.fold is Fold.SHORT:
            parts = self.text.split("\n", PASTE_HEAD)
            shown = "\n".join(parts[:PASTE_HEAD])
            hidden = self.text.count("\n") + 1 - PASTE_HEAD
        lines = lines_of(shown, "user", fill=("user",))
        if hidden:
            lines.append(
                Line(
                    [(f"… {hidden:,} more lines · enter shows them", ("user", "muted"))],
                    fill=("user",),
                )
            )
        if self.queued:
            lines.append(Line([("sent while the agent worked", ("user", "muted"))], fill=("user",)))
        return lines

    def toggle(self) -> None:
        if self.foldable:
            self.fold = Fold.FULL if self.fold is Fold.SHORT else Fold.SHORT


class TextSection(Section):
    """A piece of an answer."""

    def __init__(self, piece: Piece, environment: dict[str, object], group: int) -> None:
        super().__init__(group)
        self.piece = piece
        self.environment = environment

    def gap_after(self, before: Section | None) -> bool:
        if isinstance(before, TextSection) and before.group == self.group:
            return self.piece.gap
        return before is not None

    @property
    def source(self) -> str:
        return self.piece.source

    @property
    def weight(self) -> int:
        return len(self.piece.source)

    def extent(self) -> Extent:
        code = self.piece.code
        if code is None:
            return super().extent()
        lines = code.removesuffix("\n").split("\n")
        wrapped = sum(len(line) for line in lines if len(line) > LONG_CODE_LINE)
        return len(lines) + self.piece.gap, wrapped

    def lines(self, width: int) -> list[Line]:
        if self.piece.code is None and len(self.source) > MOST_LAID_OUT:
            return lines_of(self.source.removesuffix("\n"))
        return piece_lines(self.piece, width, self.environment)


class UnreadSection(TextSection):
    """The newest words of a long block, shown as they came until the block is laid out again."""

    def lines(self, width: int) -> list[Line]:
        del width
        return lines_of(self.source.removesuffix("\n"))


class ThinkingSection(Section):
    """The model's thinking, folded unless the user wants to read it."""

    foldable = True
    compact = True

    def __init__(self, text: str = "", group: int = 0) -> None:
        super().__init__(group)
        self.parts = [text] if text else []
        self.fold = Fold.FOLDED
        self.live = False

    @property
    def text(self) -> str:
        if len(self.parts) > 1:
            self.parts = ["".join(self.parts)]
        return self.parts[0] if self.parts else ""

    @property
    def source(self) -> str:
        return "\n".join(f"> {line}" for line in self.text.strip("\n").split("\n"))

    @property
    def weight(self) -> int:
        return sum(map(len, self.parts))

    def extent(self) -> Extent:
        return FOLDED if self.fold is Fold.FOLDED else super().extent()

    def lines(self, width: int) -> list[Line]:
        words = len(self.text.split())
        sign = "▸" if self.fold is Fold.FOLDED else "▾"
        head = f"{sign} thinking{'…' if self.live else ''}"
        about = f"  {words:,} words" if words else ""
        lines = [Line([(head, ("thinking",)), (about, ("muted",))], cropped=True)]
        if self.fold is Fold.FOLDED:
            return lines
        rail: tuple[Run, ...] = (("│ ", ("rail",)),)
        for each in markdown_lines(self.text.strip("\n"), max(4, width - 2)):
            runs: list[Run] = [(text, ("thinking", *inks)) for text, inks in each.runs]
            lead = (*rail, *each.lead)
            rest = None if each.rest is None else (*rail, *each.rest)
            lines.append(Line(runs, lead, rest, each.fill, each.by_cells))
        return lines

    def toggle(self) -> None:
        self.fold = Fold.FULL if self.fold is Fold.FOLDED else Fold.FOLDED


@dataclass(frozen=True, slots=True)
class _Tone:
    sign: str
    inks: Inks


_TONES = {
    "notice": _Tone("·", ("notice",)),
    "warning": _Tone("▲", ("warning",)),
    "error": _Tone("✗", ("error",)),
    "command": _Tone("›", ("muted",)),
    "allowed": _Tone("✓", ("ok",)),
    "refused": _Tone("✗", ("failed",)),
}


class NoteSection(Section):
    """A notice, a warning, an error, or an approval that was given or refused."""

    compact = True

    def __init__(self, text: str, tone: str, detail: str = "") -> None:
        super().__init__()
        self.text = text
        self.detail = detail
        self.tone = _TONES[tone]
        self.compact = tone in ("allowed", "refused")
        if tone == "error":
            self.bar = ("▌", ("error",))

    @property
    def source(self) -> str:
        return "\n".join(f"> {line}" for line in f"{self.text}\n{self.detail}".strip().split("\n"))

    def lines(self, width: int) -> list[Line]:
        del width
        lead: tuple[Run, ...] = ((f"{self.tone.sign} ", self.tone.inks),)
        rest: tuple[Run, ...] = (("  ", ()),)
        quiet = self.compact or self.tone.sign == "·"
        body = lines_of(self.text, *(("notice",) if quiet else self.tone.inks))
        body += lines_of(self.detail, "muted") if self.detail else []
        for at, each in enumerate(body):
            each.lead, each.rest = (lead if not at else rest), rest
        return body


class DividerSection(Section):
    """A compaction: the chat goes on below it and nothing above it is gone."""

    foldable = True

    def __init__(self, report: CompactionReport, *, taken_back: bool = False) -> None:
        super().__init__()
        self.report = report
        self.taken_back = taken_back

    @property
    def source(self) -> str:
        return f"---\n\n*{self._text(200)}*\n\n---"

    def extent(self) -> Extent:
        return FOLDED

    def lines(self, width: int) -> list[Line]:
        text = crop(self._text(width - 6), max(4, width - 6))
        end = "─" * max(2, width - 4 - cell_len(text))
        head, _, others = text.partition(" · ")
        runs: list[Run] = [("── ", ("divider",)), (head, ("divider-strong",))]
        if others:
            runs.append((f" · {others}", ("divider",)))
        return [Line([*runs, (f" {end}", ("divider",))], cropped=True)]

    def is_of(self, commit: int) -> bool:
        """Whether it marks where that compaction came into force."""
        return self.report.outcome is Outcome.APPLIED and self.report.commit == commit

    def _text(self, room: int) -> str:
        return divider_text(self.report, room, taken_back=self.taken_back)
