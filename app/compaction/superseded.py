"""Which reads are out of date: a newer read shows the same lines, or the file was changed since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.core.effects import Span
from app.core.view_parts import ResultRef


def superseded(results: Sequence[ResultRef]) -> frozenset[int]:
    """Return the numbers of the reads that later results make worthless.

    Args:
        results: Results that stand whole in the view, oldest first.
    """
    newer = _Seen()
    found: set[int] = set()
    for ref in reversed(results):
        effects = ref.effects
        if effects.read and not effects.modified:
            if all(newer.outdates(span) for span in effects.read):
                found.add(ref.number)
            elif not ref.is_error and effects.stored is None:
                newer.add_reads(effects.read)
        newer.changed.update(effects.modified)
    return frozenset(found)


class _Seen:
    """What the results after a point read and changed."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        self.reads: dict[str, list[tuple[int, int]]] = {}

    def add_reads(self, spans: Iterable[Span]) -> None:
        for span in spans:
            self.reads.setdefault(span.path, []).append((span.first, span.last))

    def outdates(self, span: Span) -> bool:
        if span.path in self.changed:
            return True
        at = span.first
        for first, last in sorted(self.reads.get(span.path, ())):
            if first > at:
                return False
            at = max(at, last + 1)
            if at > span.last:
                return True
        return False
