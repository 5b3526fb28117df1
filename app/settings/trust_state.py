"""How far a project's own files count, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How far a folder's files count."""

    NOTHING = "nothing"
    PLAIN = "plain"
    """All but endpoint, credentials and transcript folder."""
    ALL = "all"


@dataclass(frozen=True, slots=True)
class TrustState:
    """What the user confirmed for a folder."""

    level: Level = Level.NOTHING
    fingerprint: str = ""
    """The content it was given for; "" stands for whatever is there now."""
    foreign_key: bool = False
    """Whether a key from elsewhere may go to the project's endpoint."""
    plain_http: frozenset[str] = frozenset()
    """Unencrypted addresses that were confirmed."""


UNTRUSTED = TrustState()
