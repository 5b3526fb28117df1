"""What files were before tools and commands changed them, so that a rewind can bring them back.

Before an edit the file's content is kept and the record says what comes; before a command that may change anything, the
contents of all the project's files are kept that are new since the last look. What git would ignore is left out, as are
files larger than `KEPT_BYTES`; links and other special files are named and not kept.
"""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

from app.core.file_states import ABSENT, FileState, change_to_json
from app.core.finishing import to_its_end
from app.core.messages import JsonObject
from app.core.ports import Contents
from app.errors import ToolError
from app.tools import atomic, changes
from app.tools.changes import Scan, Stamp
from app.tools.tree import Ignore
from app.tools.workspace import Resolved, Workspace

Note = Callable[[JsonObject], Awaitable[object]]
"""Writes the data of a remark of the kind `core.remarks.FILES`."""

KEPT_BYTES = 8_000_000
"""Largest file that is kept."""
LOOK_BYTES = 64_000_000
LOOK_SECONDS = 2.0
"""Most that is kept right before one command: a huge project must not hold it up."""
MOST_CHANGES = 2_000
"""Changed files of one command that are kept."""
UNKNOWN = FileState("unknown", why="it was not kept before the command: the project is too large")


@dataclass(frozen=True, slots=True)
class Effect:
    """What a command did to files."""

    modified: tuple[str, ...]
    """Up to `changes.MAX_CHANGES` of them."""
    after: Scan


class Checkpoints:
    """Keeps and brings back the files of one project.

    Args:
        workspace: The project.
        contents: Keeps contents.
        note: Tells the record.
    """

    def __init__(self, workspace: Workspace, contents: Contents, note: Note) -> None:
        self._workspace = workspace
        self._contents = contents
        self._note = note
        self._known: dict[str, tuple[Stamp | None, FileState | None]] = {}
        """What was last seen of each file, and its stamp then; no state for one that git ignores."""

    @asynccontextmanager
    async def editing(self, resolved: Resolved) -> AsyncIterator[None]:
        """Keep a file before the body changes it, and tell the record what became of it."""
        path = resolved.relative
        before, folders = await asyncio.to_thread(self._before_edit, path)
        await self._note({"changes": [change_to_json(path, before, None)], "folders": folders})
        try:
            yield
        finally:
            await to_its_end(self._edited(path, before))

    def _before_edit(self, path: str) -> tuple[FileState, list[str]]:
        above = [folder.as_posix() for folder in PurePosixPath(path).parents][-2::-1]
        missing = [name for name in above if not os.path.lexists(self._workspace.root / name)]
        return self._take(path), missing

    async def _edited(self, path: str, before: FileState) -> None:
        after = await asyncio.to_thread(self._take, path)
        await self._note({"changes": [change_to_json(path, before, after)]})

    async def before_command(self, *, keep: bool) -> Scan:
        """Return the project's files before a command; with ``keep`` their contents are kept."""
        return await asyncio.to_thread(self._before_command, keep)

    async def after_command(self, before: Scan, *, kept: bool, meanwhile: bool = False) -> Effect:
        """Return which files a command changed, and tell the record if contents were kept.

        Args:
            before: What `before_command` returned.
            kept: Whether contents were kept then.
            meanwhile: Whether other tools worked in the meantime; what they told of is left out.
        """
        effect, data = await asyncio.to_thread(self._after_command, before, kept, meanwhile)
        if data["changes"] or data["folders"]:
            await self._note(data)
        return effect

    def look(self, path: str) -> FileState:
        """Return what a file is now, kept so that its text can be read. Blocks."""
        return self._read(path)[1]

    def text(self, state: FileState) -> str | None:
        """Return the text of a kept content; None when it is not kept or no text. Blocks."""
        data = self._contents.get(state.content) if state.exists else b""
        if data is None or b"\0" in data:
            return None
        return data.decode("utf-8", "replace")

    async def restore(self, path: str, target: FileState) -> None:
        """Make a file what it was, and tell the record.

        Raises:
            ToolError: It cannot be brought back; it is as it was before the call.
        """
        resolved = self._workspace.resolve(path, write=True)
        if resolved.relative != path:
            raise ToolError(f"{path} leads to {resolved.shown} now")
        async with self.editing(resolved):
            await to_its_end(asyncio.to_thread(self._restore, resolved, target))

    def only_removed(self, folders: Iterable[str], files: Collection[str]) -> tuple[str, ...]:
        """Return those folders that are there and hold nothing but these files, deepest first. Blocks."""
        gone = {self._workspace.root / path for path in files}
        found: list[str] = []
        for name in sorted(set(folders), key=lambda name: (-name.count("/"), name)):
            folder = self._workspace.root / name
            with suppress(OSError):
                if not folder.is_symlink() and all(inside in gone for inside in folder.iterdir()):
                    found.append(name)
                    gone.add(folder)
        return tuple(found)

    async def remove_folders(self, folders: Sequence[str]) -> None:
        """Remove those of these folders that are empty, in this order; the others stay."""
        await asyncio.to_thread(self._remove_folders, folders)

    def _remove_folders(self, folders: Sequence[str]) -> None:
        for name in folders:
            with suppress(ToolError, OSError):
                resolved = self._workspace.resolve(name, write=True)
                if resolved.relative == name:
                    atomic.remove_folder(self._workspace, resolved)

    def _restore(self, resolved: Resolved, target: FileState) -> None:
        if not target.exists:
            atomic.remove(self._workspace, resolved)
            return
        data = self._contents.get(target.content)
        if data is None:
            raise ToolError(f"{resolved.shown}: {target.why or 'its content is not in the record'}")
        atomic.write(self._workspace, resolved, data, mode=target.mode)

    def _before_command(self, keep: bool) -> Scan:
        scan = changes.scan(self._workspace.root)
        if not keep:
            return scan
        ignore = Ignore(self._workspace.root)
        deadline, room = time.monotonic() + LOOK_SECONDS, LOOK_BYTES
        if scan.complete:
            for path in self._known.keys() - scan.files.keys():
                self._known[path] = (None, ABSENT)
        for path, stamp in scan.files.items():
            known = self._known.get(path)
            if known is not None and known[0] == stamp:
                continue
            if time.monotonic() > deadline or room < 0:
                self._known.pop(path, None)
            elif ignore.hides(path):
                self._known[path] = (stamp, None)
            else:
                self._take(path)
                room -= stamp[0]
        return scan

    def _after_command(
        self, before: Scan, kept: bool, meanwhile: bool
    ) -> tuple[Effect, JsonObject]:
        root = self._workspace.root
        after = changes.scan(root)
        limit = MOST_CHANGES if kept else changes.MAX_CHANGES
        names = changes.changed(before, after, root, limit=limit + 1)
        told = []
        for path in names[:limit] if kept else ():
            old, new = self._before(path, before, meanwhile), self._take(path)
            if old != new:
                told.append((path, change_to_json(path, old, new)))
        modified = [path for path, _ in told] if kept else names[:limit]
        data = {
            "changes": [one for _, one in told],
            "more": max(0, len(names) - limit),
            "folders": list(changes.made_folders(before, after, root)) if kept else [],
        }
        return Effect(tuple(modified[: changes.MAX_CHANGES]), after), data

    def _before(self, path: str, before: Scan, meanwhile: bool) -> FileState:
        stamp, state = self._known.get(path, (None, None))
        if state is not None and (meanwhile or stamp == before.files.get(path)):
            return state
        return UNKNOWN if path in before.files else ABSENT

    def _take(self, path: str) -> FileState:
        """Keep what a file is now, and remember it."""
        stamp, state = self._read(path)
        self._known[path] = (stamp, state)
        return state

    def _read(self, path: str) -> tuple[Stamp | None, FileState]:
        resolved = Resolved(self._workspace.root / path, path, inside=True)
        try:
            status = os.lstat(resolved.path)
        except (FileNotFoundError, NotADirectoryError):
            return None, ABSENT
        except OSError as error:
            return None, FileState("unknown", why=str(error.strerror))
        stamp, mode = changes.stamp_of(status), stat.S_IMODE(status.st_mode)
        if not stat.S_ISREG(status.st_mode):
            return stamp, FileState(f"special:{stamp}", mode, why="it is no regular file")
        if status.st_size > KEPT_BYTES:
            size = f"larger than {KEPT_BYTES // 1_000_000} MB"
            return stamp, FileState(f"{status.st_size}:{status.st_mtime_ns}", mode, why=size)
        try:
            with self._workspace.open(resolved) as file:
                data = file.read(KEPT_BYTES + 1)
        except (ToolError, OSError) as error:
            return stamp, FileState("unknown", mode, why=str(error))
        name = self._contents.name(data)
        if not self._contents.put(data):
            return stamp, FileState(name, mode, why="there is no more room for kept files")
        return stamp, FileState(name, mode)
