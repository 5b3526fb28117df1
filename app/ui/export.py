"""Where ``/export`` writes the open session."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.agent.session import Session


def export_name(session: Session) -> str:
    """Return the name of an export without its ending: what the user named the session, and the end of its own name."""
    title = re.sub(r"\W+", "-", session.named).strip("-")[:40]
    return f"palimpsest-{title}-{session.name[-4:]}" if title else f"palimpsest-{session.name}"


def export_path(session: Session, argument: str) -> tuple[Path, bool]:
    """Return where an export goes, and whether it may replace what is there: only an export of the same session.

    Args:
        session: The open session.
        argument: A path, relative to the project; ``jsonl`` or nothing for a name of its own.
    """
    name = export_name(session)
    words = {"": f"{name}.md", "markdown": f"{name}.md", "jsonl": f"{name}.jsonl"}
    wanted = words.get(argument.lower(), argument)
    path = session.folder / Path(wanted).expanduser()
    return path, path.name in words.values()
