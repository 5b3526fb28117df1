"""What compaction took away that the recorded session needed later."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.core.messages import Message, Text, ToolResult
from app.replay.effects import edit_targets, edited_files, hunks

_LINE_NUMBER = re.compile(r"^[ \t]*\d+(?:→|\t|\||: ?)", re.M)
_INDENT = re.compile(r"^[ \t]+", re.M)
CLEARED = "[Previous: used "


@dataclass(slots=True)
class Losses:
    """Counts of what later steps missed. Edit targets are texts that a recorded edit replaces."""

    edits: int = 0
    """Edit targets that had been shown before."""
    edits_lost: int = 0
    """Those that stood nowhere in the request that led to the edit."""
    edits_unnamed: int = 0
    """Those of them whose file the request did not even name, so that nothing told what to read again."""
    unseen_cleared: int = 0
    """Results cleared before the model had seen them."""
    _shown: list[str] = field(default_factory=list)

    def saw(self, messages: Iterable[Message]) -> None:
        """Note what the session has shown so far, whole."""
        self._shown += [plain(text) for message in messages for text in texts_of(message)]

    def check(self, sent: Sequence[Message], answer: Message) -> None:
        """Compare an answer's edits with the messages that it answers."""
        view: str | None = None
        for call in answer.tool_uses:
            for target in edit_targets(call):
                wanted = plain(target)
                if not any(wanted in text for text in self._shown):
                    continue
                self.edits += 1
                if view is None:
                    view = "\n".join(plain(t) for m in sent for t in texts_of(m))
                if wanted not in view:
                    self.edits_lost += 1
                    self.edits_unnamed += not any(name in view for name in edited_files(call))
        if sent and sent[-1].role == "user":
            last = sent[-1].tool_results
            self.unseen_cleared += sum(result.text.startswith(CLEARED) for result in last)


def plain(text: str) -> str:
    """Return a text without line numbers and indentation, for comparing across tools."""
    return _INDENT.sub("", _LINE_NUMBER.sub("", text)).strip()


def texts_of(message: Message) -> list[str]:
    """Return all text in a message: its own, its results', and what its calls write, that of patches without marks."""
    found = [block.text for block in message.content if isinstance(block, Text | ToolResult)]
    for call in message.tool_uses:
        found += [value for value in call.input.values() if isinstance(value, str)]
        found += [text for hunk in hunks(call) for text in (hunk.old, hunk.new) if text]
    return found
