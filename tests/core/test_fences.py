from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.core.fences import fence, fenced


@given(st.text(alphabet="`a \n"))
def test_nothing_inside_a_text_closes_its_fence(text: str) -> None:
    marks = fence(text)
    assert len(marks) >= 3
    assert marks not in text


def test_a_fenced_text_names_its_language_and_loses_blanks_at_its_end() -> None:
    assert fenced("x = 1\n\n", "python") == "```python\nx = 1\n```"
