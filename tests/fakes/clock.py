"""A clock that a test sets: it stands still until it is told to move."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class FakeClock:
    """Time under the test's control; ``step`` seconds pass at each look at `now`."""

    def __init__(self, start: str = "2026-11-29T22:16:40.000Z", *, step: float = 0.0) -> None:
        self._time = datetime.fromisoformat(start).astimezone(UTC)
        self._monotonic = 1000.0
        self._step = step

    def now(self) -> str:
        """The time in UTC, ISO 8601 with milliseconds and a Z."""
        text = self._time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._time += timedelta(seconds=self._step)
        return text

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._time += timedelta(seconds=seconds)
        self._monotonic += seconds

    def turn_back(self, seconds: float) -> None:
        """Set the wall clock back, as a user or a time server does; `monotonic` goes on."""
        self._time -= timedelta(seconds=seconds)
