"""The first line: which model works in which folder, with whose key, and what it may do unasked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from app.core.permission import Mode
from app.core.visible_text import one_line
from app.ui.format import short_path


@dataclass(frozen=True, slots=True)
class Heading:
    """What the header says. Sources are as people read them: "environment", ".env", "settings"."""

    folder: Path
    model: str = ""
    """"" before the session is open."""
    demo: bool = False
    """Whether the embedded model answers."""
    endpoint: str = ""
    """Host of the endpoint; "" for the default one."""
    endpoint_source: str = ""
    key_source: str = ""
    mode: Mode = Mode.ASK
    sandbox: str = ""
    """Name of the working sandbox, or ""."""
    title: str = ""
    """What the user named the session."""
    unsaved: bool = False
    """Whether the record is in a temporary folder because its own cannot be written."""
    conflict: str = ""
    """One sentence when two sources differ on key, endpoint or model."""


MODES = {
    Mode.ASK: ("asks first", ""),
    Mode.ACCEPT_EDITS: ("edits unasked", "$text-warning"),
    Mode.READ_ONLY: ("read only", "$text-success"),
    Mode.AUTO: ("auto in sandbox", "bold $text-warning"),
}


class HeaderBar(Widget):
    """One line: name, model, folder at the left; sources and mode at the right."""

    heading: reactive[Heading | None] = reactive(None)

    def render(self) -> Content:
        heading = self.heading
        name = Content.styled("palimpsest", "bold $text-primary")
        if heading is None:
            return name
        width = self.size.width
        right = _right(heading, short=width < 100)
        room = width - len(name) - len(right) - 2
        model = one_line(heading.model, 40) or "opening…"
        left = Content.assemble(name, "  ", (model, "bold"))
        room -= len(model) + 2
        if heading.title and room > 12:
            title = f"“{one_line(heading.title, min(room - 6, 40))}”"
            left = Content.assemble(left, "  ", (title, "$text-primary"))
            room -= Content(title).cell_length + 2
        if room > 8:
            folder = short_path(heading.folder, Path.home(), min(room - 2, 60))
            left = Content.assemble(left, ("  " + folder, "$text-muted"))
        gap = width - len(left) - len(right)
        if gap < 1:
            return left.truncate(width, ellipsis=True)
        return Content.assemble(left, " " * gap, right)


def _right(heading: Heading, *, short: bool) -> Content:
    parts: list[Content] = []
    if heading.unsaved:
        parts.append(Content.styled("UNSAVED", "bold $text-error"))
    if heading.demo:
        parts.append(
            Content.styled(
                "demo model" if short else "embedded demo model, no key", "$text-warning"
            )
        )
    else:
        if heading.endpoint:
            source = (
                f" ({heading.endpoint_source})" if heading.endpoint_source and not short else ""
            )
            parts.append(Content.styled(f"{one_line(heading.endpoint, 30)}{source}", "$text-muted"))
        if heading.key_source:
            parts.append(Content.styled(f"key: {heading.key_source}", "$text-muted"))
    if heading.conflict:
        parts.append(Content.styled("! sources differ", "bold $text-warning"))
    if heading.sandbox:
        parts.append(Content.styled(heading.sandbox, "$text-success"))
    word, style = MODES[heading.mode]
    parts.append(Content.styled(f"[{word}]", style))
    return Content(" · " if not short else " ").join(parts)
