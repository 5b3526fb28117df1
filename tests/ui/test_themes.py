import pytest
from textual.color import Color

from app.ui.themes import DARK, LIGHT, OWN, PAIRS, automatic, other_side
from tests.ui.fake_session import FakeSession
from tests.ui.screens_in_use import pal_app

TEXTS = (
    "text-primary",
    "text-secondary",
    "text-accent",
    "text-warning",
    "text-error",
    "text-success",
    "text-muted",
)


@pytest.mark.parametrize("theme", OWN, ids=lambda t: t.name)
def test_every_text_colour_reads_well_on_every_ground(theme):
    for ground in (theme.background, theme.surface, theme.panel):
        assert Color.parse(ground).get_contrast_text(1).rgb
        for name in TEXTS:
            ratio = contrast(Color.parse(ground), Color.parse(theme.variables[name]))
            assert ratio >= 4.5, f"{theme.name}: {name} on {ground} has {ratio:.2f}"
        assert contrast(Color.parse(ground), Color.parse(theme.foreground)) >= 7


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(color):
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_a_light_terminal_gets_the_light_theme():
    assert automatic({"COLORFGBG": "0;15"}) == LIGHT.name
    assert automatic({"COLORFGBG": "15;0"}) == DARK.name
    assert automatic({}) == DARK.name


def test_each_pair_leads_there_and_back():
    for dark, light in PAIRS.items():
        assert other_side(dark, dark=True) == light and other_side(light, dark=False) == dark
    assert other_side("dracula", dark=True) == LIGHT.name


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light", "textual-light", "nord"])
async def test_other_themes_draw_without_a_fault(theme):
    app = pal_app(FakeSession(), theme=theme)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert app.theme == theme


async def test_no_color_leaves_only_grey(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    app = pal_app(FakeSession())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.no_color
