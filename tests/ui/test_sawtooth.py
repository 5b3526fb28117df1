from hypothesis import given
from hypothesis import strategies as st

from app.ui.sawtooth import LINE, chart, falls


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


def test_the_newest_requests_are_drawn():
    drawn = chart(range(1, 101), {}, threshold=0, width=10, height=3)
    assert (drawn.first, drawn.last) == (91, 100)


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


def test_a_fall_without_a_report_is_marked_once_and_not_beside_a_report():
    assert falls([10, 20, 5], {}) == {2: "▾"}
    assert falls([10, 20, 5], {1: "1"}) == {1: "1"}
