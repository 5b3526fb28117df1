"""Which keys the last line names, by what is going on."""

from __future__ import annotations

from collections.abc import Mapping, Set
from enum import StrEnum

from app.core.permission import ApprovalRequest
from app.ui.keymap import shown_key
from app.ui.widgets.key_footer import Hint

CANCEL = "cancel"


class ChatKeys(StrEnum):
    """What the keyboard does in the chat."""

    ELSEWHERE = "elsewhere"
    READING = "reading"
    MARKING = "marking"
    SEARCHING = "searching"


class Offers(StrEnum):
    """What is offered above the prompt."""

    NOTHING = "nothing"
    COMPLETIONS = "completions"
    HISTORY = "history"


def hints(
    *,
    busy: bool,
    question: ApprovalRequest | None,
    log_focused: bool,
    chat: ChatKeys = ChatKeys.ELSEWHERE,
    offers: Offers = Offers.NOTHING,
    held: bool,
    moved: Mapping[str, str],
    known: Set[str] = frozenset(),
    escape: str = CANCEL,
) -> tuple[Hint, ...]:
    """Return the hints, the most useful first: the last ones are cut on a narrow screen.

    Args:
        busy: Whether a turn or a compaction runs.
        question: The question that has the keyboard, if one has.
        log_focused: Whether the log has the keyboard.
        chat: What the keyboard does in the chat.
        offers: What is offered above the prompt.
        held: Whether layer 1 holds back now.
        moved: The user's keymap.
        escape: What Esc does while something runs.
        known: Actions that the user knows by now: their hints make room for others.
    """

    def key(id: str) -> str:
        return shown_key(id, moved)

    if question is not None:
        return (Hint("↑↓", "scroll the question"), Hint("Esc", "no"), Hint("Tab", "to the prompt"))
    if chat is ChatKeys.MARKING:
        return (
            Hint("←↑↓→", "move"),
            Hint("Space", "begin"),
            Hint("Enter", "copy"),
            Hint("Esc", "end"),
            Hint("w b", "words"),
        )
    if chat is ChatKeys.SEARCHING:
        return (
            Hint("Enter ↑", "older"),
            Hint("↓", "newer"),
            Hint(key("find_stay"), "stay there"),
            Hint(key("find_close"), "back"),
        )
    if chat is ChatKeys.READING:
        return (
            Hint("↑↓", "entry"),
            Hint(key("chat_open"), "unfold"),
            Hint(key("chat_result"), "whole result"),
            Hint(key("chat_copy"), "copy"),
            Hint(key("chat_mark"), "mark text"),
            Hint(key("find"), "find", "find"),
            Hint(key("chat_follow"), "newest"),
            Hint("Tab", "on"),
        )
    if log_focused:
        clear = [Hint(key("clear_now"), "clear now")] if held else []
        return (
            Hint("Enter", "open"),
            *clear,
            Hint(key("undo"), "undo"),
            Hint(key("redo_log"), "redo"),
            Hint(key("filter"), "filter"),
            Hint("Esc", "back", "step_back"),
        )
    if offers is Offers.HISTORY:
        return (
            Hint("type", "to search what you sent"),
            Hint("↑↓", "choose"),
            Hint("Enter", "take it"),
            Hint("Esc", "back", "step_back"),
        )
    if offers is Offers.COMPLETIONS:
        return (
            Hint("↑↓", "choose"),
            Hint(key("complete"), "complete"),
            Hint("Enter", "take it"),
            Hint("Esc", "close", "step_back"),
        )
    first = (
        (Hint("Enter", "queue"), Hint("Esc", escape, "step_back"))
        if busy
        else (Hint("Enter", "send"), Hint("/", "commands"))
    )
    rest = (
        Hint(key("log"), "log", "log"),
        Hint(key("context"), "context", "context"),
        Hint(key("help"), "help", "help"),
        Hint(key("mode"), "mode", "next_mode"),
        Hint("@", "files"),
        Hint("!", "shell"),
        Hint(key("find"), "find", "find"),
        Hint(key("theme"), "theme", "app.theme"),
        Hint(key("palette"), "palette", "app.command_palette"),
        Hint(key("history"), "history"),
        Hint(key("editor"), "editor"),
        Hint(key("leave"), "quit", "app.leave"),
    )
    return (*first, *(hint for hint in rest if hint.action not in known))
