from __future__ import annotations

from dataclasses import replace

import pytest
from textual.pilot import Pilot

from app.core.effects import Effects
from app.core.history import Entry, Remark
from app.core.messages import Message, Text, ToolResult, ToolUse, user
from app.core.reports import CompactionReport, Layer, Outcome
from app.ui.widgets.chat_pane import ChatPane
from tests.ui.chat_app import ChatApp, all_rows, chat_markdown, screen_lines, screen_text, with_chat

DIFF = """--- a/a.py
+++ b/a.py
@@ -1,3 +1,3 @@
 def f():
-    return old(1)
+    return new(1)
 # end
"""
REPORT = CompactionReport(Layer.AUTO, Outcome.APPLIED, "threshold", 48_900, 12_100, commit=1)


def long_answer(pane: ChatPane, paragraphs: int = 60) -> None:
    pane.begin_answer()
    for number in range(paragraphs):
        pane.append_text(f"Paragraph {number}.\n\n")
    pane.finish_answer()
    pane.draw_now()


def page(first: int, count: int) -> list[Entry]:
    return [
        Entry(number, number, "", user(f"question {number}"), spoken=(0,))
        if number % 2
        else Entry(number, number, "", Message("assistant", (Text(f"answer {number}"),)))
        for number in range(first, first + count)
    ]


# Streaming


@with_chat()
async def test_the_first_word_is_drawn_at_once(pane: ChatPane) -> None:
    pane.begin_answer()
    pane.append_text("Hello")
    assert "Hello" in pane.render_line(0).text


@with_chat()
async def test_the_end_stays_in_view_while_text_streams(pane: ChatPane) -> None:
    long_answer(pane)
    assert "Paragraph 59." in screen_text(pane)
    assert pane.following
    assert pane.new_rows == 0


@with_chat()
async def test_the_position_holds_while_text_streams_below(pane: ChatPane) -> None:
    long_answer(pane)
    pane.scroll_relative(y=-30, animate=False)
    before = screen_lines(pane)
    assert not pane.following
    long_answer(pane)
    assert screen_lines(pane) == before
    assert pane.new_rows == 120


@with_chat()
async def test_end_goes_to_the_newest_row_and_follows(pilot: Pilot[None], pane: ChatPane) -> None:
    long_answer(pane)
    pane.scroll_home(animate=False)
    assert "Paragraph 0." in screen_text(pane)
    pane.focus()
    await pilot.press("end")
    assert "Paragraph 59." in screen_text(pane)
    assert pane.following
    assert pane.new_rows == 0


@with_chat()
async def test_new_rows_that_came_into_view_are_no_longer_counted(pane: ChatPane) -> None:
    long_answer(pane)
    pane.scroll_relative(y=-10, animate=False)
    long_answer(pane, 20)
    counted = pane.new_rows
    pane.scroll_relative(y=20, animate=False)
    assert 0 < pane.new_rows < counted


@with_chat()
async def test_a_retry_takes_back_what_was_streamed(pane: ChatPane) -> None:
    pane.add_user("hi")
    pane.begin_answer()
    pane.append_thinking("hm")
    pane.append_text("half an ans\n\nwer\n\n")
    pane.tool_arriving("c1", "bash", 10)
    pane.draw_now()
    pane.void_answer()
    assert all_rows(pane) == ["hi"]
    pane.append_text("whole")
    assert all_rows(pane)[-1].strip() == "whole"


@with_chat()
async def test_a_closed_fence_is_coloured_as_a_whole(pane: ChatPane) -> None:
    code = "".join(f"word{n} = class {n}\n" for n in range(800))
    pane.append_text(f'```python\ntext = """\n{code}"""\n')
    pane.draw_now()
    assert len(pane.transcript) > 1
    pane.append_text("```\nAfter it.")
    pane.draw_now()
    fence, after = pane.transcript.sections
    assert after.source == "After it."
    inside = fence.lines(pane.transcript.width)[400]
    assert {inks for _, inks in inside.runs} == {("syntax-string",)}


@with_chat()
async def test_a_fence_that_closes_does_not_move_what_is_read(pane: ChatPane) -> None:
    pane.append_text("```text\n" + "".join(f"line {n}\n" for n in range(1_500)))
    pane.draw_now()
    pane.scroll_relative(y=-400, animate=False)
    before = screen_lines(pane)
    pane.append_text("```\nAfter it.\n")
    assert screen_lines(pane) == before
    assert len(pane.transcript) == 2


@with_chat()
async def test_a_user_message_is_not_markdown(pane: ChatPane) -> None:
    pane.add_user("# not a *title*\n\n    indented")
    assert all_rows(pane) == ["# not a *title*", "", "    indented"]


@with_chat()
async def test_a_long_paste_is_folded_and_kept_whole(pane: ChatPane) -> None:
    pane.add_user("\n".join(f"line {n}" for n in range(5_000)))
    assert len(all_rows(pane)) == 13
    assert "4,988 more lines" in all_rows(pane)[-1]
    assert "line 4999" in chat_markdown(pane)


@with_chat()
async def test_a_resize_during_streaming_keeps_every_word(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    pane.begin_answer()
    words = [f"word{n}" for n in range(400)]
    for number, word in enumerate(words):
        pane.append_text(f"{word} ")
        if number == 100:
            await pilot.resize_terminal(200, 40)
        if number == 200:
            await pilot.resize_terminal(40, 20)
        if number == 300:
            await pilot.resize_terminal(20, 5)
    await pilot.resize_terminal(200, 40)
    pane.finish_answer()
    assert " ".join(all_rows(pane)).split() == words
    assert pilot.app.focused is not None


@with_chat()
async def test_a_resize_keeps_what_is_at_the_top(pilot: Pilot[None], pane: ChatPane) -> None:
    for number in range(200):
        pane.add_notice(f"notice {number} " + "with words that wrap " * 8)
    pane.draw_now()
    pane.scroll_to(y=300, animate=False)
    top = pane.row_at(0)
    assert top is not None
    await pilot.resize_terminal(130, 30)
    after = pane.row_at(0)
    assert after is not None
    assert after[0] is top[0]


@with_chat()
async def test_nothing_ticks_while_idle(pilot: Pilot[None], pane: ChatPane) -> None:
    pane.tool_started("c1", "bash", "sleep")
    pane.tool_finished("c1", ok=True, text="", outcome="exit 0", seconds=1)
    pane._tick()
    long_answer(pane)
    pane.draw_now()
    await pilot.pause()
    assert [timer for timer in pane._timers if timer.name] == [] or not pane._timers
    assert pane._timer is None
    assert pane._clock is None


# Tools


@with_chat()
async def test_a_finished_card_is_one_line(pane: ChatPane) -> None:
    pane.tool_started("c1", "bash", "pytest -q")
    pane.tool_finished("c1", ok=True, text="out\n" * 50, outcome="exit 1, 50 lines", seconds=2.14)
    (row,) = all_rows(pane)
    assert row.split() == [
        "▲",
        "bash",
        "pytest",
        "-q",
        "exit",
        "1,",
        "50",
        "lines",
        "·",
        "2.1",
        "s",
    ]


@with_chat()
async def test_a_running_card_shows_the_end_of_its_output(pane: ChatPane) -> None:
    pane.tool_started("c1", "bash", "make")
    for number in range(500):
        pane.tool_output("c1", f"line {number}\n")
    rows = all_rows(pane)
    assert len(rows) == 13
    assert rows[-1].endswith("line 499")


@with_chat()
async def test_a_progress_bar_shows_its_last_state(pane: ChatPane) -> None:
    pane.tool_started("c1", "bash", "pip install")
    pane.tool_output("c1", "10%\r50%")
    pane.tool_output("c1", "\r100%")
    assert all_rows(pane)[-1].endswith("│ 100%")


@with_chat()
async def test_parallel_cards_keep_their_order(pane: ChatPane) -> None:
    for call in ("a", "b", "c"):
        pane.tool_started(call, "read_file", f"{call}.py")
    for call in ("c", "a", "b"):
        pane.tool_finished(call, ok=True, text="x", outcome="1 line", seconds=0)
    assert [row.split()[2] for row in all_rows(pane)] == ["a.py", "b.py", "c.py"]


@with_chat()
async def test_a_failed_call_says_why_without_being_opened(pane: ChatPane) -> None:
    pane.tool_finished(
        "c1",
        ok=False,
        text="Error: no such file\nmore",
        outcome="failed",
        seconds=0,
        tool="edit_file",
    )
    assert [row.strip() for row in all_rows(pane)][1] == "Error: no such file"


@with_chat()
async def test_an_edit_shows_its_diff_with_line_numbers(pane: ChatPane) -> None:
    pane.tool_finished(
        "c1",
        ok=True,
        text="ok",
        outcome="1 edit",
        seconds=0,
        diff=DIFF,
        tool="edit_file",
        target="a.py",
    )
    rows = all_rows(pane)
    assert "+1 −1" in rows[0]
    assert [row.split("│")[1].split(maxsplit=2)[:2] for row in rows[2:4]] == [
        ["2", "-"],
        ["2", "+"],
    ]


@with_chat()
async def test_enter_opens_and_folds_a_card(pilot: Pilot[None], pane: ChatPane) -> None:
    pane.tool_finished("c1", ok=True, text="the result", outcome="1 line", seconds=0, tool="bash")
    pane.draw_now()
    pane.focus()
    await pilot.pause()
    await pilot.press("enter")
    assert "the result" in screen_text(pane)
    await pilot.press("enter")
    assert "the result" not in screen_text(pane)


@with_chat()
async def test_a_click_on_its_line_opens_a_card(pilot: Pilot[None], pane: ChatPane) -> None:
    pane.tool_finished("c1", ok=True, text="the result", outcome="1 line", seconds=0, tool="bash")
    pane.draw_now()
    await pilot.click(ChatPane, offset=(5, 0))
    assert "the result" in screen_text(pane)
    assert pilot.app.focused is not pane


@with_chat()
async def test_a_cleared_result_is_marked(pane: ChatPane) -> None:
    pane.tool_finished(
        "c1", ok=True, text="x", outcome="1 line", seconds=0, tool="bash", result_id="r1"
    )
    pane.mark_cleared(["r1", "r99"])
    assert "cleared" in all_rows(pane)[0]
    pane.mark_cleared(["r1"], cleared=False)
    assert "cleared" not in all_rows(pane)[0]


@with_chat()
async def test_a_fold_above_the_view_does_not_move_it(pane: ChatPane) -> None:
    pane.tool_finished("c1", ok=True, text="x\n" * 30, outcome="", seconds=0, tool="bash")
    long_answer(pane)
    pane.scroll_relative(y=-10, animate=False)
    before = screen_lines(pane)
    card = pane.transcript.sections[0]
    card.toggle()
    pane.transcript.changed(card)
    assert screen_lines(pane) == before


@pytest.mark.parametrize(
    "nasty",
    [
        "\x1b[2J\x1b]52;c;aGk=\x07\x9b31m\x1b]0;t\x07",
        "[/",
        "[/]",
        "[red]x[/red]",
        "[@click=app.quit]x[/]",
        "\\[bold]",
        "[link=http://e]x[/link]",
        "\u202eevil\u2066",
        "\x00\x01\x7f",
        "\ud800",
        "\x1b[0build/" * 50,
    ],
)
@with_chat()
async def test_nothing_that_is_shown_acts_on_the_terminal(
    pilot: Pilot[None], pane: ChatPane, nasty: str
) -> None:
    pane.add_user(nasty)
    pane.append_thinking(nasty)
    pane.append_text(nasty + "\n\n`" + nasty + "`\n\n```" + nasty + "\n" + nasty + "\n```\n")
    pane.finish_answer()
    pane.tool_started("c1", nasty, nasty)
    pane.tool_output("c1", nasty)
    pane.tool_finished(
        "c1", ok=True, text=nasty, outcome=nasty, seconds=0, diff=f"@@ -1 +1 @@\n-{nasty}\n+x\n"
    )
    pane.tool_finished("c2", ok=False, text=nasty, outcome=nasty, seconds=0, tool=nasty)
    pane.add_approval(nasty, allowed=False, detail=nasty)
    pane.add_error(nasty, nasty)
    pane.action_toggle_all()
    await pilot.resize_terminal(12, 10)
    assert not [c for row in all_rows(pane) for c in row if c < " " or "\x7f" <= c < "\xa0"]
    assert not set("".join(all_rows(pane))) & set("\u202e\u2066\ud800")


# Everything else


@with_chat()
async def test_a_divider_says_that_its_compaction_was_taken_back(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    first, second = replace(REPORT, commit=1), replace(REPORT, commit=2, before=9_000)
    pane.add_divider(first)
    pane.add_divider(second)
    pane.mark_taken_back(2)
    pane.draw_now()
    assert "auto compact · 48,900 → " in screen_text(pane)
    assert "auto compact ↺ taken back · 9,000 → " in screen_text(pane)
    pane.clear()
    undone = replace(second, outcome=Outcome.UNDONE)
    pane.prepend_history([], more=False, reports=[first, second, undone])
    pane.draw_now()
    assert screen_text(pane).count("↺ taken back") == 1
    assert "auto compact ↺ taken back · 9,000 → " in screen_text(pane)


@with_chat()
async def test_enter_on_a_divider_asks_for_its_details(pilot: Pilot[None], pane: ChatPane) -> None:
    assert isinstance(pilot.app, ChatApp)
    pane.add_divider(REPORT)
    pane.draw_now()
    assert "auto compact · 48,900 → 12,100 · saved 75%" in screen_text(pane)
    pane.focus()
    await pilot.pause()
    await pilot.press("enter")
    await pilot.pause()
    assert [event.report for event in pilot.app.dividers] == [REPORT]


@with_chat()
async def test_a_click_on_a_divider_asks_for_its_details(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    assert isinstance(pilot.app, ChatApp)
    pane.add_divider(REPORT)
    pane.draw_now()
    await pilot.click(ChatPane, offset=(10, 0))
    await pilot.pause()
    assert [event.report for event in pilot.app.dividers] == [REPORT]


@with_chat()
async def test_older_messages_are_asked_for_once_and_do_not_move_the_view(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    assert isinstance(pilot.app, ChatApp)
    pane.prepend_history(page(101, 40), more=True)
    pane.draw_now()
    await pilot.pause()
    assert pilot.app.older == []
    pane.scroll_home(animate=False)
    before = screen_lines(pane)
    await pilot.pause()
    pane.scroll_relative(y=1, animate=False)
    pane.scroll_home(animate=False)
    await pilot.pause()
    assert [event.before for event in pilot.app.older] == [101]
    pane.prepend_history(page(61, 40), more=False)
    after = screen_lines(pane)
    assert after == before
    pane.scroll_home(animate=False)
    assert "question 61" in screen_text(pane)
    await pilot.pause()
    assert len(pilot.app.older) == 1


@with_chat()
async def test_compactions_stand_again_where_they_happened(pane: ChatPane) -> None:
    entries = [
        Entry(n, n, f"2026-01-01T00:00:{n:02}.000Z", user(f"question {n}"), spoken=(0,))
        for n in range(1, 5)
    ]
    reports = [
        replace(REPORT, before=n * 10_000, commit=n, time=f"2026-01-01T00:00:{n:02}.500Z")
        for n in (1, 2, 4)
    ]
    held = replace(REPORT, commit=0, time="2026-01-01T00:00:03.500Z")
    pane.prepend_history(entries[2:], more=True, reports=[*reports, held])
    pane.prepend_history(entries[:2], more=False)
    rows = [row for row in all_rows(pane) if row.strip()]
    assert [row.split()[-1] if "question" in row else row.split("·")[1].split()[0] for row in rows] == [
        "1", "10,000", "2", "20,000", "3", "4", "40,000"
    ]  # fmt: skip


@with_chat()
async def test_a_call_and_its_result_find_each_other_across_pages(pane: ChatPane) -> None:
    call = Entry(1, 1, "", Message("assistant", (ToolUse("t1", "bash", {"command": "ls"}),)))
    result = Entry(
        2,
        2,
        "",
        Message("user", (ToolResult("t1", "a.py"),)),
        effects={"t1": Effects("ls -a", "exit 0, 1 lines")},
        first_result=7,
    )
    pane.prepend_history([result], more=True)
    pane.prepend_history([call], more=False)
    assert all_rows(pane)[0].split() == ["✓", "bash", "ls", "-a", "exit", "0,", "1", "lines"]
    pane.mark_cleared(["r7"])
    assert "cleared" in all_rows(pane)[0]


@with_chat()
async def test_what_stands_beside_the_messages_is_shown_where_it_happened(pane: ChatPane) -> None:
    entries = [
        Entry(1, 1, "", user("edit it"), spoken=(0,)),
        Entry(3, 2, "", Message("assistant", (ToolUse("t1", "edit_file", {"path": "a.py"}),))),
        Entry(6, 3, "", Message("user", (ToolResult("t1", "edited"),)), first_result=1),
    ]
    approval = {"title": "edit [/]a.py", "answer": "yes", "words": "", "edited": None, "rule": ""}
    own = {"outcome": "exit 0, 1 line", "text": "built\n"}
    asides = [
        Remark(2, "", "partial", {"text": "I will **edit**\x1b[2J"}),
        Remark(4, "", "approval", approval),
        Remark(5, "", "diff", {"tool_use_id": "t1", "diff": "@@ -1 +1 @@\n-old\n+new\n"}),
        Remark(7, "", "error", {"message": "no connection", "hint": "look at the cable"}),
        Remark(8, "", "partial", {"text": 7}),
        Remark(9, "", "own_command", own | {"command": "make", "ok": True, "share": True}),
        Remark(10, "", "own_command", own | {"command": "sleep 9", "ok": False, "share": False}),
    ]
    pane.prepend_history(entries, more=False, asides=asides)
    text = "\n".join(all_rows(pane))
    wanted = ("edit it", "I will edit", "was cut off here", "✓ edit_file", "old", "new",
              "allowed once: edit [/]a.py", "no connection", "look at the cable",
              "✓ !  make", "built", "✗ !  sleep 9", "not told to the model")  # fmt: skip
    places = [text.index(part) for part in wanted]
    assert places == sorted(places), text
    assert "\x1b" not in text


@with_chat()
async def test_the_last_answer_and_its_code_can_be_had_as_markdown(pane: ChatPane) -> None:
    pane.append_text("# First\n\n```py\nx = 1\n```\n")
    pane.finish_answer()
    pane.append_text("Just **words**.\n\n- and\n- a list\n")
    pane.finish_answer()
    assert pane.last_answer_markdown() == "Just **words**.\n\n- and\n- a list"
    assert pane.last_code_block() == "x = 1\n"


@with_chat()
async def test_a_theme_recolours_what_is_shown(pilot: Pilot[None], pane: ChatPane) -> None:
    pane.append_text("## Title")
    pane.finish_answer()
    pane.draw_now()
    before = [segment.style for segment in pane.render_line(0)]
    pilot.app.theme = "palimpsest-light"
    await pilot.pause()
    assert [segment.style for segment in pane.render_line(0)] != before
    assert "Title" in pane.render_line(0).text


async def _styles_in_light(theme_at_start: str) -> list[object]:
    app = ChatApp(theme_at_start)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.pane.add_user("run `mkdir sub`")
        app.pane.append_text("It *ended* with `exit 1`.\n\n```py\nx = 1\n```\n")
        app.pane.finish_answer()
        app.pane.draw_now()
        await pilot.pause()
        app.theme = "palimpsest-light"
        await pilot.pause()
        return [
            [segment.style for segment in app.pane.render_line(y)] for y in range(app.size.height)
        ]


async def test_what_was_drawn_before_the_theme_changed_looks_like_what_is_drawn_after() -> None:
    assert await _styles_in_light("palimpsest-dark") == await _styles_in_light("palimpsest-light")


@with_chat()
async def test_the_terminals_own_colours_get_no_ground_under_code(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    pilot.app.theme = "ansi-dark"
    await pilot.pause()
    pane.append_text("```py\nx = 1\n```\n")
    pane.finish_answer()
    pane.draw_now()
    grounds = {segment.style.bgcolor for segment in pane.render_line(0) if segment.style}
    assert all(ground is None or ground.is_default for ground in grounds)


@with_chat()
async def test_a_click_on_a_link_opens_it_and_nothing_else_can_be_clicked(
    pilot: Pilot[None], pane: ChatPane
) -> None:
    assert isinstance(pilot.app, ChatApp)
    pane.append_text("[docs](https://example.org/it's) [bad](javascript:x)\n")
    pane.finish_answer()
    pane.draw_now()
    row = pane.render_line(0).text
    await pilot.click(ChatPane, offset=(row.index("docs") + 1, 0))
    await pilot.click(ChatPane, offset=(row.index("bad") + 1, 0))
    await pilot.pause()
    assert pilot.app.opened == ["https://example.org/it's"]


@with_chat()
async def test_old_rows_are_let_go(pane: ChatPane) -> None:
    for _ in range(40):
        long_answer(pane, 100)
    all_rows(pane)
    assert pane.transcript.cached_rows <= 6_200


@with_chat()
async def test_clear_forgets_everything(pane: ChatPane) -> None:
    long_answer(pane)
    pane.clear()
    assert screen_text(pane).strip() == ""
    pane.add_user("new")
    assert "new" in screen_text(pane)
