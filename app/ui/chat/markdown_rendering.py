"""Markdown laid out as logical lines: blocks, nested lists, quotes, links and code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len

from app.ui.chat.code_highlighting import highlighted
from app.ui.chat.lines import Inks, Line, Link, Run, lines_of
from app.ui.chat.markdown_stream import Piece, block_parser
from app.ui.chat.markdown_tables import Cell, table_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

BULLETS = ("• ", "◦ ", "▪ ")
HEADINGS: dict[str, Inks] = {"h1": ("title",), "h2": ("heading",), "h3": ("heading",)}
LONGEST_URL = 60
"""Characters of an address that are shown behind its text."""
_URL = re.compile(r"https?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]}*_]")
_TASK = re.compile(r"\[([ xX])\] ")


@lru_cache(1)
def shared_parser() -> MarkdownIt:
    """Return the parser that all answers are drawn with."""
    return block_parser()


def markdown_lines(
    source: str,
    width: int,
    environment: dict[str, object] | None = None,
    number: int | None = None,
    head: str = "",
) -> list[Line]:
    """Return the lines of a Markdown text.

    Args:
        source: The text, already made visible.
        width: Cells of a row; only tables and rules depend on it.
        environment: Link definitions from elsewhere in the same answer; gains those of this text.
        number: What the first item is numbered, when the text begins inside an ordered list.
        head: First rows of the table inside which the text begins; they are not drawn again.
    """
    tokens = shared_parser().parse(head + source, {} if environment is None else environment)
    layout = _Layout(head + source, width, number, max(0, head.count("\n") - 1))
    return layout.run(tokens)


def piece_lines(piece: Piece, width: int, environment: dict[str, object]) -> list[Line]:
    """Return the lines of a piece of an answer."""
    if piece.code is None:
        return markdown_lines(piece.source, width, environment, piece.number, piece.head)
    return code_lines(piece.code, piece.language)


def code_lines(code: str, language: str) -> list[Line]:
    """Return the lines of a code block, or of a slice of one."""
    text = code.removesuffix("\n").expandtabs(4)
    lead: tuple[Run, ...] = (("▏ ", ("code-block", "code-rail")),)
    return [
        Line(runs, lead=lead, fill=("code-block",), by_cells=True)
        for runs in highlighted(text, language)
    ]


class _Indent:
    """What stands in front of the rows of a list item or quote."""

    __slots__ = ("first", "rest")

    def __init__(self, first: Run, rest: Run) -> None:
        self.first: Run | None = first
        self.rest = rest


class _Layout:
    """One pass over the tokens of one text."""

    def __init__(self, source: str, width: int, number: int | None, drawn: int) -> None:
        self._source = source.split("\n")
        self._width = width
        self._number = number
        self._drawn = drawn
        """Rows of the first table that stand in an earlier piece."""
        self._indents: list[_Indent] = []
        self._counters: list[int | None] = []
        self._lines: list[Line] = []
        self._fresh = True
        """Whether nothing stands yet in the innermost container."""
        self._after_heading = False

    def run(self, tokens: Sequence[Token]) -> list[Line]:
        at = 0
        while at < len(tokens):
            at = self._block(tokens, at)
        return self._lines

    def _block(self, tokens: Sequence[Token], at: int) -> int:
        """Lay out what begins at ``at`` and return where to go on."""
        token = tokens[at]
        match token.type:
            case "heading_open":
                inks = HEADINGS.get(token.tag, ("bold",))
                self._gap(token)
                self._inline(tokens[at + 1], inks)
                self._after_heading = True
                return at + 3
            case "paragraph_open":
                self._gap(token)
                self._inline(tokens[at + 1], ())
                return at + 3
            case "bullet_list_open" | "ordered_list_open":
                self._gap(token)
                self._fresh = True
                self._counters.append(self._first_number(token))
            case "bullet_list_close" | "ordered_list_close":
                self._counters.pop()
                self._fresh = False
            case "list_item_open":
                self._gap(token)
                self._open_item(tokens[at + 1 : at + 3])
            case "list_item_close" | "blockquote_close":
                if self._indents[-1].first is not None:
                    self._emit([])
                self._indents.pop()
                self._fresh = False
            case "blockquote_open":
                self._gap(token)
                rail: Run = ("▎ ", ("quote-rail",))
                self._indents.append(_Indent(rail, rail))
                self._fresh = True
            case "fence" | "code_block":
                self._gap(token)
                info = token.info.split()
                for each in code_lines(token.content, info[0] if info else ""):
                    self._emit(each.runs, each.lead, fill=each.fill, by_cells=True)
            case "hr":
                self._gap(token)
                self._emit([("─" * min(self._room, 40), ("rule",))])
            case "html_block":
                self._gap(token)
                for each in lines_of(token.content.rstrip("\n"), "muted"):
                    self._emit(each.runs)
            case "table_open":
                self._gap(token)
                return self._table(tokens, at)
        return at + 1

    @property
    def _room(self) -> int:
        return max(4, self._width - sum(cell_len(indent.rest[0]) for indent in self._indents))

    def _gap(self, token: Token) -> None:
        """Write the blank row above a block, where there is one."""
        wanted = not self._fresh and not self._after_heading
        if wanted and (self._indents or self._counters):
            above = token.map[0] - 1 if token.map else 0
            wanted = above >= 0 and not self._source[above].strip(" >\t")
        if wanted:
            lead = tuple(indent.rest for indent in self._indents)
            self._lines.append(Line(lead=lead))
        self._fresh = self._after_heading = False

    def _emit(
        self,
        runs: list[Run],
        lead: tuple[Run, ...] = (),
        *,
        fill: Inks = (),
        by_cells: bool = False,
    ) -> None:
        first = tuple(indent.first or indent.rest for indent in self._indents)
        rest = tuple(indent.rest for indent in self._indents)
        for indent in self._indents:
            indent.first = None
        self._lines.append(Line(runs, (*first, *lead), (*rest, *lead), fill, by_cells))

    def _first_number(self, token: Token) -> int | None:
        if token.type == "bullet_list_open":
            return None
        number, self._number = self._number, None
        return number if number is not None else int(token.attrGet("start") or 1)

    def _open_item(self, inside: Sequence[Token]) -> None:
        number = self._counters[-1]
        mark = BULLETS[min(len(self._counters), len(BULLETS)) - 1]
        if number is not None:
            self._counters[-1] = number + 1
            mark = f"{number}. "
        elif len(inside) == 2 and inside[1].type == "inline":
            task = _TASK.match(inside[1].content)
            if task:
                mark = "☐ " if task[1] == " " else "☑ "
        self._indents.append(_Indent((mark, ("bullet",)), (" " * cell_len(mark), ())))
        self._fresh = True

    def _inline(self, token: Token, inks: Inks) -> None:
        quoted = any(indent.rest[0] == "▎ " for indent in self._indents)
        for runs in inline_runs(token.children or (), ("quote", *inks) if quoted else inks):
            if self._counters and runs and (task := _TASK.match(runs[0][0])):
                runs[0] = (runs[0][0][task.end() :], runs[0][1])
            self._emit(runs)

    def _table(self, tokens: Sequence[Token], at: int) -> int:
        rows: list[list[Cell]] = []
        while tokens[at].type != "table_close":
            token = tokens[at]
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                head: Inks = ("bold",) if token.type == "th_open" else ()
                style = str(token.attrGet("style") or "")
                runs = inline_runs(tokens[at + 1].children or (), head)
                flat = [run for number, line in enumerate(runs) for run in _joined(number, line)]
                rows[-1].append(Cell(flat, style.rpartition(":")[2]))
            at += 1
        drawn, self._drawn = self._drawn, 0
        for each in table_lines(rows, self._room, drawn):
            self._emit(each.runs, each.lead)
        return at + 1


def _joined(number: int, line: list[Run]) -> list[Run]:
    return [(" ", ()), *line] if number else line


def inline_runs(children: Sequence[Token], inks: Inks) -> list[list[Run]]:
    """Return the runs of each line of an inline token; hard breaks begin a new line."""
    lines: list[list[Run]] = [[]]
    stack: list[Inks] = [inks]
    address, begun = "", 0
    for at, token in enumerate(children):
        match token.type:
            case "text" | "html_inline":
                if token.type == "html_inline" and token.content.startswith("<br"):
                    lines.append([])
                elif token.content:
                    lines[-1] += _with_addresses(token.content, stack[-1], bool(address))
            case "code_inline":
                lines[-1].append((token.content, (*stack[-1], "code")))
            case "softbreak":
                if not _between_wide(lines[-1], children[at + 1 : at + 2]):
                    _append_blank(lines[-1], stack[-1])
            case "hardbreak":
                lines.append([])
            case "strong_open":
                stack.append((*stack[-1], "bold"))
            case "em_open":
                stack.append((*stack[-1], "italic"))
            case "s_open":
                stack.append((*stack[-1], "strike"))
            case "link_open":
                address, begun = str(token.attrGet("href") or ""), len(lines[-1])
                link: Inks = ("link", Link(address)) if _is_web(address) else ("link",)
                stack.append((*stack[-1], *link))
            case "link_close":
                stack.pop()
                text = "".join(part for part, _ in lines[-1][begun:])
                if _is_web(address) and text not in (address, address.removeprefix("mailto:")):
                    shown = (
                        address if len(address) <= LONGEST_URL else address[: LONGEST_URL - 1] + "…"
                    )
                    lines[-1].append((f" ({shown})", (*stack[-1], "muted")))
                address = ""
            case "strong_close" | "em_close" | "s_close":
                stack.pop()
            case "image":
                source = str(token.attrGet("src") or "")
                lines[-1].append((f"[image: {token.content or source}]", (*stack[-1], "muted")))
    return lines


def _append_blank(line: list[Run], inks: Inks) -> None:
    """Add a blank, to the last run where it can hold it."""
    if line and line[-1][1] == inks:
        line[-1] = (f"{line[-1][0]} ", inks)
    else:
        line.append((" ", inks))


def _with_addresses(text: str, inks: Inks, inside_link: bool) -> list[Run]:
    """Return the text as runs, bare web addresses among them as links."""
    if inside_link or "://" not in text:
        return [(text, inks)]
    runs: list[Run] = []
    at = 0
    for match in _URL.finditer(text):
        if match.start() > at:
            runs.append((text[at : match.start()], inks))
        runs.append((match[0], (*inks, "link", Link(match[0]))))
        at = match.end()
    if at < len(text):
        runs.append((text[at:], inks))
    return runs


def _is_web(address: str) -> bool:
    return address.startswith(("https://", "http://", "mailto:"))


def _between_wide(line: list[Run], following: Sequence[Token]) -> bool:
    """Whether a line break in the source stands between two wide characters, where no blank belongs."""
    before = line[-1][0][-1:] if line else ""
    after = following[0].content[:1] if following else ""
    return cell_len(before) == 2 and cell_len(after) == 2
