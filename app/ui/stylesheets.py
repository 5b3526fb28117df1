"""Where the style sheets are: packed into the wheel as ``app/styles``, beside ``app/`` in a checkout."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent


def sheets() -> list[Path]:
    """Return the style sheets, one per room, sorted by name.

    Raises:
        FileNotFoundError: The installation has none.
    """
    for folder in (PACKAGE / "styles", PACKAGE.parent / "styles"):
        found = sorted(folder.glob("*.tcss"))
        if found:
            return list(found)
    raise FileNotFoundError(f"no style sheets in {PACKAGE / 'styles'} or beside {PACKAGE}")
