"""What can be wanted, and the details of each wish."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What is wanted."""

    TOUR = "tour"
    REPLY_OK = "reply-ok"
    """A connection check."""
    REVIEW = "review"
    """What was read and changed so far."""
    NEXT_FEATURE = "next-feature"
    READ_UNTIL = "read-until"
    """Read on until a compaction."""
    READ_ALL = "read-all"
    COMPACT = "compact"
    RUN_TESTS = "run-tests"
    REPLACE = "replace"
    CREATE = "create"
    UNDO = "undo"
    TODO = "todo"
    RECALL = "recall"
    RUN = "run"
    READ = "read"
    SEARCH = "search"
    LIST = "list"
    CONTINUE = "continue"
    GREETING = "greeting"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that is wanted. Which of the details are filled depends on ``kind``."""

    kind: Kind
    text: str = ""
    """The request, or the content, the focus, the command or the pattern in it."""
    paths: tuple[str, ...] = ()
    folder: str = "."
    suffix: str = ""
    """Ending of the wanted files, such as ``.py``; "" for any."""
    old: str = ""
    new: str = ""
    first: int = 0
    """First line wanted; 0 for the beginning."""
    last: int = 0
