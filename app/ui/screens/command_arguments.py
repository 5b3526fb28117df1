"""What may follow each command, for completion: names that the program knows or can ask for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from app.core.permission import Mode
from app.core.visible_text import one_line
from app.errors import PalError
from app.settings import rows
from app.ui.commands import COMMANDS, Value
from app.ui.export import export_name
from app.ui.screens.settings_in_force import keep_settings

if TYPE_CHECKING:
    from app.core.requests import ModelInfo
    from app.ui.screens.pair import PairScreen
    from app.ui.wiring import SessionCard

FOCUS_EXAMPLES: tuple[Value, ...] = (
    ("preview", "read and edit the summary first"),
    ("redo", "take an undo back: the compaction is in force again"),
    ("again", "make the newest summary anew; a focus may follow"),
    ("the failing test and its fix", "a focus: what matches it stays word for word"),
    ("what we decided about the interface", "a focus, in your own words"),
)
MODES: tuple[Value, ...] = (
    (Mode.ASK, "writes and commands ask"),
    (Mode.ACCEPT_EDITS, "edits run unasked, commands ask"),
    (Mode.READ_ONLY, "nothing is changed"),
    (Mode.AUTO, "everything, inside the sandbox"),
)


class CommandArguments:
    """Words for the arguments of commands; what takes time is fetched once and offered when it is there."""

    def __init__(self, screen: PairScreen) -> None:
        self._screen = screen
        self._models: Sequence[ModelInfo] = ()
        self._cards: Sequence[SessionCard] = ()
        self._fetching: set[str] = set()

    def values(self, name: str) -> Iterable[Value]:
        """Return the words that may follow a command, with what they mean."""
        match name:
            case "theme":
                return [(theme, "") for theme in sorted(self._screen.app.available_themes)]
            case "mode":
                return MODES
            case "compact":
                return FOCUS_EXAMPLES
            case "copy":
                return (("code", "the last code block of the answer"),)
            case "settings":
                return [
                    (row.name, one_line(f"{row.value or '(none)'} · {row.help}", 200))
                    for row in rows(keep_settings(self._screen))
                ]
            case "help":
                return [(command.name, command.help) for command in COMMANDS]
            case "model":
                self._fetch(name)
                return [(m.id, m.name if m.name != m.id else "") for m in self._models]
            case "resume":
                self._fetch(name)
                return [(card.name, one_line(card.first_words, 120)) for card in self._cards]
            case "rules":
                rules = self._screen.session.rules if self._screen.session else ()
                return [(f"remove {n}", str(rule)) for n, rule in enumerate(rules, 1)]
            case "export":
                session = self._screen.session
                if session is None:
                    return ()
                name = export_name(session)
                return (
                    (f"{name}.md", "Markdown, in the project"),
                    (f"{name}.jsonl", "one message a line, in the project"),
                )
            case _:
                return ()

    def _fetch(self, name: str) -> None:
        """Ask for a list, once as long as the session is open, and offer it when it came."""
        session = self._screen.session
        key = f"{name} {session.name if session else ''}"
        if session is not None and key not in self._fetching:
            self._fetching.add(key)
            self._screen.run_worker(self._fetched(name), group="arguments")

    async def _fetched(self, name: str) -> None:
        session, shelf = self._screen.session, self._screen.app.wiring.shelf
        try:
            if name == "model" and session is not None:
                self._models = await session.models()
            elif name == "resume" and shelf is not None:
                self._cards = [card async for batch in shelf.cards() for card in batch]
        except PalError:
            return  # the command itself says what is wrong
        self._screen.prompt.offer()
