"""Which keys the last line names, by what is going on."""

from __future__ import annotations

from app.core.permission import ApprovalRequest
from app.ui.keymap import shown_key
from app.ui.widgets.key_footer import Hint


def hints(
    *, busy: bool, question: ApprovalRequest | None, log_focused: bool, held: bool
) -> tuple[Hint, ...]:
    """Return the hints, the most useful first: the last ones are cut on a narrow screen."""
    if question is not None:
        return (Hint("↑↓", "scroll the question"), Hint("Esc", "no"), Hint("Tab", "to the prompt"))
    if log_focused:
        clear = [Hint(shown_key("clear_now"), "clear now")] if held else []
        return (
            Hint("Enter", "open"),
            *clear,
            Hint(shown_key("undo"), "undo"),
            Hint(shown_key("filter"), "filter"),
            Hint("Esc", "back", "step_back"),
        )
    first = (
        (Hint("Enter", "queue"), Hint("Esc", "cancel", "step_back"))
        if busy
        else (Hint("Enter", "send"), Hint("/", "commands"))
    )
    return (
        *first,
        Hint(shown_key("log"), "log", "log"),
        Hint(shown_key("context"), "context", "context"),
        Hint(shown_key("help"), "help", "help"),
        Hint(shown_key("mode"), "mode", "next_mode"),
        Hint(shown_key("theme"), "theme", "app.theme"),
        Hint("Ctrl+P", "palette", "app.command_palette"),
        Hint(shown_key("leave"), "quit", "app.leave"),
    )
