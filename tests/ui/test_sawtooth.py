from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from app.agent.ledger import Run
from app.core.reports import Layer, Outcome
from app.ui.sawtooth import LINE, RUN, WEIGHT, chart, columns_of, falls, marks_of
from tests.ui.fake_session import AUTO, HELD, MANUAL, MICRO


@given(
    st.lists(st.integers(0, 300_000), max_size=200),
    st.integers(0, 100_000),
    st.integers(1, 80),
    st.integers(1, 12),
)
def test_the_chart_fills_exactly_its_room(contexts, threshold, width, height):
    drawn = chart(contexts, {}, threshold=threshold, width=width, height=height)
    assert len(drawn.rows) == len(drawn.kinds) == height
    assert {len(row) for row in (*drawn.rows, *drawn.kinds)} == {width}


@given(st.integers(0, 5_000), st.integers(1, 200))
def test_every_request_has_its_column_and_the_newest_have_one_each(requests, width):
    held = columns_of(requests, width)
    assert [at for each in held for at in each] == list(range(requests))
    assert len(held) <= width and all(held)
    assert all(len(each) == 1 for each in held[width // 2 + 1 :])
    older = [len(each) for each in held[: width // 2]]
    assert not older or max(older) - min(older) <= 1


def test_older_requests_share_columns_that_reach_from_the_smallest_to_the_largest():
    drawn = chart([10, 80] * 20, {}, threshold=0, width=20, height=8)
    tops = ["".join(row[at] for row in drawn.kinds) for at in (0, 19)]
    assert tops[0].count("#") == 7 and tops[1].count("#") == 1


@given(st.dictionaries(st.integers(0, 900), st.sampled_from("123↺┊"), max_size=30))
def test_no_compaction_is_lost_when_older_requests_share_a_column(marks):
    drawn = chart([50] * 900, marks, threshold=0, width=60, height=6)
    waits = 900 in marks
    held = columns_of(900, 60 - waits)
    for column, each in enumerate(held):
        here = [mark for at, mark in marks.items() if at in each]
        assert drawn.rows[0][column] == (max(here, key=WEIGHT.index) if here else " ")
    assert not waits or drawn.rows[0][59] == marks[900]


def test_a_higher_context_is_a_higher_column():
    drawn = chart([10, 50, 100], {}, threshold=0, width=3, height=4)
    heights = [sum(row[at] != " " for row in drawn.rows) for at in range(3)]
    assert heights == sorted(heights) and heights[0] < heights[2]


def test_the_threshold_is_a_line_where_no_column_stands():
    drawn = chart([10], {}, threshold=100, width=5, height=4)
    assert any(LINE in row for row in drawn.rows)


def test_columns_over_the_threshold_are_told_apart():
    drawn = chart([10, 200], {}, threshold=100, width=2, height=4)
    assert "!" in drawn.kinds[-1][1] and "!" not in drawn.kinds[-1][0]


def test_a_layer_marks_the_request_after_it():
    drawn = chart([10, 20, 5], {2: "2"}, threshold=0, width=6, height=4)
    assert drawn.rows[0][2] == "2"


def test_a_fall_without_a_report_is_marked_and_one_with_a_report_keeps_its_own():
    assert falls([10, 20, 5], {}) == {2: "▾"}
    assert falls([10, 20, 5], {2: "1"}) == {2: "1"}
    assert falls([10, 20, 5], {2: RUN}) == {2: "▾"}


def test_each_layer_is_marked_where_it_ran_and_the_higher_one_is_seen():
    reports = (
        replace(MICRO, requests=3),
        replace(HELD, requests=4),
        replace(AUTO, requests=3),
        replace(MANUAL, requests=7),
        replace(MANUAL, outcome=Outcome.UNDONE, requests=9),
        replace(MICRO, layer=Layer.ENTRY, requests=11),
    )
    runs = (Run("", 0), Run("", 7), Run("", 8))
    assert marks_of(reports, runs) == {3: "2", 7: "3", 8: RUN, 9: "↺"}


def test_the_threshold_has_its_figure_where_there_is_room():
    assert any("50k" in row for row in chart([10], {}, threshold=50_000, width=12, height=5).rows)
    full = chart([10] * 12, {}, threshold=50_000, width=12, height=5)
    assert not any("50k" in row for row in full.rows)


def test_a_mark_of_a_request_to_come_has_a_column_of_its_own():
    drawn = chart([10] * 30, {30: "2"}, threshold=0, width=10, height=5)
    assert drawn.rows[0] == " " * 9 + "2" and drawn.kinds[-1] == "=" * 9 + "."
