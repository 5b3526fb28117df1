"""The project's files for completion: read in a thread, bounded, renewed while one goes on typing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

from app.tools.tree import walk
from app.ui.prompt.fuzzy import best

MOST = 200_000
"""Files kept; a folder with more is completed from these."""
FRESH_SECONDS = 10.0
"""An index older than this is read again when files are asked for; the old one answers meanwhile."""
STEP = 5_000
"""Files after which a first reading shows what it has so far."""

Walk = Callable[[Path], Iterable[str]]


def project_paths(folder: Path) -> Iterable[str]:
    """Yield the folder's files as git would list them, relative, with forward slashes."""
    return (found.relative for found in walk(folder))


class FileIndex:
    """Paths of one folder. `search` may be called in any thread; reading never happens in the caller's.

    Args:
        folder: The project folder.
        walk: Yields its files.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        folder: Path,
        *,
        walk: Walk = project_paths,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder = folder
        self._walk = walk
        self._clock = clock
        self._paths: tuple[str, ...] = ()
        self._read_at: float | None = None
        self._reading = False
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of paths known so far."""
        return len(self._paths)

    @property
    def is_reading(self) -> bool:
        """Whether a thread reads the folder now."""
        return self._reading

    def renew(self, done: Callable[[], None]) -> None:
        """Read the folder in a thread when that was long ago or never; returns at once.

        Args:
            done: Called in that thread whenever there is more to find, at the latest at the end.
        """
        with self._lock:
            age = None if self._read_at is None else self._clock() - self._read_at
            if self._reading or (age is not None and age < FRESH_SECONDS):
                return
            self._reading = True
        threading.Thread(target=self._read, args=(done,), name="file-index", daemon=True).start()

    def search(self, query: str, limit: int) -> list[str]:
        """Return the paths that fit a query, best first; folders end with a slash."""
        return best(query, self._paths, limit)

    def _read(self, done: Callable[[], None]) -> None:
        first = self._read_at is None
        paths: list[str] = []
        folders: set[str] = set()
        shown = STEP
        try:
            for path in islice(self._walk(self.folder), MOST):
                above = path.rpartition("/")[0]
                while above and above not in folders:
                    folders.add(above)
                    paths.append(f"{above}/")
                    above = above.rpartition("/")[0]
                paths.append(path)
                if first and len(paths) >= shown:
                    self._paths = tuple(paths)
                    shown *= 4
                    done()
        finally:
            self._paths = tuple(paths)
            self._read_at = self._clock()
            self._reading = False
            done()
