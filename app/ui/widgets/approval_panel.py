"""A question about one call, docked under the chat: what, where, why, and the diff or command in full."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from app.core.permission import Answered, ApprovalAnswer, ApprovalRequest
from app.core.visible_text import hides_something, one_line, revealed_text
from app.ui.chat.code_highlighting import highlighted
from app.ui.chat.diff_rows import diff_counts, fitting_diff_lines
from app.ui.chat.lines import Line, lines_of
from app.ui.format import short_path
from app.ui.keymap import Place, bindings
from app.ui.widgets.lines_view import LinesView
from app.ui.widgets.words_area import WordsArea

_BLANKS = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
GRACE = 0.5
"""Seconds without a key before a question may be answered, so that a word being typed never answers it."""
ALONE = 0.03
"""Seconds in which no other key may follow one that answers: several in one burst are words, pasted or late."""


class ApprovalPanel(Vertical, can_focus=True):
    """Shows the first of the open questions; it is empty until there is one, so that the program starts sooner.

    Args:
        time: Monotonic seconds, for the grace period.
        folder: Where commands run.
    """

    DEFAULT_CLASSES = "-empty"
    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.QUESTION))

    class Answer(Message):
        """The user answered one question."""

        def __init__(self, call_id: str, answer: ApprovalAnswer) -> None:
            super().__init__()
            self.call_id = call_id
            self.answer = answer

    class Typed(Message):
        """A key came that was meant for the prompt."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, time: Callable[[], float], folder: Path, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._time = time
        self._folder = short_path(folder, Path.home(), 60)
        self._request: ApprovalRequest | None = None
        self._quiet_since = 0.0
        self._writing = ""
        self._held: tuple[Timer, str, str] | None = None
        """A key that may be an answer and waits whether it is alone: its timer, name and character."""
        self._wider = 0
        self._text: LinesView | None = None
        """Holds the command or the diff; None before the first question."""

    def _mount_parts(self) -> LinesView:
        text = LinesView(id="question-text")
        area = WordsArea(compact=True, highlight_cursor_line=False, id="question-area")
        area.cursor_blink = False
        self.mount(
            Static(id="question-title", markup=False),
            VerticalScroll(text, id="question-detail", can_focus=False),
            Static(id="question-why", markup=False),
            Static(id="question-words", markup=False),
            area,
            Static(id="question-keys", markup=False),
        )
        return text

    @property
    def request(self) -> ApprovalRequest | None:
        """The question that is shown."""
        return self._request

    def show_requests(self, waiting: Sequence[ApprovalRequest]) -> None:
        """Show the oldest open question; none hides the panel."""
        self.border_title = f"question 1 of {len(waiting)}" if len(waiting) > 1 else "question"
        first = waiting[0] if waiting else None
        if first == self._request:
            return
        self._let_go()
        self._request = first
        self.set_class(first is None, "-empty")
        self._stop_writing()
        if first is not None:
            self._quiet_since = self._time()
            self._wider = 0
            self._fill(first)
            self.focus()

    def refuse(self) -> bool:
        """Answer no, without words; return whether there was a question."""
        if self._request is None:
            return False
        if self._writing:
            self._stop_writing()
            self.focus()
            return True
        self._answer(ApprovalAnswer(Answered.NO))
        return True

    @property
    def waits(self) -> bool:
        """Whether a key is held until it is known to be alone."""
        return self._held is not None

    def on_key(self, event: events.Key) -> None:
        """Take a key for an answer only when it comes alone; what belongs to words goes where words go."""
        is_word = event.character is not None and event.is_printable
        if self._writing:
            if not is_word and self.query_one(WordsArea).has_focus:
                return  # it bubbled: the bindings of the text area have it
            self._take_late(event, is_word=is_word)
        elif is_word:
            self._hold_or_type(event)
        elif self._request is not None and event.key == "enter":
            if not self._let_go() and self._ready():
                self._show_keys(self._request, asked=True)
        elif event.key in ("escape", "ctrl+c", "tab", "shift+tab"):
            self._let_go()
            return
        elif self._ready():
            return
        event.stop()
        event.prevent_default()

    def _take_late(self, event: events.Key, *, is_word: bool) -> None:
        """Give the text area a key that came here before the focus had moved there."""
        area = self.query_one(WordsArea)
        if is_word and event.character is not None:
            area.insert(event.character)
        elif event.key == "enter":
            area.action_hand_in()
        elif event.key == "escape":
            area.action_leave()

    def _hold_or_type(self, event: events.Key) -> None:
        assert event.character is not None
        if self._let_go() or not self._ready():
            self._quiet_since = self._time()
            self.post_message(self.Typed(event.character))
        else:
            timer = self.set_timer(ALONE, self._catch_up)
            self._held = timer, event.key, event.character

    def _let_go(self) -> bool:
        """Send a held key to the prompt, as another came with it; return whether one was held."""
        if self._held is None:
            return False
        timer, _, character = self._held
        timer.stop()
        self._held = None
        self._quiet_since = self._time()
        self.post_message(self.Typed(character))
        return True

    def _catch_up(self) -> None:
        """Let the keys that have come already pass first, then answer with the one that was alone."""
        held = self._held
        self.app.call_later(self.call_later, self._act, held)

    async def _act(self, held: tuple[Timer, str, str] | None) -> None:
        if held is None or held is not self._held or self._request is None:
            return
        self._held = None
        bound = self.screen.active_bindings.get(held[1]) if self.has_focus else None
        if bound is not None and bound.node is self:
            await self.app.run_action(bound.binding.action, self)
        else:
            self._show_keys(self._request, asked=True)

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Keep letters from being taken as bindings of other places: `on_key` says what they are."""
        return character is not None and character.isprintable()

    def action_yes(self) -> None:
        if self._ready():
            self._answer(ApprovalAnswer(Answered.YES))

    def action_always(self) -> None:
        if self._ready() and self._request is not None and self._request.proposal is not None:
            rule = self._request.wider[self._wider - 1] if self._wider else None
            self._answer(ApprovalAnswer(Answered.ALWAYS, rule=rule))

    def action_wider(self) -> None:
        """Offer the next wider rule; after the widest the narrow one again."""
        if self._ready() and self._request is not None and self._request.wider:
            self._wider = (self._wider + 1) % (len(self._request.wider) + 1)
            self._show_keys(self._request)

    def action_no(self) -> None:
        if self._ready():
            self._write(
                "no",
                "What should it do instead? Enter sends, empty is a plain no, Esc goes back",
                "",
            )

    def action_edit(self) -> None:
        if self._ready() and self._request is not None and self._request.editable:
            self._write(
                "edit", "Change the command; Enter runs it, Esc goes back", self._request.detail
            )

    def action_scroll_detail(self, rows: int) -> None:
        self.query_one("#question-detail").scroll_relative(y=rows, animate=False)

    def on_words_area_done(self, event: WordsArea.Done) -> None:
        event.stop()
        kind, request = self._writing, self._request
        self._stop_writing()
        self.focus()
        if event.text is None or request is None:
            return
        if kind == "no":
            self._answer(ApprovalAnswer(Answered.NO, words=event.text.strip()))
        elif event.text.strip():
            edited = event.text if event.text != request.detail else None
            self._answer(ApprovalAnswer(Answered.YES, edited=edited))

    def _ready(self) -> bool:
        return self._request is not None and self._time() - self._quiet_since >= GRACE

    def _answer(self, answer: ApprovalAnswer) -> None:
        self._let_go()
        if self._request is not None:
            self.post_message(self.Answer(self._request.call_id, answer))

    def _write(self, kind: str, label: str, text: str) -> None:
        self._writing = kind
        self.add_class("-writing")
        self.query_one("#question-words", Static).update(Content.styled(label, "$text-muted"))
        area = self.query_one(WordsArea)
        area.text = text
        area.move_cursor(area.document.end)
        area.focus()

    def _stop_writing(self) -> None:
        self._writing = ""
        self.remove_class("-writing")

    def _fill(self, request: ApprovalRequest) -> None:
        if self._text is None:
            self._text = self._mount_parts()
        shown, hidden = _revealed(request.detail)
        self.set_class(request.editable and not hidden, "-command")  # it stands in full below
        flag = "! hidden characters, written out below  " if hidden else ""
        title = Content.assemble(
            ("? ", "bold $text-warning"),
            (flag, "bold $text-error"),
            (one_line(request.title), "bold"),
        )
        if request.is_diff and "(+" not in request.title:
            added, removed = diff_counts(request.detail)
            title = Content.assemble(
                title, (f"  +{added}", "$text-success"), (f" -{removed}", "$text-error")
            )
        self.query_one("#question-title", Static).update(title)
        self._text.show(partial(_detail_lines, request, shown))
        self.query_one("#question-detail").scroll_home(animate=False)
        where = f"in {self._folder} · " if request.editable else ""
        self.query_one("#question-why", Static).update(
            Content.styled(f"{where}asked because: {one_line(request.reason)}", "$text-muted")
        )
        self._show_keys(request)

    def _show_keys(self, request: ApprovalRequest, *, asked: bool = False) -> None:
        """Show the keys that answer; with what they are for when another one was pressed."""
        lead = Content.styled("answer with  " if asked else "", "bold $text-warning")
        self.query_one("#question-keys", Static).update(lead + _keys(request, self._wider))


def _detail_lines(request: ApprovalRequest, shown: str, width: int) -> list[Line]:
    """Return the command or the diff for rows of ``width`` cells."""
    if request.is_diff:
        return fitting_diff_lines(shown, width)
    if not request.editable:
        return lines_of(shown)
    return [
        Line(
            runs, lead=(("$ " if not at else "  ", ("muted",)),), rest=(("  ", ()),), by_cells=True
        )
        for at, runs in enumerate(highlighted(shown, "bash"))
    ]


def _revealed(detail: str) -> tuple[str, bool]:
    """Return the text with nothing hidden in it, and whether anything was; odd blanks count."""
    shown = _BLANKS.sub(
        lambda match: f"⟨U+{ord(match[0]):04X}⟩", revealed_text(detail.rstrip("\n"))
    )
    return shown.replace("\t", "    "), hides_something(detail) or bool(_BLANKS.search(detail))


def _keys(request: ApprovalRequest, wider: int) -> Content:
    parts = [("y", "yes", ""), ("n", "no, and say why", "")]
    if request.proposal is not None:
        rule = request.wider[wider - 1] if wider else request.proposal
        everything = "" if rule.pattern else " (every call!)"
        shown = f"always  {one_line(str(rule), 60)}{everything}"
        parts.append(("a", shown, "$text-warning" if wider else ""))
    if request.wider:
        parts.append(("w", "narrower" if wider == len(request.wider) else "wider", ""))
    if request.editable:
        parts.append(("e", "edit", ""))
    row = Content("")
    for key, what, style in parts:
        row = Content.assemble(
            row, (key, "bold $text-primary"), "\N{NO-BREAK SPACE}", (what, style), "   "
        )
    return row
