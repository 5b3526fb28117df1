"""The head of a compacted conversation, read back: the user's words in it, and what it says was in progress."""

from __future__ import annotations

import re

HEAD_START = "[Conversation compressed."
IN_PROGRESS = ("In progress for the user: ", "正在处理用户的要求：")
"""How our summaries mark the request that a compaction interrupted; the rest of the line is the request."""
ASKED = ("- The user asked: ", "- 用户要求：")
"""How our summaries list what the user asked for."""
_LATEST = re.compile(
    r"^# The latest request, word for word(?P<answered> \([^)\n]*\))?\n+(?P<text>.+)\Z", re.M | re.S
)


def in_progress(head: str) -> str:
    """Return the request that was being worked on when the summary was written, its first line; "" when none was."""
    lines = _rest_of_lines(head, IN_PROGRESS)
    return lines[0] if lines else ""


def asked_before(head: str) -> list[str]:
    """Return the requests that the summary in a head lists, oldest first."""
    return _rest_of_lines(head, ASKED)


def is_same_request(request: str, shown: str) -> bool:
    """Whether a line of a summary shows this request."""
    line = " ".join(request.split())
    return bool(shown) and (line == shown or (shown.endswith("…") and line.startswith(shown[:-1])))


def holds_latest(head: str) -> bool:
    """Whether the newest request at the time of the compaction stands in the head, and not in a message after it."""
    return _LATEST.search(head) is not None


def latest_words(head: str) -> str:
    """Return the newest request of the user that the head holds in full, else what the summary says of it."""
    found = _LATEST.search(head)
    return found["text"].strip() if found else in_progress(head)


def _rest_of_lines(head: str, beginnings: tuple[str, ...]) -> list[str]:
    any_of = "|".join(re.escape(beginning) for beginning in beginnings)
    return [rest.strip() for rest in re.findall(rf"^(?:{any_of})(.+)$", head, re.M)]
