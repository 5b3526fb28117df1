"""A turn: answers, tools, refusals, interruptions, and a conversation that can always be sent."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from app.agent.queue import Typed
from app.core.events import (
    ErrorRaised,
    Notice,
    QueuedDelivered,
    TextArrived,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnEnd,
)
from app.core.messages import Image, Message, Text, ToolResult
from app.core.permission import Answered, ApprovalAnswer
from app.core.requests import Answer, StopReason
from app.errors import ContextOverflow, ModelError, Rejected, SignatureRejected, StreamBroken
from app.headless import Refuser
from tests.agent.rig import Handy, Rig, ScriptedUser, all_valid, ended, of, read
from tests.fakes.message_rules import problems
from tests.fakes.model import ScriptedModel, calls, says


async def test_an_answer_arrives_and_is_in_the_next_request(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel([says("Hello there."), says("Again.")]))
    session = await rig.open()
    events = await read(session.submit("hi"))
    assert "".join(e.text for e in of(events, TextArrived)) == "Hello there."
    assert ended(events).end is TurnEnd.DONE
    await read(session.submit("and now?"))
    assert [m.text for m in rig.model.requests[-1].messages] == ["hi", "Hello there.", "and now?"]
    await session.close()


async def test_each_call_is_answered_in_order_and_the_turn_goes_on(tmp_path: Path) -> None:
    script = [calls(("a", "look", {"text": "one"}), ("b", "look", {"text": "two"})), says("Done.")]
    rig = Rig(tmp_path, ScriptedModel(script))
    session = await rig.open()
    events = await read(session.submit("look twice"))
    results = rig.model.requests[-1].messages[-1].tool_results
    assert [(r.tool_use_id, r.text) for r in results] == [("a", "one"), ("b", "two")]
    assert [e.result for e in of(events, ToolFinished)] == ["r1", "r2"]
    assert len(of(events, ToolStarted)) == len(of(events, ToolFinished)) == 2
    await session.close()


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("fail", "Error: it broke"),
        ("bug", "Error: the tool failed: ZeroDivisionError"),
        ("danger", "Error: Dangerous command blocked: it is dangerous"),
        (
            "nowhere",
            "Unknown tool: nowhere. Available: bug, compact, danger, fail, look, recall, write",
        ),
    ],
)
async def test_what_goes_wrong_in_a_tool_is_told_to_the_model(
    tmp_path: Path, tool: str, said: str
) -> None:
    rig = Rig(tmp_path, ScriptedModel([calls(("a", tool, {})), says("I see.")]))
    session = await rig.open()
    events = await read(session.submit("go"))
    (result,) = rig.model.requests[-1].messages[-1].tool_results
    assert result.is_error and result.text == said
    assert ended(events).end is TurnEnd.DONE
    await session.close()


async def test_read_only_calls_run_side_by_side_and_others_alone(tmp_path: Path) -> None:
    running: set[str] = set()
    together: list[frozenset[str]] = []

    async def watch(arguments, emit):
        running.add(arguments["path"])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        together.append(frozenset(running))
        running.discard(arguments["path"])
        return "ok"

    tools = (Handy("peek", watch), Handy("poke", watch, read_only=False))
    script = [
        calls(
            *(
                (n, t, {"path": n})
                for n, t in [("a", "peek"), ("b", "peek"), ("c", "poke"), ("d", "peek")]
            )
        ),
        says("ok"),
    ]
    rig = Rig(tmp_path, ScriptedModel(script), tools=tools)
    session = await rig.open()
    await read(session.submit("go"))
    assert frozenset("ab") in together
    assert frozenset("c") in together and not any(
        {"c", "d"} <= group or {"b", "c"} <= group for group in together
    )
    await session.close()


async def test_where_nobody_is_asked_the_model_is_not_told_that_the_user_refused(
    tmp_path: Path,
) -> None:
    rig = Rig(
        tmp_path,
        ScriptedModel([calls(("a", "write", {"command": "x"})), says("All right.")]),
        user=Refuser(),
    )
    session = await rig.open()
    await read(session.submit("write"))
    (result,) = rig.model.requests[-1].messages[-1].tool_results
    assert result.is_error and "no one to ask" in result.text and '--allow "write"' in result.text
    assert "user" not in result.text
    await session.close()


async def test_a_no_with_words_reaches_the_model_and_nothing_runs(tmp_path: Path) -> None:
    user = ScriptedUser(ApprovalAnswer(Answered.NO, words="use the other file"))
    rig = Rig(
        tmp_path,
        ScriptedModel([calls(("a", "write", {"command": "x"})), says("All right.")]),
        user=user,
    )
    session = await rig.open()
    events = await read(session.submit("write"))
    (result,) = rig.model.requests[-1].messages[-1].tool_results
    assert result.is_error and "refused" in result.text and "use the other file" in result.text
    assert not of(events, ToolStarted)
    await session.close()


async def test_an_edited_command_runs_as_edited_and_the_call_stays_as_it_was(
    tmp_path: Path,
) -> None:
    user = ScriptedUser(ApprovalAnswer(Answered.YES, edited="safer"))
    rig = Rig(
        tmp_path,
        ScriptedModel([calls(("a", "write", {"command": "risky"})), says("ok")]),
        user=user,
    )
    session = await rig.open()
    await read(session.submit("write"))
    _, answer, results = rig.model.requests[-1].messages
    assert answer.tool_uses[0].input == {"command": "risky"}
    assert results.tool_results[0].text == "[the user changed the command to: safer]\nwrote safer"
    await session.close()


async def test_always_adds_a_rule_and_is_not_asked_again(tmp_path: Path) -> None:
    user = ScriptedUser(ApprovalAnswer(Answered.ALWAYS))
    script = [calls(("a", "write", {}), ("b", "write", {})), says("ok")]
    rig = Rig(tmp_path, ScriptedModel(script), user=user)
    session = await rig.open()
    await read(session.submit("write twice"))
    assert len(user.asked) == 1 and [str(rule) for rule in session.rules] == ["write"]
    await session.close()


async def test_cancelling_while_a_tool_runs_answers_every_call(tmp_path: Path) -> None:
    started = asyncio.Event()

    async def hang(arguments, emit):
        emit("first line\n")
        started.set()
        await asyncio.Event().wait()

    script = [calls(("a", "look", {}), ("b", "hang", {}), ("c", "hang", {})), says("Hello again.")]
    rig = Rig(tmp_path, ScriptedModel(script), tools=(Handy("hang", hang, read_only=False),))
    session = await rig.open()
    events = []

    async def turn() -> None:
        async for event in session.submit("go"):
            events.append(event)
            if isinstance(event, ToolOutput):
                session.cancel()

    await turn()
    assert ended(events).end is TurnEnd.CANCELLED
    assert len(of(events, ToolFinished)) == 3
    await read(session.submit("hi"))
    all_valid(rig.model)
    results = {r.tool_use_id: r for m in rig.model.requests[-1].messages for r in m.tool_results}
    assert results["a"].text == "seen" and not results["a"].is_error
    assert results["b"].text.startswith("first line") and "interrupted" in results["b"].text
    assert results["c"].is_error
    await session.close()


async def test_closing_the_iterator_in_the_middle_of_an_answer_leaves_a_usable_session(
    tmp_path: Path,
) -> None:
    hold = asyncio.Event()
    rig = Rig(tmp_path, ScriptedModel([says("A long answer."), says("Yes?")], hold=hold))
    session = await rig.open()
    async with aclosing(session.submit("go")) as events:
        async for event in events:
            if isinstance(event, TextArrived):
                break
    assert not session.busy
    hold.set()
    end = ended(await read(session.submit("still there?")))
    assert end.text == "Yes?"
    all_valid(rig.model)
    await session.close()


async def test_closing_the_session_waits_until_what_ran_has_left_its_results(
    tmp_path: Path,
) -> None:
    async def hang(arguments, emit):
        emit("first line\n")
        await asyncio.Event().wait()

    script = [calls(("a", "hang", {})), says("Hello again.")]
    rig = Rig(tmp_path, ScriptedModel(script), tools=(Handy("hang", hang, read_only=False),))
    session = await rig.open()
    async for event in session.submit("go"):
        if isinstance(event, ToolOutput):
            await session.close()
    again = await rig.open(session.name)
    (result,) = again.conversation.entries[-1].message.tool_results
    assert result.text.startswith("first line")
    await again.close()


async def test_typed_ahead_text_is_delivered_after_the_tool_results(tmp_path: Path) -> None:
    async def queue_one(arguments, emit):
        await session.enqueue("and mind the tests")
        return "ok"

    script = [calls(("a", "slow", {})), says("I will.")]
    rig = Rig(tmp_path, ScriptedModel(script), tools=(Handy("slow", queue_one),))
    session = await rig.open()
    events = await read(session.submit("go"))
    last = rig.model.requests[-1].messages[-1]
    assert isinstance(last.content[0], ToolResult) and last.text == "and mind the tests"
    assert [e.text for e in of(events, QueuedDelivered)] == ["and mind the tests"]
    assert session.queue == ()
    await session.close()


async def test_text_typed_during_the_last_answer_is_answered_before_the_turn_ends(
    tmp_path: Path,
) -> None:
    async def late(request):
        return says("unused")

    hold = asyncio.Event()
    rig = Rig(tmp_path, ScriptedModel([says("First."), says("Second.")], hold=hold))
    session = await rig.open()
    events = []
    async for event in session.submit("go"):
        events.append(event)
        if isinstance(event, TextArrived) and not hold.is_set():
            await session.enqueue("one more thing")
            hold.set()
    assert len(rig.model.requests) == 2 and ended(events).text == "Second."
    all_valid(rig.model)
    await session.close()


async def test_taking_back_removes_the_newest_waiting_text(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel())
    session = await rig.open()
    await session.enqueue("one")
    await session.enqueue("two")
    assert await session.take_back() == Typed("two")
    assert session.queue == ("one",)
    await session.close()


@pytest.mark.parametrize(
    "error", [Rejected("401: the key is wrong", hint="Set another key."), StreamBroken("cut")]
)
async def test_a_failed_call_says_what_to_do_and_loses_no_word(
    tmp_path: Path, error: Exception
) -> None:
    rig = Rig(tmp_path, ScriptedModel([error, says("Here I am.")]))
    session = await rig.open()
    events = await read(session.submit("an important question"))
    assert ended(events).end is TurnEnd.FAILED
    assert of(events, ErrorRaised)[0].message == str(error)
    await read(session.go_on())
    assert rig.model.requests[-1].messages[-1].text == "an important question"
    await session.close()


async def test_a_call_cut_by_the_output_limit_never_runs(tmp_path: Path) -> None:
    cut = Answer(calls(("a", "write", {"command": "half"})).message, None, StopReason.MAX_TOKENS)
    rig = Rig(tmp_path, ScriptedModel([cut, says("Shorter now.")]))
    session = await rig.open()
    events = await read(session.submit("write a lot"))
    assert not of(events, ToolStarted) and not rig.user.asked
    assert ended(events).end is TurnEnd.DONE
    all_valid(rig.model)
    await session.close()


async def test_text_cut_by_the_output_limit_is_marked_and_can_go_on(tmp_path: Path) -> None:
    rig = Rig(
        tmp_path, ScriptedModel([says("Half a", stop=StopReason.MAX_TOKENS), says("n answer.")])
    )
    session = await rig.open()
    events = await read(session.submit("tell me"))
    assert ended(events).end is TurnEnd.CUT
    assert any("cut" in notice.text for notice in of(events, Notice))
    assert ended(await read(session.go_on())).end is TurnEnd.DONE
    all_valid(rig.model)
    await session.close()


async def test_a_paused_turn_is_continued(tmp_path: Path) -> None:
    rig = Rig(
        tmp_path, ScriptedModel([says("Thinking", stop=StopReason.PAUSE_TURN), says("Done.")])
    )
    session = await rig.open()
    assert ended(await read(session.submit("go"))).text == "Done."
    assert rig.model.requests[-1].messages[-1].role == "assistant"
    await session.close()


async def test_a_model_that_only_pauses_is_stopped_and_the_user_is_told(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel([says("Hm", stop=StopReason.PAUSE_TURN)] * 9))
    session = await rig.open()
    events = await read(session.submit("go"))
    assert any("paused 6 times" in notice.text for notice in of(events, Notice))
    await session.close()


async def test_a_message_of_blanks_is_not_sent(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel([]))
    session = await rig.open()
    assert ended(await read(session.submit(" \n "))).end is TurnEnd.FAILED
    assert rig.model.requests == [] and not session.conversation.entries
    await session.close()


async def test_a_picture_that_comes_with_a_message_sent_again_is_sent(tmp_path: Path) -> None:
    data = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    picture = Image({"type": "image", "source": data})
    down = ModelError("the endpoint is down")
    rig = Rig(tmp_path, ScriptedModel([down, down, down, says("A cat.")]))
    session = await rig.open()
    await read(session.submit("what is it?"))
    for pictures in ((picture,), (picture,), ()):
        await read(session.submit("what is it?", pictures))
    sent = rig.model.requests[-1].messages
    assert [block for m in sent for block in m.content if isinstance(block, Image)] == [picture]
    assert len(session.conversation.entries) == 3, "said without, said with, and answered"
    await session.close()


async def test_an_unanswered_message_that_is_sent_again_is_not_said_twice(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel([ModelError("it broke"), says("Yes?"), says("Again?")]))
    session = await rig.open()
    await read(session.submit("hello"))
    await read(session.submit("hello"))
    assert rig.model.requests[1].messages == rig.model.requests[0].messages
    await read(session.submit("hello"))
    assert [m.text for m in rig.model.requests[2].messages] == ["hello", "Yes?", "hello"]
    await session.close()


@pytest.mark.parametrize("content", [(), (Text("  \n"),)])
async def test_an_empty_answer_is_told_and_does_not_spoil_the_next_request(
    tmp_path: Path, content: tuple[Text, ...]
) -> None:
    empty = Answer(Message("assistant", content), None, StopReason.END_TURN)
    rig = Rig(tmp_path, ScriptedModel([empty, says("Hello.")]))
    session = await rig.open()
    events = await read(session.submit("hi"))
    assert any("empty answer" in notice.text for notice in of(events, Notice))
    await read(session.submit("anyone?"))
    all_valid(rig.model)
    await session.close()


async def test_a_refused_answer_stays_out_of_the_conversation(tmp_path: Path) -> None:
    refused = Answer(Message("assistant", (Text("I can"),)), None, StopReason.REFUSAL, "policy")
    rig = Rig(tmp_path, ScriptedModel([refused, says("Sure.")]))
    session = await rig.open()
    assert ended(await read(session.submit("do it"))).end is TurnEnd.REFUSED
    await read(session.submit("something else"))
    assert [m.role for m in rig.model.requests[-1].messages] == ["user"]
    await session.close()


async def test_an_unknown_stop_reason_is_shown_and_ends_the_turn(tmp_path: Path) -> None:
    odd = Answer(Message("assistant", (Text("Hm."),)), None, StopReason.OTHER, "gone_fishing")
    rig = Rig(tmp_path, ScriptedModel([odd]))
    session = await rig.open()
    events = await read(session.submit("hi"))
    assert any("gone_fishing" in notice.text for notice in of(events, Notice))
    assert ended(events).end is TurnEnd.DONE
    await session.close()


async def test_a_rejected_signature_is_mended_once_by_removing_thinking(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel([SignatureRejected("bad signature"), says("Fine.")]))
    session = await rig.open()
    assert ended(await read(session.submit("hi"))).end is TurnEnd.DONE
    rig.model.script = [SignatureRejected("bad"), SignatureRejected("bad")]
    assert ended(await read(session.submit("again"))).end is TurnEnd.FAILED
    await session.close()


@pytest.mark.parametrize(
    ("source", "window"), [("assumed", 100_000), ("endpoint", 100_000), ("settings", 200_000)]
)
async def test_a_window_that_a_refusal_taught_holds_after_a_resume(
    tmp_path: Path, source: str, window: int
) -> None:
    overflow = ContextOverflow("prompt is too long", sent=300_000, window=100_000)
    rig = Rig(tmp_path, ScriptedModel([overflow, says("no summary here"), says("still none")]))
    rig.window_of = lambda _info, _model: (rig.window, source)
    session = await rig.open()
    await read(session.submit("hi"))
    await session.close()
    again = await rig.open(session.name)
    assert again.budget.window == window
    assert again.budget.window_source == ("learned" if window == 100_000 else source)
    rig.model.script = [says("Hello.")]
    await read(again.submit("hello"))
    assert again.budget.window == window
    rig.model.script = [says("Hello.")]
    await again.set_model("another")
    assert again.budget.window == rig.window, "another model has another window"
    await again.close()


async def test_an_overflow_that_cannot_shrink_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    overflow = ContextOverflow("prompt is too long", sent=300_000, window=100_000)
    rig = Rig(tmp_path, ScriptedModel([overflow, says("no summary here"), says("still none")]))
    session = await rig.open()
    events = await read(session.submit("hi"))
    assert ended(events).end is TurnEnd.FAILED
    assert session.budget.window == 100_000 and session.budget.window_source == "learned"
    assert session.conversation.entries[0].words == "hi"
    assert problems(session.conversation.view().messages) == ()
    await session.close()
