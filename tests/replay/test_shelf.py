"""What a recording shows of files, and where its edits changed them."""

from __future__ import annotations

from app.core.effects import Span
from app.core.messages import JsonObject, ToolResult, ToolUse
from app.replay.effects import edit_targets, infer_effects
from app.replay.shelf import SHOWN_FOR_UNKNOWN, Shelf


def note(shelf: Shelf, name: str, arguments: JsonObject, result: str = "ok") -> tuple[Span, ...]:
    return shelf.note(ToolUse("t", name, arguments), ToolResult("t", result))


async def test_a_piece_that_was_read_stands_at_its_own_lines() -> None:
    shelf = Shelf()
    note(shelf, "read", {"path": "a", "offset": 4, "limit": 2}, "four\nfive")
    assert await shelf.read("a", 4, 9) == "four\nfive"
    assert await shelf.read("a", 3, 4) == f"{SHOWN_FOR_UNKNOWN}\nfour"
    assert await shelf.read("b", 1, 9) is None


async def test_numbers_in_the_result_win_over_the_arguments() -> None:
    shelf = Shelf()
    note(shelf, "Read", {"file_path": "a", "offset": 99}, "     7\tseven\n     8\teight")
    assert await shelf.read("a", 7, 8) == "seven\neight"


async def test_an_edit_tells_where_it_changed_the_file() -> None:
    shelf = Shelf()
    note(shelf, "write", {"path": "a", "content": "one\ntwo\nthree\n"})
    places = note(shelf, "edit", {"path": "a", "oldText": "two\n", "newText": "2\n2b\n"})
    assert places == (Span("a", 2, 4, 5),)
    assert await shelf.read("a", 1, 9) == "one\n2\n2b\nthree\n"
    assert note(shelf, "edit", {"path": "a", "oldText": "gone", "newText": "x"}) == ()


def test_a_view_range_says_where_a_read_began() -> None:
    call = ToolUse(
        "t", "str_replace_editor", {"command": "view", "path": "a", "view_range": [5, 6]}
    )
    assert infer_effects(call, ToolResult("t", "x\ny")).read == (Span("a", 5, 6),)


def test_the_old_side_of_each_hunk_of_a_patch_is_an_edit_target() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@ def f\n one\n-two\n+2\n three\n@@\n-four\n"
        "*** Add File: b.py\n+new\n*** End Patch\n"
    )
    assert edit_targets(ToolUse("t", "apply_patch", {"input": patch})) == (
        "one\ntwo\nthree",
        "four",
    )
