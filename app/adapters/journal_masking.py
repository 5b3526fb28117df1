"""Secrets on their way to the disk: each item of the record as it is written, and as the running session sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from app.core.history import Cleared, Commit, Entry, Mark, Remark
from app.core.masking import Mask, masked_json, masked_message, masked_results

_M = TypeVar("_M", bound=Mark)


@dataclass(frozen=True, slots=True)
class Masking:
    """What is masked where.

    Names of files stay as they are, since the view is made from them.
    """

    mask: Mask
    in_view: bool = False
    """Whether the running session gets masked tool results and compactions too, not only the disk."""

    def entry(self, entry: Entry) -> Entry:
        """Return a message as it is written."""
        effects = {
            key: replace(e, target=self.mask(e.target), outcome=self.mask(e.outcome))
            for key, e in entry.effects.items()
        }
        message = masked_message(entry.message, self.mask)
        if message is entry.message and not effects:
            return entry
        return replace(entry, message=message, effects=effects)

    def seen_entry(self, entry: Entry) -> Entry:
        """Return a message as the running session gets it."""
        if not self.in_view:
            return entry
        return replace(entry, message=masked_results(entry.message, self.mask))

    def commit(self, commit: Commit) -> Commit:
        """Return a compaction as it is written."""
        return replace(
            commit,
            head=masked_message(commit.head, self.mask),
            stubs=masked_json(commit.stubs, self.mask),
            summary=self.mask(commit.summary),
            facts=masked_json(commit.facts, self.mask),
        )

    def seen_commit(self, commit: Commit) -> Commit:
        """Return a compaction as the running session gets it."""
        return self.commit(commit) if self.in_view else commit

    def mark(self, mark: _M) -> _M:
        """Return a mark as it is written."""
        if isinstance(mark, Cleared):
            return replace(mark, stubs=masked_json(mark.stubs, self.mask))
        return mark

    def remark(self, remark: Remark) -> Remark:
        """Return a remark as it is written."""
        return replace(remark, data=masked_json(remark.data, self.mask))


def _as_it_is(text: str) -> str:
    return text


UNMASKED = Masking(_as_it_is)
"""Everything is written as it is."""
