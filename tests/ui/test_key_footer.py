"""The keys named at the foot of a screen, at any width."""

import pytest

from app.ui.screens.resume import HINTS
from app.ui.widgets.key_footer import Hint, fitting


def shown(width):
    return "   ".join(f"{hint.key} {hint.what}" for hint in fitting(HINTS, width))


def test_where_there_is_room_keys_are_written_out():
    assert shown(200).startswith("Enter go on   Ctrl+F fork")


def test_at_80_columns_the_picker_names_every_key_and_the_way_back():
    assert shown(80 - 8) == "Enter go on   ^F fork   ^R rename   ^E export   ^D delete   Esc back"


@pytest.mark.parametrize("width", range(0, 120))
def test_the_row_fits_and_the_way_back_goes_last_of_all(width):
    assert len(shown(width)) <= width
    assert not shown(width) or shown(width).endswith("Esc back")


def test_hints_without_a_way_back_are_cut_at_the_end():
    hints = (Hint("Enter", "send"), Hint("Ctrl+L", "log"), Hint("Ctrl+D", "quit"))
    assert fitting(hints, 25) == list(hints[:2])
