"""The real clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Implements `core.ports.Clock` with the machine's clocks."""

    def now(self) -> str:
        """Return the time in UTC, ISO 8601 with milliseconds and a ``Z``."""
        return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        return time.monotonic()
