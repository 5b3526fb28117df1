"""The one table of keys: bindings, the footer, help and the tests are drawn from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from textual.binding import Binding


class Place(StrEnum):
    """Where a key works."""

    EVERYWHERE = "everywhere"
    PAIR = "beside the chat"
    PROMPT = "prompt"
    CHAT = "in the chat"
    SEARCH = "searching the chat"
    QUESTION = "question"
    LOG = "log"
    DETAILS = "details"
    SESSIONS = "earlier sessions"
    REWIND = "rewind"
    WORDS = "words to the model, or a command that is edited"
    SHEET = "every sheet"
    PREVIEW = "summary preview"
    SETTINGS = "settings"
    QUEUE = "queued messages"
    TRUST = "the question of trust"


@dataclass(frozen=True, slots=True)
class Key:
    """One key and what it does there."""

    id: str
    """Name by which a user's keymap can move it."""
    keys: str
    """Textual's names, separated by commas; the first is the one that is shown."""
    action: str
    what: str
    place: Place
    priority: bool = False


KEYS: tuple[Key, ...] = (
    Key(
        "interrupt",
        "ctrl+c",
        "interrupt",
        "copy, cancel, or quit when pressed twice",
        Place.EVERYWHERE,
        True,
    ),
    Key("help", "f1", "help", "help", Place.PAIR),
    Key("context", "ctrl+b", "context", "what the context holds", Place.PAIR),
    Key("log", "ctrl+l", "log", "open or close the compaction log", Place.PAIR),
    Key("theme", "ctrl+t", "theme", "light or dark", Place.EVERYWHERE, True),
    Key(
        "palette", "ctrl+p", "command_palette", "palette with all commands", Place.EVERYWHERE, True
    ),
    Key(
        "suspend",
        "ctrl+z",
        "suspend_process",
        "to the shell; fg comes back",
        Place.EVERYWHERE,
        True,
    ),
    Key("queue", "alt+up", "queue", "see, edit or remove what is queued", Place.PAIR),
    Key("chat_end", "ctrl+end", "chat_end", "newest line of the chat", Place.PAIR, True),
    Key("find", "ctrl+f", "find", "search the chat, also what is not shown yet", Place.PAIR, True),
    Key("quit", "ctrl+q", "leave", "quit", Place.EVERYWHERE, True),
    Key(
        "back",
        "escape",
        "step_back",
        "close, no, queue back, cancel; twice: rewind",
        Place.PAIR,
    ),
    Key("send", "enter", "send", "send; an empty line does nothing", Place.PROMPT),
    Key(
        "newline",
        "shift+enter,alt+enter,ctrl+j",
        "newline",
        "new line; so does \\ before Enter",
        Place.PROMPT,
    ),
    Key("mode", "shift+tab", "next_mode", "next mode", Place.PROMPT),
    Key("complete", "tab", "complete", "take the offered completion", Place.PROMPT),
    Key("up", "up", "up", "line up, or the message before", Place.PROMPT),
    Key("down", "down", "down", "line down, or the message after", Place.PROMPT),
    Key("page_up", "pageup", "chat_page(-1)", "scroll the chat up", Place.PROMPT),
    Key("page_down", "pagedown", "chat_page(1)", "scroll the chat down", Place.PROMPT),
    Key("history", "ctrl+r", "search_history", "search what you sent before", Place.PROMPT),
    Key("editor", "ctrl+g", "editor", "write in your editor", Place.PROMPT),
    Key("paste", "ctrl+v", "paste", "paste a picture, or what was cut here", Place.PROMPT),
    Key("unfold", "ctrl+o", "unfold", "a folded paste as text, to edit it", Place.PROMPT),
    Key("undo_typing", "ctrl+underscore,ctrl+slash,super+z", "undo", "undo typing", Place.PROMPT),
    Key("redo_typing", "ctrl+y,super+y", "redo", "redo typing", Place.PROMPT),
    Key("leave", "ctrl+d", "delete_or_quit", "quit when the prompt is empty", Place.PROMPT),
    Key("chat_previous", "up,k", "cursor_up", "previous entry", Place.CHAT),
    Key("chat_next", "down,j", "cursor_down", "next entry", Place.CHAT),
    Key("chat_open", "enter,space", "open", "unfold, fold, or open a compaction", Place.CHAT),
    Key("chat_result", "o", "open_tool", "the whole result of a tool", Place.CHAT),
    Key("chat_copy", "y", "copy_entry", "copy the entry as Markdown", Place.CHAT),
    Key("chat_unfold_all", "e", "toggle_all", "unfold or fold all tools", Place.CHAT),
    Key("chat_diff", "d", "toggle_diff", "diffs side by side, or not", Place.CHAT),
    Key(
        "chat_mark",
        "v",
        "mark",
        "mark text: move, Space begins, Enter copies, Esc ends",
        Place.CHAT,
    ),
    Key("chat_mark_up", "shift+up", "mark_step('up')", "mark from here up", Place.CHAT),
    Key("chat_mark_down", "shift+down", "mark_step('down')", "mark from here down", Place.CHAT),
    Key("chat_mark_left", "shift+left", "mark_step('left')", "mark to the left", Place.CHAT),
    Key("chat_mark_right", "shift+right", "mark_step('right')", "mark to the right", Place.CHAT),
    Key("chat_top", "home,g", "scroll_home", "oldest line", Place.CHAT),
    Key("chat_follow", "end,G", "follow", "newest line", Place.CHAT),
    Key("find_older", "enter,up", "older", "next older place", Place.SEARCH),
    Key("find_newer", "down,shift+enter", "newer", "next newer place", Place.SEARCH),
    Key("find_stay", "tab", "stay", "close and stay at the place", Place.SEARCH),
    Key("find_close", "escape", "close", "close and go back", Place.SEARCH),
    Key("yes", "y", "yes", "yes, once", Place.QUESTION),
    Key("no", "n", "no", "no, with words to the model", Place.QUESTION),
    Key("always", "a", "always", "always: adds the rule shown", Place.QUESTION),
    Key("wider", "w", "wider", "the next wider rule for always", Place.QUESTION),
    Key("edit", "e", "edit", "edit the command first", Place.QUESTION),
    Key("question_up", "up", "scroll_detail(-1)", "scroll the question up", Place.QUESTION),
    Key("question_down", "down", "scroll_detail(1)", "scroll the question down", Place.QUESTION),
    Key("question_page_up", "pageup", "scroll_detail(-10)", "ten lines up", Place.QUESTION),
    Key("question_page_down", "pagedown", "scroll_detail(10)", "ten lines down", Place.QUESTION),
    Key("words_done", "enter", "hand_in", "take it", Place.WORDS),
    Key("words_leave", "escape", "leave", "back to the question", Place.WORDS),
    Key("words_newline", "ctrl+j,shift+enter,alt+enter", "newline", "new line", Place.WORDS),
    Key("open", "enter", "select", "open the event", Place.LOG),
    Key("clear_now", "c", "clear_now", "clear old results now", Place.LOG),
    Key("undo", "u", "undo", "undo the row's compaction, if it is the newest", Place.LOG),
    Key("redo_log", "r", "redo", "take an undo back", Place.LOG),
    Key("filter", "f", "filter", "all events, one layer, or held and refused", Place.LOG),
    Key("both", "b", "both", "conversation and files go back", Place.REWIND),
    Key("conversation", "c", "conversation", "only the conversation goes back", Place.REWIND),
    Key("files", "f", "files", "only files go back", Place.REWIND),
    Key("overwrite", "o", "overwrite", "also files that something else changed", Place.REWIND),
    Key("tab_left", "left", "tab(-1)", "the tab on the left", Place.DETAILS, True),
    Key("tab_right", "right", "tab(1)", "the tab on the right", Place.DETAILS, True),
    Key("undo_here", "u", "undo", "undo this compaction, if it is the newest", Place.DETAILS),
    Key("clear_here", "c", "clear_now", "clear old results now, where that is held", Place.DETAILS),
    Key("again_here", "r", "again", "summarise anew from the record", Place.DETAILS),
    Key(
        "pin", "p", "pin", "pin the result, so that it is never cleared, or free it", Place.DETAILS
    ),
    Key(
        "bring_back",
        "b",
        "bring_back",
        "the result to the model again, with your next message",
        Place.DETAILS,
    ),
    Key("close", "escape,q", "close", "back", Place.SHEET),
    Key("preview_apply", "ctrl+s", "apply", "compact with this text", Place.PREVIEW),
    Key("setting_keep", "ctrl+s", "save", "keep the value for all sessions", Place.SETTINGS),
    Key("setting_search", "slash", "search", "search", Place.SETTINGS),
    Key("queue_remove", "delete,backspace,x", "remove", "remove the message", Place.QUEUE),
    Key("trust_all", "y", "answer('all')", "trust everything the folder sets", Place.TRUST),
    Key("trust_plain", "p", "answer('plain')", "all but endpoint and keys", Place.TRUST),
    Key("trust_nothing", "n", "answer('nothing')", "ignore the folder's files", Place.TRUST),
    Key("session_fork", "ctrl+f", "fork", "go on with a copy", Place.SESSIONS, True),
    Key("session_rename", "ctrl+r", "rename", "give it a name", Place.SESSIONS, True),
    Key("session_export", "ctrl+e", "export", "write it to a file", Place.SESSIONS, True),
    Key("session_delete", "ctrl+d", "delete", "delete it, after a question", Place.SESSIONS, True),
)
BY_ID = {key.id: key for key in KEYS}
NOT_MOVED: Mapping[str, str] = MappingProxyType({})
"""The keymap of a user who moved no key."""

_SHOWN = {
    "escape": "Esc",
    "enter": "Enter",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "tab": "Tab",
    "up": "↑",
    "down": "↓",
    "end": "End",
    "home": "Home",
    "underscore": "_",
    "slash": "/",
}
_FUNCTION_KEY = re.compile(r"f\d{1,2}")


def bindings(place: Place) -> list[Binding]:
    """Return the bindings of a place; each carries its id, so that a keymap can move it."""
    return [
        Binding(key.keys, key.action, key.what, show=False, priority=key.priority, id=key.id)
        for key in KEYS
        if key.place is place
    ]


def actions(place: Place, moved: Mapping[str, str] = NOT_MOVED) -> dict[str, str]:
    """Return the actions of a place by key, as a user's keymap moved them."""
    return {
        name: key.action
        for key in KEYS
        if key.place is place
        for name in moved.get(key.id, key.keys).split(",")
    }


def shown(keys: str) -> str:
    """Return a key as people write it: ``Ctrl+B`` for ``ctrl+b``; of several the first."""
    *held, pressed = keys.split(",", maxsplit=1)[0].split("+")
    names = [_SHOWN.get(part, part.title() if len(part) > 1 else part) for part in held]
    is_capital = bool(held) or _FUNCTION_KEY.fullmatch(pressed)
    names.append(_SHOWN.get(pressed, pressed.upper() if is_capital else pressed))
    return "+".join(names)


def shown_key(id: str, moved: Mapping[str, str] = NOT_MOVED) -> str:
    """Return the key of an id as people write it, as a user's keymap moved it."""
    return shown(moved.get(id, BY_ID[id].keys))


def in_force(moved: Mapping[str, str]) -> Mapping[str, str]:
    """Return a user's keymap as it is used: not at all when something is wrong with it."""
    return NOT_MOVED if check(moved) else moved


def check(moved: Mapping[str, str]) -> list[str]:
    """Return what is wrong with a user's keymap, one sentence each."""
    return [
        f"keymap: there is no key named {name!r}; known are {', '.join(BY_ID)}"
        for name in moved
        if name not in BY_ID
    ]
