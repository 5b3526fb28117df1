"""Whether a process still runs."""

from __future__ import annotations

import os
import sys


def is_alive(process: int) -> bool:
    """Whether a process of this id may still run; on Windows, where to ask would end it, always."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True
