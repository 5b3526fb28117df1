"""The header's content, made from the settings and the open session."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.core.permission import Mode
from app.settings import DEFAULT, Settings
from app.ui.widgets.header_bar import Heading

if TYPE_CHECKING:
    from app.agent.session import Session


def heading_of(settings: Settings, session: Session | None, sandbox: str = "") -> Heading:
    """Return what the header says; before the session is open, what the settings promise."""
    parts = urlsplit(settings.base_url)
    host = "" if settings.official else parts.netloc or settings.base_url
    credential = settings.credential
    return Heading(
        folder=settings.folder,
        model=session.model if session else settings.model,
        demo=settings.embedded,
        endpoint=host,
        endpoint_source=_source(settings.source("base_url")),
        key_source=settings.source(credential) if credential else "",
        mode=session.mode if session else settings.mode,
        sandbox=sandbox if _confines(settings, session) else "",
        title=session.named if session else "",
        unsaved=bool(session and session.unsaved),
        conflict=str(settings.conflicts[0]) if settings.conflicts else "",
    )


def _confines(settings: Settings, session: Session | None) -> bool:
    """Whether commands run in the sandbox now."""
    mode = session.mode if session else settings.mode
    return mode is Mode.AUTO or settings.sandbox == "require"


def _source(source: str) -> str:
    return "" if source == DEFAULT else source
