from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.pilot import Pilot

from app.ui.widgets.chat_pane import ChatPane
from tests.ui.chat_app import with_chat


async def press(pilot: Pilot[None], pane: ChatPane, keys: Sequence[str]) -> None:
    pane.draw_now()
    pane.focus()
    await pilot.pause()
    await pilot.press(*keys)
    await pilot.pause()


@pytest.mark.parametrize(
    ("keys", "copied"),
    [
        (["v", "enter"], "one brave 中文 word"),
        (["v", "space", "right", "right", "y"], "one"),
        (["v", "w", "space", "w", "enter"], "brave 中"),
        (["v", "w", "w", "shift+right", "y"], "中文"),
        (["shift+right", "shift+right", "ctrl+right", "y"], "one b"),
        (["v", "end", "space", "b", "y"], "word"),
        (["v", "space", "home", "$", "y"], "one brave 中文 word"),
        (["v", "w", "v", "v", "w", "v", "y"], "中"),
    ],
)
@with_chat(60, 20)
async def test_keys_mark_characters_and_words(
    pilot: Pilot[None], pane: ChatPane, keys: list[str], copied: str
) -> None:
    pane.add_user("one brave 中文 word")
    await press(pilot, pane, keys)
    assert pilot.app.clipboard == copied
    assert not pane.is_marking and not pilot.app.screen.get_selected_text()


@pytest.mark.parametrize("keys", [["v"], ["v", "space"], ["v", "space", "left"], ["v", "k", "v"]])
@pytest.mark.parametrize("then", ["y", "up", "down", "left", "w", "b", "pageup", "v", "escape"])
@with_chat(60, 20)
async def test_an_entry_that_gets_shorter_under_the_caret_is_still_marked(
    pilot: Pilot[None], pane: ChatPane, keys: list[str], then: str
) -> None:
    pane.tool_started("c1", "bash", "make")
    pane.tool_output("c1", "".join(f"line {n}\n" for n in range(9)))
    await press(pilot, pane, keys[:1])
    await pilot.press("down", "down", "down", "end", *keys[1:])
    pane.tool_finished("c1", ok=True, text="done", outcome="ok", seconds=1.0)
    pane.draw_now()
    await pilot.press(then, "y")
    await pilot.pause()
    assert not pane.is_marking


@with_chat(60, 20)
async def test_marking_ends_when_what_is_marked_leaves_the_chat(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    pane.append_text("the answer that is taken back")
    await press(pilot, pane, ["v", "space", "w"])
    pane.void_answer()
    pane.draw_now()
    await pilot.press("w")
    await pilot.pause()
    assert not pane.is_marking and not pilot.app.screen.get_selected_text()


@with_chat(60, 20)
async def test_marking_goes_up_into_other_entries_and_over_the_gap(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    pane.add_user("the first")
    pane.add_notice("the second")
    await press(pilot, pane, ["v", "w", "shift+up", "y"])
    assert pilot.app.clipboard == "first\n\nthe s"


@with_chat(60, 10)
async def test_marking_down_scrolls_and_survives_text_that_streams(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    pane.append_text("".join(f"Line {n}.\n\n" for n in range(40)))
    pane.finish_answer()
    pane.draw_now()
    pane.scroll_home(animate=False)
    await press(pilot, pane, ["v", "down", "down", "space", "pagedown", "pagedown"])
    top = pane.scroll_offset.y
    assert top > 0
    pane.append_text("and more\n\nand more\n")
    await press(pilot, pane, ["y"])
    assert pane.scroll_offset.y == top
    lines = pilot.app.clipboard.split("\n\n")
    assert lines == [f"Line {n}." for n in range(1, 6)] + ["L"]


@with_chat(24, 20)
async def test_a_wrapped_line_is_walked_row_by_row_and_copied_as_one(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    pane.add_user("alpha beta gamma delta epsilon zeta")
    await press(pilot, pane, ["v", "space", "down", "end", "y"])
    assert pilot.app.clipboard == "alpha beta gamma delta epsilon zeta"


@with_chat(60, 20)
async def test_escape_and_a_click_end_marking_and_copy_nothing(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    pane.add_user("some words")
    await press(pilot, pane, ["v", "space", "right", "escape"])
    assert not pane.is_marking and pilot.app.clipboard == ""
    await press(pilot, pane, ["v", "space", "right"])
    await pilot.click(ChatPane, offset=(3, 0))
    assert not pane.is_marking and pilot.app.clipboard == ""


@with_chat(60, 20)
async def test_the_caret_is_seen_on_the_character_it_stands_on(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    pane.add_user("ab")
    await press(pilot, pane, ["v", "right"])
    under = [s.text for s in pane.render_line(0) if s.style is not None and s.style.reverse]
    assert under == ["b"]


@with_chat(60, 20)
async def test_what_is_marked_can_be_read_and_the_caret_is_seen_in_it(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    pane.add_user("abc")
    await press(pilot, pane, ["v", "space", "right"])
    marked = pane._inks.paint(("selected",))
    shown = {s.text: s.style for s in pane.render_line(0) if s.text in "abc" and s.style}
    assert (shown["a"].color, shown["a"].bgcolor) == (marked.color, marked.bgcolor)
    assert shown["b"].reverse and not shown["a"].reverse
    assert shown["c"].bgcolor != marked.bgcolor


@with_chat(60, 20)
async def test_nothing_can_be_marked_in_an_empty_chat(pilot: Pilot[None], pane: ChatPane) -> None:
    await press(pilot, pane, ["v", "shift+up", "y"])
    assert not pane.is_marking
