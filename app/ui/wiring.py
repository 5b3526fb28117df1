"""What the screen needs from outside: given by the command line, never looked up."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from app.agent.session import Session
    from app.core.ports import Approver
    from app.errors import PalError
    from app.settings import Level, Settings, TrustQuestion

SessionOpener = Callable[["Approver"], Awaitable["Session"]]
"""Opens the session to begin with. Called after the first paint, so that slow imports belong in it."""
SessionReopener = Callable[["Approver", str | None], Awaitable["Session"]]
"""Opens an earlier session by its name, or a new one for None. The one before is still open."""


@dataclass(frozen=True, slots=True)
class SessionCard:
    """An earlier session, for the picker."""

    name: str
    first_words: str
    time: str
    """When it was last written to, ISO 8601."""
    messages: int = 0
    compactions: int = 0
    model: str = ""
    size: int = 0
    """Bytes on disk."""
    title: str = ""
    """What the user named it."""
    too_new: int = 0
    """Version of its format when that is newer than this program reads; else 0."""
    holder: str = ""
    """The process that has it open; "" when none has."""


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A place in an earlier session where the wanted words were said."""

    session: str
    id: str
    """``m<N>`` or ``r<N>``; "" when it can have none."""
    who: str
    line: str


class SessionShelf(Protocol):
    """The earlier sessions of the folder. All methods raise `PalError`."""

    def cards(self) -> AsyncGenerator[Sequence[SessionCard], None]:
        """Yield the sessions in batches, the last used ones first."""
        ...

    def search(self, text: str) -> AsyncGenerator[SessionHit, None]:
        """Yield for each session the newest place where all words of the text were said; close it to end the search."""
        ...

    async def find(self, text: str) -> str:
        """Return the name of the session with that name, beginning of a name, or title."""
        ...

    async def fork(self, name: str) -> str:
        """Copy a session; return the name of the copy."""
        ...

    async def rename(self, name: str, title: str) -> str:
        """Give a session another title; return it as it is kept."""
        ...

    async def delete(self, name: str) -> None:
        """Delete a session with everything in it."""
        ...

    async def export(self, name: str, file: str) -> Path:
        """Write a session to a new file and return its path: Markdown, or JSON lines for a name in ``.jsonl``."""
        ...


@dataclass(frozen=True, slots=True)
class Wiring:
    """Everything but the session itself."""

    open_session: SessionOpener
    settings: Settings
    reopen: SessionReopener | None = None
    open_unsaved: SessionOpener | None = None
    """Opens a new session with a temporary record, for when the record of none can be written."""
    shelf: SessionShelf | None = None
    """The earlier sessions of the folder."""
    trust: TrustQuestion | None = None
    """What to ask before anything is opened."""
    answer_trust: Callable[[Level], Settings] | None = None
    """Stores the answer and returns the settings that hold with it."""
    save_setting: Callable[[str, str], None] | None = None
    """Writes a setting by name to the user's settings file."""
    settings_changed: Callable[[Settings], None] = lambda _settings: None
    """Hears what is in force from now on: sessions are opened with it."""
    state_folder: Path | None = None
    """Where the prompt history is kept; None keeps it in memory."""
    mask: Callable[[str], str] = str
    """Takes secrets out of a text that is written to the disk."""
    crashed: Callable[[BaseException], PalError] | None = None
    """Keeps a report of a failure of the program and returns what is told of it."""
    first_run: bool = False
    choose: bool = False
    """Whether to offer the earlier sessions first."""
    sandbox: Callable[[], str] = str
    """Returns the name of the working sandbox; "" when there is none, or before a session is open."""
