"""What each number of the policy costs and loses: one is turned at a time, over all sessions and thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from app.core.policy import CompactionPolicy
from tests.benchmarks.desk import Desk
from tests.benchmarks.figures import Figure
from tests.benchmarks.layers import OURS, THRESHOLDS, replayed, sources_of, sum_of

NAME = "frontier"
KNOBS: Mapping[str, tuple[str, tuple[Any, ...]]] = {
    "due_share": ("micro", (0.0, 0.55, 0.85, 1.0)),
    "keep_recent": ("micro", (2, 5)),
    "batch_tokens": ("micro", (5_000, 12_000)),
    "horizon": ("micro", (8, 25)),
    "preserve_share": ("micro", (0.1, 0.3)),
    "files_share": ("auto", (0.0, 0.2)),
    "file_share": ("auto", (0.1,)),
    "tail_share": ("auto", (0.05,)),
    "max_share": ("entry", (0.1, 0.25)),
}
"""By number: its layer, and the values it is tried at beside its default."""


def run(desk: Desk, *, short: bool) -> list[Figure]:
    sources = sources_of(desk, short=short)
    thresholds = THRESHOLDS[2:3] if short else THRESHOLDS[::2]
    tried = list(_policies())
    base = sum_of(replayed(sources, OURS, thresholds))
    figures = [
        Figure(NAME, f"{what}, defaults", getattr(base, field), "") for what, field in FIELDS
    ]
    for name, policy in tried[:1] if short else tried:
        found = sum_of(replayed(sources, policy, thresholds))
        figures += [
            Figure(NAME, f"{what}, {name}", getattr(found, field), "", getattr(base, field))
            for what, field in FIELDS
        ]
    return figures


FIELDS = (("cost", "cost"), ("summaries", "summaries"), ("edit targets lost", "edits_lost"))


def _policies() -> Iterator[tuple[str, CompactionPolicy]]:
    for number, (layer, values) in KNOBS.items():
        for value in values:
            turned = replace(getattr(OURS, layer), **{number: value})
            yield f"{number} = {value:g}", replace(OURS, **{layer: turned})
