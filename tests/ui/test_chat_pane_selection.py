from __future__ import annotations

from textual.pilot import Pilot

from app.ui.widgets.chat_pane import ChatPane
from tests.ui.chat_app import with_chat


async def drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int]) -> str | None:
    await pilot.mouse_down(ChatPane, offset=start)
    await pilot.hover(ChatPane, offset=end)
    await pilot.mouse_up(ChatPane, offset=end)
    await pilot.pause()
    return pilot.app.screen.get_selected_text()


@with_chat(60, 20)
async def test_what_is_marked_is_what_is_copied(pilot: Pilot[None], pane: ChatPane) -> None:
    pane.add_user("hello brave world")
    pane.draw_now()
    assert await drag(pilot, (8, 0), (12, 0)) == "brave"


@with_chat(60, 20)
async def test_wide_characters_count_as_one(pilot: Pilot[None], pane: ChatPane) -> None:
    pane.add_user("中文字符 here")
    pane.draw_now()
    assert await drag(pilot, (4, 0), (6, 0)) == "文字"


@with_chat(60, 20)
async def test_a_wrapped_line_is_copied_as_one_line(pilot: Pilot[None], pane: ChatPane) -> None:
    text = " ".join(f"word{n}" for n in range(20))
    pane.add_user(text)
    pane.draw_now()
    assert pane.render_line(1).text.strip()
    copied = await drag(pilot, (2, 0), (55, 2))
    assert copied is not None
    assert "\n" not in copied
    assert copied == text[: len(copied)]


@with_chat(60, 20)
async def test_whole_entries_are_copied_as_markdown(pilot: Pilot[None], pane: ChatPane) -> None:
    pane.add_user("first")
    pane.append_text("- some **bold** text")
    pane.finish_answer()
    pane.add_user("last")
    pane.draw_now()
    assert await drag(pilot, (2, 0), (5, 4)) == "first\n\n- some **bold** text\n\nlast"


@with_chat(60, 20)
async def test_bullets_are_not_copied_from_a_part_of_a_list(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    pane.append_text("- one\n- two\n")
    pane.finish_answer()
    pane.draw_now()
    assert await drag(pilot, (4, 0), (6, 1)) == "one\ntwo"


@with_chat(60, 20)
async def test_a_selection_survives_new_text_and_another_width(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    pane.add_user("keep this selected please")
    pane.draw_now()
    assert await drag(pilot, (7, 0), (10, 0)) == "this"
    for number in range(50):
        pane.add_notice(f"notice {number}")
    pane.draw_now()
    await pilot.resize_terminal(40, 20)
    assert pilot.app.screen.get_selected_text() == "this"


@with_chat(60, 20)
async def test_the_marked_text_is_seen(pilot: Pilot[None], pane: ChatPane) -> None:
    pane.add_user("hello brave world")
    pane.draw_now()
    await drag(pilot, (8, 0), (12, 0))
    chosen = pilot.app.screen.get_component_rich_style("screen--selection").bgcolor
    marked = [s.text for s in pane.render_line(0) if s.style and s.style.bgcolor == chosen]
    assert "".join(marked) == "brave"


@with_chat(60, 20)
async def test_a_double_click_takes_the_word_and_a_third_the_line(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    pane.add_user("open app/ui/pane.py now")
    pane.draw_now()
    await pilot.click(ChatPane, offset=(9, 0), times=2)
    assert pilot.app.screen.get_selected_text() == "app/ui/pane.py"
    await pilot.click(ChatPane, offset=(9, 0), times=3)
    assert pilot.app.screen.get_selected_text() == "open app/ui/pane.py now"


@with_chat(60, 20)
async def test_y_copies_the_entry_under_the_cursor(pilot: Pilot[None], pane: ChatPane) -> None:
    pane.append_text("# One\n\nTwo **three**\n")
    pane.finish_answer()
    pane.draw_now()
    pane.focus()
    await pilot.pause()
    await pilot.press("y")
    assert pilot.app.clipboard == "# One\n\nTwo **three**"


@with_chat(60, 20)
async def test_the_cursor_goes_from_entry_to_entry(pilot: Pilot[None], pane: ChatPane) -> None:
    pane.add_user("first")
    pane.append_text("a\n\nb\n\nc\n")
    pane.finish_answer()
    pane.add_user("last")
    pane.draw_now()
    pane.focus()
    await pilot.pause()
    await pilot.press("up", "y")
    assert pilot.app.clipboard == "a\n\nb\n\nc"
    await pilot.press("k", "y")
    assert pilot.app.clipboard == "first"
    await pilot.press("j", "j", "y")
    assert pilot.app.clipboard == "last"


@with_chat(60, 20)
async def test_the_cursor_scrolls_through_an_entry_that_is_longer_than_the_view(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    pane.append_text("".join(f"Line {n}.\n\n" for n in range(100)))
    pane.finish_answer()
    pane.draw_now()
    pane.focus()
    await pilot.pause()
    bottom = pane.scroll_offset.y
    await pilot.press("up")
    assert 0 < pane.scroll_offset.y < bottom
    await pilot.press(*["up"] * 30)
    assert pane.scroll_offset.y == 0


SIDES = """@@ -1,3 +1,3 @@
 same line
-the old words of it
+a new text for it
-gone for good
 last line
"""


async def side_by_side(pane: ChatPane, diff: str = SIDES) -> tuple[list[str], int]:
    """A card whose diff stands side by side; returns its rows, and the column of the new text."""
    pane.tool_finished(
        "c", ok=True, text="", outcome="", seconds=0, diff=diff, result_id="r1", tool="edit_file"
    )
    pane.draw_now()
    rows = [pane.render_line(y).text for y in range(pane.size.height)]
    return rows, next(row.index("a new text") for row in rows if "a new text" in row)


def at(rows: list[str], words: str, last: bool = False) -> tuple[int, int]:
    y = next(y for y, row in enumerate(rows) if words in row)
    return rows[y].index(words) + (len(words) - 1 if last else 0), y


@with_chat(130, 20)
async def test_the_old_side_of_a_diff_is_marked_and_copied_by_itself(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    rows, _ = await side_by_side(pane)
    text = await drag(pilot, at(rows, "old words"), at(rows, "gone for", last=True))
    assert text == "old words of it\ngone for"
    assert await drag(pilot, at(rows, "new text"), at(rows, "new text", last=True)) == "new text"
    assert await drag(pilot, at(rows, "gone"), at(rows, "gone", last=True)) == "gone"


@with_chat(130, 20)
async def test_a_drag_from_one_side_to_the_other_copies_the_new_side(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    rows, _ = await side_by_side(pane)
    text = await drag(pilot, at(rows, "old words"), at(rows, "new text", last=True))
    assert text == "a new text"


@with_chat(130, 20)
async def test_an_old_line_that_takes_more_rows_than_the_new_one_is_copied_as_one_line(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    old = " ".join(f"word{n}" for n in range(40))
    rows, _ = await side_by_side(pane, f"@@ -1 +1 @@\n-{old}\n+a new text\n")
    text = await drag(pilot, at(rows, "word2"), at(rows, "word38", last=True))
    assert text == old[old.index("word2") : old.index("word38") + 6]
    selected = [y for y, row in enumerate(rows) if "word" in row]
    assert len(selected) > 2


@with_chat(130, 20)
async def test_a_word_of_the_old_side_is_taken_by_a_double_click(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    rows, _ = await side_by_side(pane)
    await pilot.click(ChatPane, offset=at(rows, "words"), times=2)
    await pilot.pause()
    assert pilot.app.screen.get_selected_text() == "words"
