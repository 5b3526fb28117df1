"""What a recording shows of files, and where its edits changed them."""

from __future__ import annotations

from app.core.effects import Span
from app.core.messages import JsonObject, Message, ToolResult, ToolUse, user
from app.replay.effects import edit_targets, edited_files, infer_effects
from app.replay.losses import Losses
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


async def test_what_a_program_says_behind_a_page_is_no_line_of_the_file() -> None:
    shelf = Shelf()
    note(shelf, "read", {"path": "a"}, "one\ntwo\nthree\nfour")
    page = "one\ntwo\n\n... (2 more lines not shown. Use offset=3 to continue reading)"
    call = ToolUse("t", "read", {"path": "a", "limit": 2})
    assert infer_effects(call, ToolResult("t", page)).read == (Span("a", 1, 2),)
    note(shelf, "read", {"path": "a", "limit": 2}, page)
    assert await shelf.read("a", 1, 9) == "one\ntwo\nthree\nfour"


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


PATCH = (
    "*** Begin Patch\n*** Update File: /work/a.py\n@@ def f\n one\n-two\n+2\n+2b\n three\n"
    "*** Add File: /work/b.py\n+new\n*** End Patch\n"
)
HEADER = "Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"


async def test_a_patch_changes_the_files_that_commands_showed() -> None:
    shelf = Shelf()
    shown = {"cmd": "sed -n '1,4p' a.py", "workdir": "/work"}
    note(shelf, "exec_command", shown, f"{HEADER}zero\none\ntwo\nthree\n")
    assert await shelf.read("/work/a.py", 1, 2) == "zero\none"
    assert note(shelf, "apply_patch", {"input": PATCH}) == (Span("/work/a.py", 2, 5, 6),)
    assert await shelf.read("/work/a.py", 1, 9) == "zero\none\n2\n2b\nthree\n"
    assert await shelf.read("/work/b.py", 1, 9) == "new"


def test_a_patch_says_which_files_it_changes() -> None:
    call = ToolUse("t", "apply_patch", {"input": PATCH})
    assert infer_effects(call, ToolResult("t", "ok")).modified == ("/work/a.py", "/work/b.py")
    assert set(edited_files(call)) == {"a.py", "b.py"}


async def test_output_that_is_fetched_later_belongs_to_its_command() -> None:
    shelf = Shelf()
    command = ToolUse("t1", "exec_command", {"cmd": "cat a.py"})
    waiting = ToolResult("t1", "Process running with session ID 7\nOutput:\n")
    assert shelf.asked(command, waiting) == command
    assert infer_effects(command, waiting).read == ()
    fetch = ToolUse("t2", "write_stdin", {"session_id": 7})
    assert shelf.asked(fetch, ToolResult("t2", f"{HEADER}one\n")) == command
    other = ToolUse("t3", "write_stdin", {"session_id": 8})
    assert shelf.asked(other, ToolResult("t3", "x")) == other


def test_an_edit_whose_file_is_not_even_named_is_counted() -> None:
    edit = ToolUse("t", "edit", {"path": "src/a.py", "oldText": "two", "newText": "2"})
    for view, unnamed in ((user("work on a.py"), 0), (user("go on"), 1)):
        losses = Losses()
        losses.saw([user("one\ntwo\nthree")])
        losses.check([view], Message("assistant", (edit,)))
        assert (losses.edits, losses.edits_lost, losses.edits_unnamed) == (1, 1, unnamed)


def test_what_a_patch_in_the_view_wrote_is_not_lost() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-one\n+two\n+three\n*** End Patch\n"
    wrote = Message("assistant", (ToolUse("t", "apply_patch", {"input": patch}),))
    edit = ToolUse("u", "edit", {"path": "a.py", "oldText": "two\nthree", "newText": "x"})
    losses = Losses()
    losses.saw([wrote])
    losses.check([wrote], Message("assistant", (edit,)))
    assert (losses.edits, losses.edits_lost) == (1, 0)
