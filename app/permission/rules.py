"""Rules as people write them: ``tool`` or ``tool: pattern``."""

from __future__ import annotations

import re

from app.core.permission import Rule, Verdict

_RULE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_.-]*|\*)\s*(?::\s*(.*?)\s*)?$", re.DOTALL)
ALLOWED = (
    'a tool ("read_file") or a tool and a pattern ("bash: git status *", "write_file: src/**")'
)


def parse_rule(text: str, verdict: Verdict, *, source: str = "") -> Rule:
    """Return the rule that a text stands for.

    Args:
        text: ``tool`` or ``tool: pattern``; the tool ``*`` means every tool.
        verdict: What the rule says.
        source: Where it stands, for the list of rules.

    Raises:
        ValueError: The text is not a rule; the message says what one looks like.
    """
    found = _RULE.match(text)
    if not found or not text.isprintable():
        raise ValueError(f"{text!r} is not a rule; a rule is {ALLOWED}")
    tool, pattern = found.group(1), found.group(2)
    if pattern == "":
        raise ValueError(f"{text!r} has no pattern after the colon; a rule is {ALLOWED}")
    return Rule(verdict, tool, pattern or "", source)
