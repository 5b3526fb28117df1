"""Where ``/export`` writes the open session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.agent.session import Session


def export_path(session: Session, argument: str) -> tuple[Path, bool]:
    """Return where an export goes, and whether it may replace what is there: only an export of the same session.

    Args:
        session: The open session.
        argument: A path, relative to the project; ``jsonl`` or nothing for a name of its own.
    """
    name = f"palimpsest-{session.name}"
    words = {"": f"{name}.md", "markdown": f"{name}.md", "jsonl": f"{name}.jsonl"}
    wanted = words.get(argument.lower(), argument)
    path = session.folder / Path(wanted).expanduser()
    return path, path.name in words.values()
