"""The one table of commands: slash completion, the palette, help and the tests are drawn from it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a user can ask for by slash or in the palette.

    It runs the pair screen's method ``run_<name>(argument)``, a name, so that this table imports no screen.
    """

    name: str
    help: str
    argument: str = ""
    """What may follow, as help shows it; "" when nothing may."""
    choices: tuple[str, ...] = ()
    """Words that completion offers for the argument."""
    while_busy: bool = True
    """Whether it may run during a turn."""
    key: str = ""
    """Id in the key table of the key that does the same."""
    early: bool = False
    """Whether it may run before the session is open; the others wait for it."""
    sheet: bool = False
    """Whether it alone only opens a sheet or leaves the chat, so that nothing in the chat answers it."""

    def refusal(self, argument: str) -> str:
        """Return why it does not take this argument; "" when it does, as far as the table knows."""
        if not argument:
            return ""
        if not self.argument:
            return f"/{self.name} takes nothing behind it, so nothing was done."
        closed = self.argument == f"[{'|'.join(self.choices)}]"
        if closed and argument not in self.choices:
            return f"Behind /{self.name} only {' or '.join(self.choices)} may follow; nothing was done."
        return ""


COMMANDS: tuple[Command, ...] = (
    Command(
        "help",
        "Commands, keys and how the layers work",
        "[word]",
        key="help",
        early=True,
        sheet=True,
    ),
    Command(
        "compact",
        "Summarise the history now; a focus is kept verbatim where it matches",
        "[focus]|preview|redo|again",
        ("preview", "redo", "again"),
    ),
    Command("retry", "Send the last request again, or let a cut answer go on", while_busy=False),
    Command("undo", "Take the newest compaction back", while_busy=False),
    Command(
        "rewind",
        "Go back to before a turn: conversation, files, or both",
        while_busy=False,
        key="back",
        sheet=True,
    ),
    Command("context", "What the next request holds, part by part", key="context", sheet=True),
    Command("cost", "Tokens and dollars of this session"),
    Command("log", "The compaction log in full", key="log", early=True, sheet=True),
    Command(
        "clear", "Start a new session; the old one can be resumed", while_busy=False, sheet=True
    ),
    Command("resume", "Go on with an earlier session", "[session]", while_busy=False, sheet=True),
    Command("rename", "Give this session a name, to find it again", "[name]"),
    Command("model", "Show or change the model", "[model]", while_busy=False, sheet=True),
    Command(
        "mode",
        "How much runs without a question",
        "[mode]",
        ("ask", "accept-edits", "read-only", "auto"),
        key="mode",
    ),
    Command(
        "rules",
        "What runs unasked and what never; why a command is asked; add or remove one",
        "[why COMMAND|remove N|allow RULE|ask RULE|deny RULE]",
        ("why", "remove", "allow", "ask", "deny"),
    ),
    Command(
        "settings",
        "Every setting, its value and where it came from",
        "[word]",
        early=True,
        sheet=True,
    ),
    Command("status", "Session, model, endpoint, folder, usage"),
    Command("queue", "See, edit or remove the messages that wait", key="queue"),
    Command("todo", "Show or hide the task list", early=True),
    Command(
        "copy", "Copy the last answer, or its last code block", "[code]", ("code",), early=True
    ),
    Command(
        "export",
        "Write the conversation to a file: Markdown, or JSON lines (.jsonl)",
        "[jsonl|path]",
        ("jsonl",),
    ),
    Command("theme", "Light, dark or a theme by name", "[theme]", key="theme", early=True),
    Command(
        "unsaved",
        "Go on with the record in a temporary folder when its own cannot be written",
        early=True,
    ),
    Command("tour", "Watch all three layers work within a minute", while_busy=False, sheet=True),
    Command("quit", "Leave; the session can be resumed", key="quit", early=True, sheet=True),
)
BY_NAME = {command.name: command for command in COMMANDS}
QUIT_WORDS = frozenset({"q", "quit", "exit"})
"""Typed alone they leave, with a slash or without."""
ELSEWHERE = {
    "permissions": "/rules",
    "allowed-tools": "/rules",
    "approvals": "/mode or /rules",
    "plan": "/mode read-only",
    "config": "/settings",
    "preferences": "/settings",
    "diff": "!git diff; /rewind shows what a turn changed",
    "tokens": "/context",
    "usage": "/cost",
    "stats": "/cost or /status",
    "new": "/clear",
    "reset": "/clear",
    "sessions": "/resume",
    "continue": "/resume",
    "checkpoint": "/rewind",
    "restore": "/rewind",
    "redo": "/compact redo",
    "summarize": "/compact",
    "compress": "/compact",
    "models": "/model",
    "todos": "/todo",
    "tasks": "/todo",
    "history": "/log; Ctrl+R searches what you sent",
    "keys": "/help",
    "commands": "/help",
}
"""What other programs call a command, and what does that here."""
LIKE = 0.7
"""How alike a mistyped name and a command must be, from 0 to 1."""
_NAME = re.compile(r"/[\w-]*")


@dataclass(frozen=True, slots=True)
class Typed:
    """A command as it was typed."""

    command: Command | None
    """None when there is no such command."""
    name: str
    argument: str


def parse(text: str) -> Typed | None:
    """Return the command in a submitted text, or None when it is a message.

    Only one line whose first word is ``/`` and a name is a command, so that a path such as ``/etc/hosts`` is none.
    """
    first, _, rest = text.strip().partition(" ")
    if not _NAME.fullmatch(first) or "\n" in text.strip():
        return None
    name = first[1:]
    known = "quit" if name.lower() in QUIT_WORDS else name.lower()
    return Typed(BY_NAME.get(known), name, rest.strip())


def unknown(name: str) -> tuple[str, str]:
    """Return what to say of a command that does not exist, and what may have been meant."""
    near = difflib.get_close_matches(name.lower(), BY_NAME, n=1, cutoff=LIKE)
    if name.lower() in ELSEWHERE:
        hint = f"Here that is {ELSEWHERE[name.lower()]}."
    elif near:
        hint = f"Did you mean /{near[0]}?"
    else:
        hint = "/help lists the commands; a message begins with a word."
    return f"There is no command /{name}.", hint


@dataclass(frozen=True, slots=True)
class Completion:
    """One offer of the completion popup."""

    text: str
    """What the prompt becomes."""
    label: str
    help: str
    span: tuple[int, int] | None = None
    """Columns of the cursor's line that ``text`` replaces; None for the whole prompt."""


Value = tuple[str, str]
"""A word that may follow a command, and what it means."""


def completions(text: str, values: Iterable[Value] = ()) -> tuple[Completion, ...]:
    """Return what may complete a prompt that begins with a slash, best first; () when nothing does.

    Args:
        text: The prompt up to the cursor.
        values: Further words for the argument of the command typed so far, such as the names of themes.
    """
    if not text.startswith("/") or "\n" in text:
        return ()
    name, blank, argument = text[1:].partition(" ")
    if not blank:
        return tuple(
            Completion(
                f"/{command.name}{' ' if command.argument else ''}",
                f"/{command.name} {command.argument}".rstrip(),
                command.help,
            )
            for command in _matching(name.lower())
        )
    command = BY_NAME.get(name.lower())
    if command is None:
        return ()
    known = dict(values)
    words = dict.fromkeys((*command.choices, *known))
    wanted = argument.lower()
    begin = [word for word in words if word.lower().startswith(wanted) and word != argument]
    hold = [word for word in words if wanted in word.lower() and word not in begin]
    return tuple(
        Completion(f"/{command.name} {word}", word, known.get(word, ""))
        for word in begin + [word for word in hold if word != argument]
    )


def _matching(name: str) -> list[Command]:
    begins = [command for command in COMMANDS if command.name.startswith(name)]
    begins.sort(key=lambda command: command.name != name)  # "/mode" in full comes before "/model"
    holds = [c for c in COMMANDS if name in c.name and c not in begins]
    return begins + holds
