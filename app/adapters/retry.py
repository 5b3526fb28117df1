"""When a failed model call is tried again, and after which pause."""

from __future__ import annotations

from dataclasses import dataclass

from app.adapters.connection_errors import ConnectionFailed, Reach
from app.errors import Busy, ModelError, StreamBroken, Unreachable

_HOPELESS = (Reach.CERTIFICATE, Reach.TLS, Reach.PROXY_REFUSED)
"""Failures that another attempt a few seconds later does not change."""
_OFFLINE = (Reach.REFUSED, Reach.NO_SUCH_HOST, Reach.NO_ROUTE, Reach.TIMED_OUT, Reach.PROXY)
LOST = 2
"""Factor on the attempts once the endpoint has answered before: with six attempts about four minutes."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Attempts and pauses; all times in seconds."""

    attempts: int = 6
    """Attempts of one call in all, when the endpoint is busy or not reached."""
    broken_attempts: int = 3
    """Attempts when answers break off, which were paid for, or the endpoint falls silent, which takes minutes."""
    refused_attempts: int = 2
    """Attempts when no connection comes about: the address may be wrong."""
    first_pause: float = 1.0
    """Pause after the first failure; it doubles with each one."""
    longest_backoff: float = 32.0
    longest_wait: float = 60.0
    """The longest pause a server may ask for; beyond it the call fails and says how long."""
    jitter: float = 0.25
    """Largest part of a pause that chance takes off, so that clients do not come back together."""

    def attempts_for(self, error: ModelError, *, known: bool = False) -> int:
        """Return how often a call that failed like this is tried in all; 1 means never again.

        Args:
            error: Why the call failed.
            known: Whether the endpoint was reached before: then the network is gone, for minutes perhaps.
        """
        if known and self.attempts > 1 and _is_offline(error):
            return self.attempts * LOST
        match error:
            case ConnectionFailed(reach=reach) if reach in _HOPELESS:
                limit = 1
            case ConnectionFailed() if _is_offline(error):
                limit = self.refused_attempts
            case StreamBroken() | ConnectionFailed(reach=Reach.SILENT):
                limit = self.broken_attempts
            case Busy() | Unreachable():
                limit = self.attempts
            case _:
                limit = 1
        return min(limit, self.attempts)

    def pause(
        self, error: ModelError, attempt: int, chance: float, *, known: bool = False
    ) -> float:
        """Return the seconds before the next attempt.

        Args:
            error: Why the attempt failed.
            attempt: The failed attempt, from 1.
            chance: A random number from 0 to 1.
            known: Whether the endpoint was reached before.

        Raises:
            ModelError: No further attempt is made; it is ``error``, or a `Busy` that names a wait too long to keep.
        """
        asked = error.retry_after if isinstance(error, Busy) else None
        if asked is not None and asked > self.longest_wait:
            raise Busy(
                f"{str(error).rstrip('.')}. The server asks to wait {spell_seconds(asked)}.",
                hint="Try again then, or choose another model or endpoint.",
                retry_after=asked,
                status=error.status,
                url=error.url,
            )
        if attempt >= self.attempts_for(error, known=known):
            raise error
        if asked is not None and asked > 0:
            return asked
        backoff = min(self.longest_backoff, self.first_pause * 2.0 ** min(attempt - 1, 30))
        return backoff * (1 - self.jitter * chance)


def _is_offline(error: ModelError) -> bool:
    return isinstance(error, ConnectionFailed) and error.reach in _OFFLINE


def spell_seconds(seconds: float) -> str:
    """Return a span as people say it, such as ``90 s``, ``12 min`` or ``24 h``."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7_200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:.0f} h"
