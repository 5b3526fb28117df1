"""What a benchmark reports: a figure of ours beside one of something else, measured in the same run."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One row of the table."""

    benchmark: str
    what: str
    ours: float
    unit: str
    other: float | None = None
    other_name: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours as a multiple of the other; None when there is nothing to compare with."""
        return self.ours / self.other if self.other else None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio}


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which so large a share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def table(figures: Iterable[Figure]) -> str:
    """The figures as lines of a Markdown table."""
    rows = [("benchmark", "figure", "ours", "beside", "ratio")]
    for figure in figures:
        beside = "" if figure.other is None else f"{_number(figure.other)} {figure.other_name}"
        ratio = "" if figure.ratio is None else f"{figure.ratio:.3g}"
        ours = f"{_number(figure.ours)} {figure.unit}".strip()
        rows.append((figure.benchmark, figure.what, ours, beside, ratio))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
