"""Commands of the user's own: beside a turn, in the record, and told to the model only when they want."""

import asyncio
import base64

from app.agent.own_commands import MOST_CHARS, shortened
from app.agent.queue import Typed
from app.core.effects import Effects
from app.core.events import ToolFinished, ToolOutput, ToolStarted
from app.core.messages import Image, Text
from app.core.ports import ToolOutcome
from tests.agent.rig import Handy, Rig, read
from tests.fakes.model import ScriptedModel, says


def shell(text="hello", code=0):
    def run(arguments, emit):
        emit(text)
        return ToolOutcome(text, Effects(outcome=f"exit {code}, 1 line", exit_code=code))

    return Handy("shell", run)


PICTURE = Image(
    {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": "image/png",
            "data": base64.b64encode(b"\x89PNG\r\n\x1a\n").decode(),
        },
    }
)


async def test_a_shared_command_goes_with_the_next_message_and_only_once(tmp_path):
    model = ScriptedModel([says("I see."), says("Yes.")])
    session = await Rig(tmp_path, model, own_shell=shell()).open()
    started, piece, finished = await read(session.run_command("echo hello", share=True))
    assert isinstance(started, ToolStarted)
    assert started.target == "echo hello"
    assert piece == ToolOutput("own-1", "hello")
    assert isinstance(finished, ToolFinished)
    assert finished.outcome == "exit 0, 1 line · goes with your next message"
    assert model.requests == []
    await read(session.submit("what do you make of it?"))
    await read(session.submit("sure?"))
    first, *_ = model.requests[0].messages
    assert [block.text for block in first.content] == [
        "what do you make of it?",
        "[The user ran a command of their own: echo hello -> exit 0, 1 line]\nhello",
    ]
    assert session.conversation.entries[0].words == "what do you make of it?"
    assert [len(m.content) for m in model.requests[1].messages] == [2, 1, 1]
    await session.close()


async def test_a_private_command_is_in_the_record_and_never_in_a_request(tmp_path):
    model = ScriptedModel([says("ok")])
    session = await Rig(tmp_path, model, own_shell=shell("the secret")).open()
    *_, finished = await read(session.run_command("cat secret", share=False))
    assert finished.outcome.endswith("not told to the model")
    await read(session.submit("hi"))
    assert "secret" not in repr(model.requests)
    folder = tmp_path / ".transcripts" / session.name
    assert "the secret" in (folder / "events.jsonl").read_text()
    await session.close()


async def test_what_was_shared_before_a_restart_still_goes_with_the_next_message(tmp_path):
    rig = Rig(tmp_path, ScriptedModel([says("one"), says("two")]), own_shell=shell())
    session = await rig.open()
    await read(session.run_command("echo told", share=True))
    await read(session.submit("first"))
    await read(session.run_command("echo untold", share=True))
    await session.close()
    again = await rig.open(session.name)
    await read(again.submit("second"))
    assert [b.text for b in rig.model.requests[-1].messages[-1].content] == [
        "second",
        "[The user ran a command of their own: echo untold -> exit 0, 1 line]\nhello",
    ]
    await again.close()


async def test_a_command_runs_beside_a_turn_and_can_be_cancelled_without_it(tmp_path):
    begun = asyncio.Event()

    async def endless(arguments, emit):
        emit("half")
        begun.set()
        await asyncio.Event().wait()

    hold = asyncio.Event()
    model = ScriptedModel([says("a long answer")], hold=hold)
    session = await Rig(tmp_path, model, own_shell=Handy("shell", endless)).open()
    turn = session.submit("hi")
    command = session.run_command("sleep", share=True)
    await begun.wait()
    session.cancel_command()
    *_, finished = await read(command)
    assert (finished.ok, finished.text) == (False, "half")
    assert finished.outcome.startswith("cancelled")
    hold.set()
    events = await read(turn)
    assert events[-1].text == "a long answer"
    await session.close()


async def test_without_a_shell_the_user_is_told(tmp_path):
    session = await Rig(tmp_path, ScriptedModel()).open()
    (told,) = await read(session.run_command("ls", share=True))
    assert told.message == "There is no shell to run that."
    await session.close()


def test_a_long_output_keeps_head_and_tail():
    short = shortened("a" * MOST_CHARS + "b" * MOST_CHARS)
    assert short.startswith("aaa")
    assert short.endswith("bbb")
    assert "16,000 characters left out" in short
    assert len(short) < MOST_CHARS + 100


async def test_pictures_stand_before_the_text_in_a_valid_message(tmp_path):
    model = ScriptedModel([says("a picture")])
    session = await Rig(tmp_path, model).open()
    before = session.budget.used
    await read(session.submit("what is [Image #1]?", [PICTURE]))
    (message, *_) = model.requests[0].messages
    assert message.content[:2] == (PICTURE, Text("what is [Image #1]?"))
    assert session.conversation.entries[0].words == "what is [Image #1]?"
    assert session.budget.used > before
    await session.close()


async def test_pictures_of_a_queued_message_survive_a_restart(tmp_path):
    rig = Rig(tmp_path, ScriptedModel([says("ok"), says("I see")]))
    session = await rig.open()
    await read(session.submit("hi"))
    await session.enqueue("look at [Image #1]", [PICTURE])
    await session.close()
    again = await rig.open(session.name)
    assert again.queue == ("look at [Image #1]",)
    await read(again.submit("hello"))
    contents = [m.content for m in rig.model.requests[-1].messages]
    assert any(PICTURE in content for content in contents)
    await again.close()


async def test_a_queued_message_that_is_taken_back_after_a_restart_has_its_pictures(tmp_path):
    rig = Rig(tmp_path, ScriptedModel([says("ok")]))
    session = await rig.open()
    await read(session.submit("hi"))
    await session.enqueue("look at [Image #1]", [PICTURE])
    await session.close()
    again = await rig.open(session.name)
    assert await again.take_back() == Typed("look at [Image #1]", (PICTURE,))
    await again.close()


async def test_any_waiting_message_can_be_taken_back(tmp_path):
    session = await Rig(tmp_path, ScriptedModel()).open()
    for text in ("one", "two", "three"):
        await session.enqueue(text)
    assert await session.take_back(1) == Typed("two")
    assert await session.take_back(7) is None
    assert session.queue == ("one", "three")
    await session.close()


async def test_the_cards_of_own_commands_come_back_with_the_page_they_were_run_beside(tmp_path):
    rig = Rig(tmp_path, ScriptedModel([says("one"), says("two")]), own_shell=shell())
    session = await rig.open()
    await read(session.run_command("echo early", share=True))
    (early,) = await session.asides(await session.page(None, 30))
    assert early.data["command"] == "echo early" and early.data["ok"] is True
    await read(session.submit("first"))
    await session.close()
    again = await rig.open(session.name)
    await read(again.run_command("echo later", share=False))
    await read(again.submit("second"))
    newest = await again.page(None, 3)
    assert [a.data["command"] for a in await again.asides(newest)] == ["echo later"]
    older = await again.page(newest[0].number, 30)
    assert [a.data["command"] for a in await again.asides(older)] == ["echo early"]
    await again.close()


async def test_an_own_command_that_was_rewound_does_not_come_back(tmp_path):
    rig = Rig(tmp_path, ScriptedModel([says("one"), says("two")]), own_shell=shell())
    session = await rig.open()
    await read(session.submit("first"))
    await read(session.submit("second"))
    await read(session.run_command("echo gone", share=False))
    point = next(p for p in await session.rewind_points() if p.words == "second")
    await read(session.rewind(point, conversation=True))
    assert await session.asides(await session.page(None, 30)) == ()
    await session.close()


async def test_a_session_is_named_and_the_name_is_found_again(tmp_path):
    rig = Rig(tmp_path, ScriptedModel([says("ok")]))
    session = await rig.open()
    await read(session.submit("hi"))
    assert await session.title() == ""
    assert await session.rename("  the\n parser ") == session.named == "the parser"
    await session.close()
    again = await rig.open(session.name)
    assert await again.title() == again.named == "the parser"
    await again.close()
