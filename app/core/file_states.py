"""What a file was at one moment, and the changes of files that the record keeps so that they can be taken back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from app.core.history import Remark
from app.core.messages import JsonObject


@dataclass(frozen=True, slots=True)
class FileState:
    """A file at one moment, or that there was none."""

    content: str = ""
    """Name of the content, the same for the same bytes; "" when there was no file."""
    mode: int = 0
    """Permission bits."""
    why: str = ""
    """Why the content was not kept and cannot be brought back; "" when it can."""

    @property
    def exists(self) -> bool:
        """Whether there was a file."""
        return bool(self.content)


ABSENT = FileState()


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change of one file by a tool, a command or a rewind."""

    seq: int
    path: str
    """Relative to the project, forward slashes, links followed."""
    before: FileState
    after: FileState | None
    """None when it was about to be changed and nobody told how that ended."""


def change_to_json(path: str, before: FileState, after: FileState | None) -> JsonObject:
    """Return the form of a change in the record."""
    return {
        "path": path,
        "before": _state_to_json(before),
        "after": None if after is None else _state_to_json(after),
    }


def changes_of(remarks: Iterable[Remark]) -> tuple[FileChange, ...]:
    """Return the changes in remarks of the kind `core.remarks.FILES`, oldest first; what cannot be read is left out."""
    found: list[FileChange] = []
    for remark in remarks:
        raw = remark.data.get("changes")
        for one in raw if isinstance(raw, list) else ():
            match one:
                case {"path": str(path), "before": dict(before), "after": after}:
                    state = _state_from_json(after) if isinstance(after, dict) else None
                    found.append(FileChange(remark.seq, path, _state_from_json(before), state))
    return tuple(found)


def folders_of(remarks: Iterable[Remark]) -> tuple[str, ...]:
    """Return the folders that were made, in remarks of the kind `core.remarks.FILES`."""
    found: list[str] = []
    for remark in remarks:
        raw = remark.data.get("folders")
        found += [name for name in raw if isinstance(name, str)] if isinstance(raw, list) else []
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class NetChange:
    """What became of one file over several changes."""

    path: str
    first: FileState
    """Before the first of them."""
    last: FileState | None
    """After the last one, as far as it was told."""


def net_changes(changes: Iterable[FileChange]) -> tuple[NetChange, ...]:
    """Return what became of each file, in the order in which they were first changed."""
    found: dict[str, NetChange] = {}
    for change in changes:
        first = found[change.path].first if change.path in found else change.before
        found[change.path] = NetChange(change.path, first, change.after)
    return tuple(found.values())


def _state_to_json(state: FileState) -> dict[str, Any]:
    if not state.exists:
        return {}
    known = {"content": state.content, "mode": state.mode}
    return {**known, "why": state.why} if state.why else known


def _state_from_json(raw: JsonObject) -> FileState:
    mode = raw.get("mode", 0)
    return FileState(
        str(raw.get("content", "")), mode if isinstance(mode, int) else 0, str(raw.get("why", ""))
    )
