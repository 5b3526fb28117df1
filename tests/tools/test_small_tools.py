from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from app.core.effects import Effects
from app.core.events import TodoItem
from app.core.messages import Image, Message, Text, ToolResult, ToolUse
from app.core.originals import Texts
from app.core.tokens import estimate_text
from app.errors import RecordError, ToolError
from app.tools.arguments import checked
from app.tools.diff import unified
from app.tools.recall import RecallTool
from app.tools.result_room import Room
from tests.tools.conftest import Bench, FakeRecord


def result(id_: str, content: Any) -> ToolResult:
    return ToolResult(id_, content)


async def test_the_todo_list_is_replaced_as_a_whole(bench: Bench) -> None:
    text = await bench.text(
        "todo", items=[{"text": "read  it", "state": "done"}, {"text": "fix", "state": "doing"}]
    )
    assert text == "[x] read it\n[>] fix"
    assert bench.todos == [(TodoItem("read it", "done"), TodoItem("fix", "doing"))]
    assert "must be one of pending, doing, done" in await bench.refusal(
        "todo", items=[{"text": "x", "state": "later"}]
    )
    assert "characters of text" in await bench.refusal(
        "todo", items=[{"text": " ", "state": "done"}]
    )


async def test_compact_answers_with_constant_text(bench: Bench) -> None:
    assert (
        await bench.text("compact", focus="the parser")
        == await bench.text("compact")
        == "Compressing..."
    )
    description = bench.tools["compact"].spec.description
    for moment in ("a task is finished", "a new phase", "before a large read"):
        assert moment in description


async def test_recall_brings_back_the_nth_result(bench: Bench) -> None:
    bench.record.add(
        Message("user", (result("a", "first"), result("b", "one\ntwo\nthree"))),
        {"b": Effects(target="ls")},
    )
    assert await bench.text("recall", id="r2") == "[r2 (ls): lines 1-3 of 3]\none\ntwo\nthree"
    assert await bench.text("recall", id="R1") == "[r1: lines 1-1 of 1]\nfirst"
    assert await bench.text("recall", id="r2", lines="2-2") == "[r2 (ls): lines 2-2 of 3]\n2│two"
    assert (
        await bench.text("recall", id="r2", pattern="^t")
        == "[r2 (ls): 2 matching lines]\n2│two\n3│three"
    )


async def test_recall_prefers_the_stored_full_text_and_stays_under_the_limit_of_layer_0(
    bench: Bench,
) -> None:
    bench.record.outputs["r1.txt"] = "".join(f"line number {n}\n" for n in range(5_000))
    bench.record.add(Message("user", (result("a", "cut"),)), {"a": Effects(stored="r1.txt")})
    text = await bench.text("recall", id="r1")
    assert estimate_text(text) < 8_000
    heading = text.split("\n", 1)[0]
    following = heading.split("next lines ")[1].rstrip("-]")
    assert await bench.text("recall", id="r1", lines=following) != text
    assert "line number 4999" in await bench.text("recall", id="r1", pattern="4999$")


async def test_a_recall_stays_under_the_limit_of_layer_0_in_the_models_own_tokens(
    bench: Bench,
) -> None:
    bench.factor = 2.5
    bench.record.outputs["r1.txt"] = "".join(f"line number {n}\n" for n in range(5_000))
    bench.record.add(Message("user", (result("a", "cut"),)), {"a": Effects(stored="r1.txt")})
    limit = bench.policy.entry.max_tokens
    recalled = await bench.text("recall", id="r1")
    assert limit / 2 < estimate_text(recalled) * bench.factor < limit
    searched = await bench.text("recall", id="r1", pattern="line")
    assert estimate_text(searched) * bench.factor < limit


async def test_recall_brings_back_a_message_with_its_calls(bench: Bench) -> None:
    bench.record.add(
        Message("assistant", (Text("I look."), ToolUse("a", "bash", {"command": "ls"})))
    )
    text = await bench.text("recall", id="m1")
    assert "I look." in text
    assert '[used bash: {"command": "ls"}]' in text


async def test_recall_brings_back_pictures(bench: Bench) -> None:
    image = Image({"type": "image", "source": {}})
    bench.record.add(Message("user", (result("a", (Text("p.png"), image)),)))
    outcome = await bench.call("recall", id="r1")
    assert outcome.content == (Text("[r1: lines 1-1 of 1]\np.png"), image)


async def test_recall_without_an_id_searches_the_record(bench: Bench) -> None:
    bench.record.add(Message("user", (Text("use port 8080\nplease"),)))
    assert await bench.text("recall", pattern="80+") == "m1: use port 8080"
    assert await bench.text("recall", pattern="xyz") == "(nothing in the record matches)"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "give an id"),
        ({"id": "x9"}, "no id"),
        ({"id": "r9"}, "no tool result r9"),
        ({"id": "m9"}, "no message m9"),
        ({"id": "r9", "pattern": "("}, "no regular"),
    ],
)
async def test_recall_explains_what_it_cannot_find(
    bench: Bench, arguments: dict[str, Any], expected: str
) -> None:
    assert expected in await bench.refusal("recall", **arguments)


async def test_a_record_that_cannot_be_read_ends_the_call_and_not_the_turn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken() -> AsyncGenerator[Texts, None]:
        yield (("m2", "some text"),)
        raise RecordError("the session cannot be read")

    monkeypatch.setattr(bench.record, "texts", broken)
    assert "cannot be read" in await bench.refusal("recall", pattern="none")


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(a|a?)+$", r"(\w*\w*)*\d$", "^(([a-z])+.)+[A-Z]$"]
)
async def test_a_pattern_that_never_ends_is_ended_and_what_was_found_is_told(
    bench: Bench, pattern: str
) -> None:
    record = FakeRecord()
    record.add(Message("user", (Text("a" * 60 + "!"),)))
    record.add(Message("user", (Text("zA1 aaa"),)))
    tool = RecallTool(record, lambda: Room(bench.policy), seconds=1.5)
    outcome = await asyncio.wait_for(tool.run({"pattern": pattern}, lambda _: None), 60)
    assert isinstance(outcome.content, str)
    assert "older messages were not searched" in outcome.content
    assert "stopped early" in outcome.effects.outcome


async def test_a_search_of_the_record_reads_no_more_than_it_needs(bench: Bench) -> None:
    taken: list[int] = []

    class Endless(FakeRecord):
        async def texts(self) -> AsyncGenerator[Texts, None]:
            for number in range(1_000_000):
                taken.append(number)
                yield ((f"m{number}", "needle here"),) * 10

    outcome = await RecallTool(Endless(), lambda: Room(bench.policy)).run(
        {"pattern": "NEEDLE"}, lambda _: None
    )
    assert isinstance(outcome.content, str)
    assert outcome.content.endswith("[more matches are older: narrow the pattern]")
    assert len(taken) < 100_000


async def test_recall_refuses_a_range_that_is_none(bench: Bench) -> None:
    bench.record.add(Message("user", (result("a", "x"),)))
    for lines in ("a-b", "0-3", "5-2"):
        assert "lines" in await bench.refusal("recall", id="r1", lines=lines)
    assert "ends at line 1" in await bench.refusal("recall", id="r1", lines="7")


def test_the_tools_come_in_one_order_with_the_same_specs(bench: Bench) -> None:
    names = [
        "bash",
        "read_file",
        "write_file",
        "edit_file",
        "list_files",
        "search",
        "todo",
        "recall",
        "compact",
    ]
    assert list(bench.tools) == names
    assert [t.spec for t in bench.tools.values()] == [t.spec for t in bench.tools.values()]
    read_only = {name for name, tool in bench.tools.items() if tool.read_only}
    assert read_only == {"read_file", "list_files", "search", "recall", "compact"}


@pytest.mark.parametrize(
    "arguments",
    [{}, {"path": 3, "command": None, "items": "x", "id": [], "glob": 5, "pattern": {}}],
)
def test_a_target_is_one_line_for_any_arguments(bench: Bench, arguments: dict[str, Any]) -> None:
    for tool in bench.tools.values():
        assert "\n" not in tool.target(arguments)


async def test_wrong_arguments_are_named(bench: Bench) -> None:
    assert await bench.refusal("read_file") == "missing argument 'path'"
    assert "unknown argument 'file'; allowed: path" in await bench.refusal(
        "read_file", path="f", file="f"
    )
    assert "'offset' must be a whole number, not text" in await bench.refusal(
        "read_file", path="f", offset="x"
    )
    assert "'offset' must be at least 1" in await bench.refusal("read_file", path="f", offset=0)
    assert "'items[0].text'" in await bench.refusal("todo", items=[{"state": "done"}])
    with pytest.raises(ToolError, match="missing argument 'old_text'"):
        await bench.tools["edit_file"].propose({"path": "f"})


def test_unmistakable_slips_are_repaired() -> None:
    schema = {
        "properties": {"n": {"type": "integer"}, "b": {"type": "boolean"}, "s": {"type": "string"}}
    }
    assert checked(schema, {"n": "5", "b": "true", "s": None}) == {"n": 5, "b": True}
    assert checked(schema, {"n": 5.0}) == {"n": 5}
    for wrong in (True, 5.5, "5.5", [], None.__class__):
        with pytest.raises(ToolError):
            checked(schema, {"n": wrong})


def test_a_diff_shows_context_and_counts() -> None:
    before = "".join(f"{n}\n" for n in range(20))
    diff = unified(before, before.replace("10\n", "ten\n").replace("19\n", ""), "f")
    assert (diff.changed, diff.lines) == (((11, 11), (20, 20)), 19)
    assert diff.counts == "+1 -2"
    assert "@@ -8,7 +8,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11" in diff.text
    assert unified("a", "a\n", "f").text.endswith("-a\n\\ No newline at end of file\n+a\n")
    assert unified("a\n", "a\n", "f").text == ""


def test_a_huge_diff_is_bounded_with_exact_counts() -> None:
    diff = unified(
        "".join(f"a{n}\n" for n in range(100_000)), "".join(f"b{n}\n" for n in range(90_000)), "f"
    )
    assert diff.counts == "+90000 -100000"
    assert diff.text.count("\n") < 500
