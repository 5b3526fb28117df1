"""The one line that stands for a cleared tool result: tool, target, outcome and recall id."""

from __future__ import annotations

from app.core.view_parts import ResultRef
from app.core.visible_text import one_line

TOOL_CHARS = 64
TARGET_CHARS = 120
OUTCOME_CHARS = 60
TARGET_KEYS = ("command", "path", "file_path", "pattern", "query", "url", "id")
"""Arguments that say what a call was about, when its tool did not say."""


def stub_line(ref: ResultRef, *, bare: bool = False) -> str:
    """Return the line for a result; the same result always gives the same line.

    Args:
        ref: The result.
        bare: Name only the tool.
    """
    tool = one_line(ref.tool, TOOL_CHARS) or "unknown"
    if bare:
        return f"[Previous: used {tool}]"
    target = target_of(ref)
    about = f": {target}" if target else ""
    outcome = one_line(ref.effects.outcome, OUTCOME_CHARS)
    ended = f" -> {outcome}" if outcome else ""
    return f"[Previous: used {tool}{about}{ended}; recall {ref.id}]"


def target_of(ref: ResultRef, limit: int = TARGET_CHARS) -> str:
    """Return one line on what the call was about; "" when nothing is known."""
    if ref.effects.target:
        return one_line(ref.effects.target, limit)
    for key in TARGET_KEYS:
        value = ref.input.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(value, limit)
    return ""
