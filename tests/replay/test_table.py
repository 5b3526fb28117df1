"""What a replay prints for people."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from app.replay.driver import ReplayReport
from app.subcommands import print_table

REPORT = ReplayReport(
    "[b]a-long-session-name", 438, 4, 49_980, 35_269, 15_647_373, 0.98, 2_412_208, 79, 3, 4, 0, 136, 14, 2, 0, 0
)  # fmt: skip


@pytest.mark.parametrize("width", [30, 80, 160])
def test_no_figure_is_cut_however_narrow_the_terminal(width):
    out = StringIO()
    print_table([REPORT], Console(file=out, width=width))
    text = " ".join(out.getvalue().split())
    for figure in ("[b]a-long-session-name", "438", "49,980", "15,647,373", "2,412,208", "14 of 136"):  # fmt: skip
        assert figure in text
    assert "…" not in text
