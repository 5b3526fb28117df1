"""A unified diff as styled lines: sign, colour and line by line."""

from __future__ import annotations

from textual.content import Content

_STYLES = {"+": "$text-success", "-": "$text-error", "@": "$text-accent"}


def diff_content(diff: str) -> Content:
    """Return a unified diff with added and removed lines told apart by sign and colour."""
    rows: list[Content] = []
    for line in diff.split("\n"):
        head = line.startswith(("+++", "---"))
        style = "bold" if head else _STYLES.get(line[:1], "")
        rows.append(Content.styled(line, style) if style else Content(line))
    return Content("\n").join(rows)
