"""Fifty turns of review on a real-looking project: the context stays under its threshold, memory under its limit."""

from __future__ import annotations

from itertools import cycle, pairwise
from pathlib import Path

import pytest

from tests.e2e.desk import Desk, ask, opened
from tests.e2e.endpoint import Endpoint, Sent
from tests.e2e.project import SUBJECTS, make_project

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TURNS = 50
THRESHOLD = 50_000
MEMORY = 250
OFF = {"PAL_MICRO_POLICY": "off", "PAL_AUTO_COMPACT": "off"}
"""No layer runs: what the session would be without them."""


def review(folder: Path, **settings: str) -> tuple[Desk, list[Sent], float, float]:
    """Review for fifty turns; return the desk, the agent's requests, and memory in MB at the end and at its highest."""
    desk = Desk(make_project(folder / "shop-project"), folder / "home")
    subjects = cycle(SUBJECTS[:30])
    with Endpoint(caches=True) as endpoint:
        desk.use(endpoint, **settings)
        with opened(desk.pal()) as pal:
            for turn in range(TURNS):
                first, second = next(subjects), next(subjects)
                if turn % 5 == 4:
                    ask(pal, f"run grep -n def shop/{first}.py shop/{second}.py")
                else:
                    ask(pal, f"read shop/{first}.py and shop/{second}.py")
            figures = pal.memory(), pal.memory("VmHWM")
        assert endpoint.invalid == []
        return desk, endpoint.turns, *figures


@pytest.mark.parametrize("layers", ["on", "off"])
def test_fifty_turns_of_review(
    layers: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk, requests, now, highest = review(tmp_path, **(OFF if layers == "off" else {}))
    sizes = [sent.tokens for sent in requests]
    compactions = [r for r in desk.reports("auto") if r["outcome"] == "applied"]
    clears = [r for r in desk.reports("micro") if r["outcome"] == "applied"]
    with capsys.disabled():
        print(
            f"\n50 turns, layers {layers}: {len(requests)} requests, context mean {sum(sizes) // len(sizes):,}, "
            f"highest {max(sizes):,}, input {sum(sizes):,} tokens, {len(clears)} clears, "
            f"{len(compactions)} compactions, memory {now:.0f} MB, at its highest {highest:.0f} MB"
        )
    assert highest < MEMORY
    if layers == "off":
        assert max(sizes) > 2 * THRESHOLD  # there was something to keep small
        return
    assert clears or compactions
    newest = max(after - before for before, after in pairwise(sizes))
    assert max(sizes) <= THRESHOLD + newest
