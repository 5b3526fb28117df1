from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from app.core.budget import Budget, Parts, Zone
from app.ui.gauge_line import (
    PARTS,
    THRESHOLD,
    WINDOW,
    ZONES,
    bar_pieces,
    gauge_line,
    zone_name,
)
from tests.ui.fake_session import BUDGET


def text(pieces):
    return "".join(piece for piece, _ in pieces)


sizes = st.integers(0, 80_000)
budgets = st.builds(
    lambda a, b, c, d, e, threshold, window, auto, measured: Budget(
        used=a + b + c + d + e, measured=measured, threshold=threshold, window=window, window_source="table",
        parts=Parts(a, b, c, d, e), auto=auto,
    ),
    sizes, sizes, sizes, sizes, sizes, st.integers(1, 200_000), st.integers(1, 1_000_000), st.booleans(), st.booleans(),
)  # fmt: skip


@given(budgets, st.integers(1, 250))
def test_the_gauge_never_takes_more_than_its_width(budget, width):
    assert len(text(gauge_line(budget, width))) <= width


@given(budgets, st.integers(30, 120))
def test_the_bar_is_exactly_as_wide_as_asked_and_ends_with_the_window(budget, width):
    bar = text(bar_pieces(budget, width))
    assert len(bar) == width
    assert bar.endswith(WINDOW)


@given(budgets)
def test_every_part_that_holds_anything_is_seen_while_there_is_room(budget):
    small = replace(
        budget, used=budget.parts.total, threshold=max(1, 2 * budget.parts.total), auto=True
    )
    bar = text(bar_pieces(replace(small, window=10 * small.threshold), 64))
    for part in PARTS:
        if getattr(budget.parts, part.name):
            assert part.glyph in bar


def test_an_estimate_is_marked_and_a_measured_figure_is_not():
    assert "~18,240 / 50,000 36%" in text(gauge_line(BUDGET, 80))
    assert "~" not in text(gauge_line(replace(BUDGET, measured=True), 80))


def test_the_numbers_outlive_the_bar_on_a_narrow_screen():
    assert "~18.2k / 50k 36%".replace("18.2k", "18k") in text(gauge_line(BUDGET, 24))


def test_a_full_context_is_capped_on_the_bar_but_its_number_is_true():
    full = replace(BUDGET, used=1_900, threshold=900, window=1_000, parts=Parts(results=1_900))
    line = text(gauge_line(full, 80))
    assert "1,900 / 900" in line and "211%" in line and "compacts next" in line


def test_each_zone_has_a_shape_of_its_own():
    assert len({shape for shape, _ in ZONES.values()}) == len(Zone)


def test_parts_are_told_apart_by_shape():
    assert len({part.glyph for part in PARTS}) == len(PARTS)


def test_the_threshold_is_marked():
    assert THRESHOLD in text(bar_pieces(BUDGET, 40))
    assert THRESHOLD not in text(bar_pieces(replace(BUDGET, auto=False), 40))


def test_with_layer_two_off_the_window_is_the_measure_and_that_is_said():
    line = text(gauge_line(replace(BUDGET, auto=False), 120))
    assert "/ 200,000" in line and "auto off" in line


def test_an_assumed_window_is_called_assumed():
    assert "assumed" in text(
        gauge_line(replace(BUDGET, window_source="assumed", window=32_000), 120)
    )


def test_a_wide_gauge_has_its_legend():
    line = text(gauge_line(BUDGET, 200))
    for word in (
        "floor 6.1k",
        "summary 2k",
        "words 800",
        "talk 4.2k",
        "results 5.1k",
        "cache 82%",
        "$0.12",
    ):
        assert word in line


def test_an_unknown_price_is_no_zero():
    assert "$?" in text(gauge_line(replace(BUDGET, cost=None), 120))


def test_a_figure_that_grows_moves_nothing_beside_it():
    lines = {
        len(text(gauge_line(replace(BUDGET, used=used, measured=used % 2 == 0), 80)).split("▏")[0])
        for used in (900, 9_999, 10_000, 25_001, 31_998)
    }
    assert len(lines) == 1


def test_each_zone_is_said_in_words():
    at = [
        replace(BUDGET, used=used, parts=Parts(results=used))
        for used in (10, 30_000, 45_000, 50_001)
    ]
    assert len({zone_name(budget) for budget in at}) == len(Zone)
