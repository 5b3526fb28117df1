"""Messages typed while the agent works: they wait above the prompt until it can take them."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from app.core.visible_text import one_line

SHOWN = 3


class QueueBar(Static):
    """The newest waiting messages, one line each."""

    DEFAULT_CLASSES = "-empty"

    def show_texts(self, texts: Sequence[str]) -> None:
        """Show what waits, oldest first; nothing hides the bar."""
        self.set_class(not texts, "-empty")
        hidden = len(texts) - SHOWN
        rows = [Content.styled(f"  … {hidden} before", "$text-muted")] if hidden > 0 else []
        for at, text in enumerate(texts[-SHOWN:], start=max(0, hidden)):
            last = at == len(texts) - 1
            rows.append(
                Content.assemble(
                    ("↳ queued  ", "$text-warning"),
                    one_line(text, 200),
                    ("   Esc brings it back" if last else "", "$text-muted"),
                )
            )
        self.update(Content("\n").join(rows))
