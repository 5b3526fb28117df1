"""Ink names resolved to styles of the theme in force: looked up once, shared by every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.style import Style as RichStyle
from textual.color import Color
from textual.style import Style

from app.ui.chat.lines import PLAIN_INKS, Beside, Inks, Link
from app.ui.contrast import is_opaque, readable

if TYPE_CHECKING:
    from textual.widget import Widget

PREFIX = "chat--"
NAMES = (
    "user",
    "user-bar",
    "muted",
    "heading",
    "title",
    "code",
    "code-block",
    "code-rail",
    "quote",
    "quote-rail",
    "link",
    "bullet",
    "rule",
    "table-rule",
    "thinking",
    "tool",
    "target",
    "ok",
    "failed",
    "running",
    "output",
    "rail",
    "added",
    "added-mark",
    "removed",
    "removed-mark",
    "added-sign",
    "removed-sign",
    "hunk",
    "divider",
    "divider-strong",
    "notice",
    "warning",
    "error",
    "cursor",
    "caret",
    "selected",
    "match",
    "match-now",
    "syntax-comment",
    "syntax-keyword",
    "syntax-string",
    "syntax-number",
    "syntax-name",
    "syntax-type",
    "syntax-operator",
    "syntax-tag",
)
DRAWN = frozenset({"user-bar", "cursor", "code-rail", "quote-rail", "rail", "rule", "table-rule"})
"""Inks of lines and bars, which nobody has to read."""
COMPONENTS = frozenset(PREFIX + name for name in NAMES)
"""The component classes that a widget with inks must declare."""


class InkPot:
    """The styles of one widget. The same inks always give the very same style object."""

    __slots__ = ("_painted", "_widget")

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._painted: dict[Inks, RichStyle] = {}

    def clear(self) -> None:
        """Forget everything; the theme changed."""
        self._painted.clear()

    def paint(self, inks: Inks) -> RichStyle:
        """Return the style of inks laid over the widget's own colours."""
        style = self._painted.get(inks)
        if style is None:
            style = self._painted[inks] = self._mixed(inks)
        return style

    def _mixed(self, inks: Inks) -> RichStyle:
        base = self._widget.visual_style
        background, foreground = base.background or Color(0, 0, 0, 0), base.foreground
        automatic: float | None = None
        attributes: dict[str, Any] = {}
        meta: dict[str, object] = {}
        for ink in inks:
            if isinstance(ink, Link):
                meta["@click"] = f"link({ink.url!r})"
                continue
            if isinstance(ink, Beside):
                continue
            if ink in PLAIN_INKS:
                attributes[ink] = True
                continue
            styles = self._widget.get_component_styles(PREFIX + ink)
            if styles.has_rule("background"):
                background = background + styles.background
            if styles.has_rule("auto_color") and styles.auto_color:
                automatic = styles.color.a
            elif styles.has_rule("color"):
                foreground, automatic = styles.color, None
            attributes.update(_attributes(styles.text_style))
        if automatic is not None:
            foreground = background.get_contrast_text(automatic)
        if is_opaque(background) and DRAWN.isdisjoint(inks):
            foreground = readable(background + foreground, background)
        mixed = Style(background, foreground, **attributes)
        if meta:
            mixed += Style.from_meta(meta)
        return mixed.rich_style


def _attributes(style: RichStyle) -> dict[str, bool]:
    """Return the text attributes that a style switches on."""
    names = ("bold", "dim", "italic", "underline", "reverse", "strike")
    return {name: True for name in names if getattr(style, name)}
