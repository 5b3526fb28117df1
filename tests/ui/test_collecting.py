from __future__ import annotations

from rich.color import ColorSystem
from rich.style import Style
from textual.strip import Strip

from app.ui.collecting import MOST_STYLES, shed_styles


def test_styles_of_places_that_are_not_drawn_any_more_are_forgotten_once_they_are_many() -> None:
    Strip.render_ansi.cache_clear()
    for place in range(MOST_STYLES):
        Strip.render_ansi(Style.from_meta({"offset": (place, 0)}), ColorSystem.TRUECOLOR)
    shed_styles()
    assert Strip.render_ansi.cache_info().currsize == MOST_STYLES
    Strip.render_ansi(Style.from_meta({"offset": (0, 1)}), ColorSystem.TRUECOLOR)
    shed_styles()
    assert Strip.render_ansi.cache_info().currsize == 0
