import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from app.ui.chat.inks import DRAWN, NAMES
from app.ui.contrast import contrast, readable
from app.ui.themes import DARK, LIGHT, OWN, PAIRS, automatic, other_side
from app.ui.widgets.lines_view import LinesView
from tests.ui.fake_session import FakeSession
from tests.ui.screens_in_use import pal_app
from tests.ui.test_approval_panel import asked, edit
from tests.ui.test_pair_screen import until_idle

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


LAID_OVER = [
    *[(name,) for name in NAMES],
    *[(ground, "muted") for ground in ("user", "added", "removed")],
    ("added", "added-sign"),
    ("added", "added-mark"),
    ("removed", "removed-sign"),
    ("removed", "removed-mark"),
    *[("code-block", name) for name in NAMES if name.startswith("syntax-")],
]
COLOURED = [name for name in BUILTIN_THEMES if not name.startswith("ansi-")]


@pytest.mark.parametrize("theme", [*(t.name for t in OWN), *COLOURED])
async def test_everything_in_the_chat_and_in_a_question_reads_well_in_every_theme(theme):
    app = pal_app(FakeSession(), theme=theme)
    async with app.run_test(size=(80, 24)) as pilot:
        await asked(app, pilot, edit())
        for widget in (app.pair.chat, app.pair.panel.query_one(LinesView)):
            for inks in LAID_OVER:
                style = widget._inks.paint(inks)
                text, ground = map(Color.from_rich_color, (style.color, style.bgcolor))
                if DRAWN.isdisjoint(inks):
                    assert contrast(text, ground) >= 4.5, f"{'+'.join(inks)} in {theme}"


@pytest.mark.parametrize("theme", COLOURED)
async def test_the_named_text_colours_read_well_in_every_theme(theme):
    app = pal_app(FakeSession(), theme=theme)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        variables = app.theme_variables
        for name in TEXTS:
            if not variables[name].startswith("auto"):
                for ground in ("background", "surface", "panel"):
                    text, under = Color.parse(variables[name]), Color.parse(variables[ground])
                    assert contrast(text, under) >= 4.5, f"{name} on {ground} in {theme}"


@given(st.tuples(*[st.integers(0, 255)] * 3), st.tuples(*[st.integers(0, 255)] * 3))
def test_a_mended_colour_can_be_read_and_a_good_one_stays(text, ground):
    text, ground = Color(*text), Color(*ground)
    mended = readable(text, ground)
    assert contrast(mended, ground) >= 4.5
    if contrast(text, ground) >= 4.5:
        assert mended == text


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


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_the_chosen_row_keeps_the_terminals_own_colours_and_is_underlined(theme):
    app = pal_app(FakeSession(), theme=theme)
    async with app.run_test(size=(80, 24)) as pilot:
        await until_idle(app, pilot)
        app.pair.submit("/settings")
        await until_idle(app, pilot)
        row = list(app.screen.query_one("OptionList").render_line(0))
        assert all(segment.style.underline for segment in row if segment.text.strip())
        assert all(segment.style.bgcolor.is_default for segment in row if segment.text.strip())
