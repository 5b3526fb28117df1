"""The question whether a folder's own files may set things, asked before anything they name is used."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from app.core.visible_text import one_line, visible_text
from app.settings import Level, TrustItem, TrustQuestion
from app.ui.keymap import Place, bindings
from app.ui.screens.sheet import Sheet
from app.ui.widgets.approval_panel import GRACE
from app.ui.widgets.key_footer import Hint

KEPT = "\nThe answer is kept until these files change; pal --ask-trust asks again."


class TrustScreen(Sheet[Level]):
    """Returns how far the folder's files count."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.TRUST))

    def __init__(self, question: TrustQuestion) -> None:
        super().__init__()
        self._question = question
        self._shown_at = 0.0

    def title_text(self) -> str:
        return "do you trust this folder?"

    def hint_row(self) -> tuple[Hint, ...]:
        plain = (
            (Hint("p", "all but endpoint and keys", "answer('plain')"),)
            if self._question.power
            else ()
        )
        return (
            Hint("y", "trust", "answer('all')"),
            *plain,
            Hint("n", "ignore these files", "answer('nothing')"),
        )

    def body(self) -> Iterable[Widget]:
        with VerticalScroll():
            yield Static(_text(self._question), markup=False)

    def on_mount(self) -> None:
        self._shown_at = time.monotonic()

    def action_answer(self, level: str) -> None:
        """Take the answer, unless the key came so early that it was meant for something else."""
        if time.monotonic() - self._shown_at >= GRACE:
            self.dismiss(Level(level))

    def action_close(self) -> None:
        self.dismiss(Level.NOTHING)


def _text(question: TrustQuestion) -> Content:
    rows = [Content.assemble((visible_text(str(question.folder)), "bold"))]
    if question.changed:
        rows.append(
            Content.styled("It was trusted before; its files have changed since.", "$text-warning")
        )
    if question.items:
        rows.append(Content("Files in this folder would set:"))
        rows += [_item(item) for item in question.items]
    if question.endpoint:
        rows.append(
            Content.assemble(
                "\nMessages would be sent to  ",
                (visible_text(question.endpoint), "bold $text-warning"),
            )
        )
    if question.foreign_key:
        rows.append(
            Content.styled(
                f"together with the key from {visible_text(question.foreign_key)}",
                "bold $text-warning",
            )
        )
    if question.plain_http:
        rows.append(
            Content.styled(
                f"\n{visible_text(question.plain_http)} is not encrypted: "
                "the key and every message can be read on the way.",
                "bold $text-error",
            )
        )
    rows.append(Content.styled(KEPT, "$text-muted"))
    return Content("\n").join(rows)


def _item(item: TrustItem) -> Content:
    mark = Content.styled("  ! ", "bold $text-warning") if item.power else Content("    ")
    return Content.assemble(
        mark,
        (f"{one_line(item.name, 40)} = ", ""),
        (one_line(item.value, 300), "bold"),
        (f"   {one_line(item.file, 80)}", "$text-muted"),
    )
