"""What the screen needs from outside: given by the command line, never looked up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.agent.session import Session
    from app.core.ports import Approver
    from app.errors import PalError
    from app.settings import Level, Settings, TrustQuestion

SessionOpener = Callable[["Approver"], Awaitable["Session"]]
"""Opens the session to begin with. Called after the first paint, so that slow imports belong in it."""
SessionReopener = Callable[["Approver", str | None], Awaitable["Session"]]
"""Opens an earlier session by its name, or a new one for None. The one before is closed already."""


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


@dataclass(frozen=True, slots=True)
class Wiring:
    """Everything but the session itself."""

    open_session: SessionOpener
    settings: Settings
    reopen: SessionReopener | None = None
    open_unsaved: SessionOpener | None = None
    """Opens a new session with a temporary record, for when the record of none can be written."""
    list_sessions: Callable[[], Awaitable[Sequence[SessionCard]]] | None = None
    trust: TrustQuestion | None = None
    """What to ask before anything is opened."""
    answer_trust: Callable[[Level], Settings] | None = None
    """Stores the answer and returns the settings that hold with it."""
    save_setting: Callable[[str, str], None] | None = None
    """Writes a setting by name to the user's settings file."""
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
