"""What the demo model takes for the user's words: not what the program wrote beside them."""

import pytest

from app.adapters.demo.reading import read_request


@pytest.mark.parametrize(
    "note",
    [
        "[Context: 40,000 of 50,000 tokens, over 75%.]",
        "[The user ran a command of their own: git status -> exit 0, 2 lines]\nclean\n[done",
        "[The user ran a command of their own: cat <<E\nx\nE -> exit 0, 1 line]\nx",
        "[The user brought r2 (a.py) back]\nx = 1\n",
    ],
)
def test_what_stands_beside_the_users_words_is_not_taken_for_them(note):
    content = [{"type": "text", "text": "tour"}, {"type": "text", "text": note}]
    reading = read_request({"messages": [{"role": "user", "content": content}]})
    assert (reading.request, reading.requests) == ("tour", ("tour",))
