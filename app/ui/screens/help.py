"""Commands, keys and the three layers, drawn from the tables and searchable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from textwrap import wrap

from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input, Static

from app.ui.commands import COMMANDS
from app.ui.keymap import KEYS, NOT_MOVED, shown
from app.ui.layer_names import NAMES
from app.ui.screens.sheet import Sheet
from app.ui.widgets.key_footer import Hint

Row = tuple[str, str]
NAME = 26
"""Cells of the column with names."""

LAYERS: tuple[Row, ...] = tuple((name.title, name.does) for name in NAMES.values())
PROMPT: tuple[Row, ...] = (
    ("@name", "files and folders by a few letters; what git ignores is left out"),
    (
        "!command",
        "run it yourself, with your rights; command, exit code and output go with your next message",
    ),
    ("!!command", "the same, and the model is not told; both stand in the record"),
    (
        "line break",
        "Shift+Enter where the terminal tells it from Enter, else Alt+Enter, Ctrl+J or \\ and Enter",
    ),
    (
        "large pastes",
        "become one line and are sent whole; backspace removes one, Ctrl+O makes it text again",
    ),
    ("pictures", "drop the file, paste its path, or Ctrl+V; PNG, JPEG, GIF, WebP up to 3.9 MB"),
    (
        "while it works",
        "what you send waits: Esc brings the newest back, Alt+↑ or /queue shows all",
    ),
    ("unsent text", "is kept, also when the program is killed: the next start here brings it back"),
)
TERMINAL: tuple[Row, ...] = (
    (
        "select",
        "drag, or Tab to the chat and v; with the terminal's own means Shift+drag, in iTerm2 Option+drag, "
        "in Terminal.app Fn+drag",
    ),
    (
        "copy",
        "Ctrl+C copies a selection, /copy the last answer: to the terminal's clipboard, also over ssh, in tmux "
        "and screen, and to ~/.local/state/palimpsest/copied.md for those that take none",
    ),
    ("colours", "NO_COLOR is respected; /theme ansi-dark takes the terminal's own colours"),
    (
        "calls you",
        "setting notify; inside tmux set focus-events on, and allow-passthrough on for the desktop's",
    ),
    ("to the shell", "Ctrl+Z, and fg to come back"),
    ("without a screen", "TERM=dumb pal talks line by line"),
)


def groups(moved: Mapping[str, str] = NOT_MOVED) -> list[tuple[str, list[Row]]]:
    """Return all that help shows: title and rows."""
    found: list[tuple[str, list[Row]]] = [("the layers", list(LAYERS))]
    commands = [(f"/{c.name} {c.argument}".rstrip(), c.help) for c in COMMANDS]
    commands.append(("q, quit, exit", "typed alone: leave"))
    found.append(("commands", commands))
    for place in dict.fromkeys(key.place for key in KEYS):
        rows = [
            (_all_shown(moved.get(key.id, key.keys)), key.what)
            for key in KEYS
            if key.place is place
        ]
        found.append((f"keys · {place}", rows))
    found[2:2] = [("the prompt", list(PROMPT))]
    found.append(("terminal", list(TERMINAL)))
    return found


def help_text(word: str, width: int, moved: Mapping[str, str] = NOT_MOVED) -> Content:
    """Return the rows that hold ``word``, grouped, for lines of ``width`` cells and the user's keymap."""
    wanted = word.casefold().strip()
    rows: list[Content] = []
    for title, entries in groups(moved):
        hits = [(a, b) for a, b in entries if wanted in f"{title} {a} {b}".casefold()]
        if hits:
            rows.append(Content.styled(title, "bold $text-primary"))
            rows += [line for name, text in hits for line in _rows(name, text, width)]
            rows.append(Content(""))
    return Content("\n").join(rows) if rows else Content("Nothing holds that word.")


def _rows(name: str, text: str, width: int) -> list[Content]:
    """Return one entry: its name, and its text wrapped in a column of its own."""
    lines = wrap(text, max(20, width - NAME - 2)) or [""]
    head = [] if len(name) < NAME else [Content.styled(f"  {name}", "bold")]
    names = ["" if head else f"  {name}"] + [""] * (len(lines) - 1)
    return head + [
        Content.assemble((f"{left:{NAME}}  ", "bold"), line)
        for left, line in zip(names, lines, strict=True)
    ]


class HelpScreen(Sheet[None]):
    """All tables in one list; typing searches."""

    def __init__(self, word: str = "", moved: Mapping[str, str] = NOT_MOVED) -> None:
        super().__init__()
        self._word = word
        self._moved = moved

    def title_text(self) -> str:
        return "help"

    def hint_row(self) -> tuple[Hint, ...]:
        return (Hint("type", "to search"), Hint("↑↓", "scroll"), Hint("Esc", "back", "close"))

    def body(self) -> Iterable[Widget]:
        yield Input(self._word, placeholder="search commands and keys", compact=True)
        with VerticalScroll(can_focus=False):
            yield Static(markup=False)

    def on_resize(self) -> None:
        self._fill()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._word = event.value
        self._fill()

    def _fill(self) -> None:
        width = self.query_one(VerticalScroll).content_size.width
        self.query_one(Static).update(help_text(self._word, width, self._moved))

    def on_key(self, event: Key) -> None:
        """Scroll with the arrows while the keyboard stays in the search line."""
        step = {"down": 1, "up": -1, "pagedown": 10, "pageup": -10}.get(event.key)
        if step:
            self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)


def _all_shown(keys: str) -> str:
    return ", ".join(shown(key) for key in keys.split(","))
