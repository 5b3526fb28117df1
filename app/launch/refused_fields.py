"""Optional fields of a request that an endpoint refused, kept over runs: no first request is lost to them again."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path

from app.settings.private_file import write_private

FILE = "refused_fields.json"
LIFE_SECONDS = 30 * 24 * 3_600
"""How long a refusal is believed: a server may learn a field with its next version."""
MOST = 100
"""Refusals that are kept, of all endpoints together; the oldest go."""
MOST_BYTES = 1_000_000


class RefusedFields:
    """What one endpoint refused. Blocks.

    Args:
        file: Where the refusals of all endpoints are kept, by a hash of the address: that may hold a password.
        endpoint: The endpoint's address.
        now: Seconds since 1970.
    """

    def __init__(self, file: Path, endpoint: str, now: Callable[[], float] = time.time) -> None:
        self._file = file
        self._endpoint = hashlib.sha256(endpoint.encode()).hexdigest()[:16]
        self._now = now

    def known(self) -> frozenset[str]:
        """Return the fields that it refused lately; none where the file is missing or damaged."""
        return frozenset(field for endpoint, field in self._read() if endpoint == self._endpoint)

    def add(self, field: str) -> None:
        """Keep a refusal, as far as that is possible."""
        times = self._read() | {(self._endpoint, field): self._now()}
        newest = sorted(times.items(), key=lambda item: item[1])[-MOST:]
        rows = [[endpoint, name, at] for (endpoint, name), at in newest]
        try:
            write_private(self._file, json.dumps(rows))
        except OSError:
            return  # then the next run asks once more

    def _read(self) -> dict[tuple[str, str], float]:
        try:
            with self._file.open("rb") as file:
                rows = json.loads(file.read(MOST_BYTES))
            times = {(str(endpoint), str(field)): float(at) for endpoint, field, at in rows}
        except (OSError, ValueError, TypeError):
            return {}
        oldest = self._now() - LIFE_SECONDS
        return {key: at for key, at in times.items() if oldest < at <= self._now()}
