"""One turn without a screen: what is printed where."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from app.cli import main
from app.core.requests import ModelRequest, RetryWait, TextDelta
from app.errors import StreamBroken
from app.headless import Output, Refuser, run_headless
from tests.agent.rig import Rig, small
from tests.fakes.model import ScriptedModel, calls, says


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Stumbling(ScriptedModel):
    """Breaks off once in the middle of its answer, and says so, as the adapter does."""

    async def stream(self, request: ModelRequest):
        yield TextDelta("half an ans")
        yield RetryWait(1, 3, 1.0, "the connection broke.")
        async for event in super().stream(request):
            yield event


async def printed(rig: Rig, out: io.StringIO, output: Output = Output.TEXT) -> str:
    """Run one turn; return standard error."""
    err = io.StringIO()
    session = await rig.open()
    await run_headless(session, "hi", output, out=out, err=err)
    await session.close()
    return err.getvalue()


async def test_an_answer_that_began_twice_is_printed_once(tmp_path: Path) -> None:
    out = io.StringIO()
    err = await printed(Rig(tmp_path, Stumbling([says("An answer.")])), out)
    assert out.getvalue() == "An answer.\n"
    assert err == "the connection broke: attempt 1 of 3, again in 1 s\n"


async def test_a_person_at_a_terminal_sees_the_text_as_it_comes(tmp_path: Path) -> None:
    out = Terminal()
    await printed(Rig(tmp_path, Stumbling([says("An answer.")])), out)
    assert out.getvalue() == "half an ans\nAn answer.\n"


async def test_what_came_of_a_failed_answer_is_printed(tmp_path: Path) -> None:
    class Failing(ScriptedModel):
        async def stream(self, request: ModelRequest):
            yield TextDelta("half an ans")
            raise StreamBroken("it broke")

    out = io.StringIO()
    err = await printed(Rig(tmp_path, Failing()), out)
    assert out.getvalue() == "half an ans\n" and "it broke" in err


@pytest.mark.parametrize("output", Output)
async def test_damage_of_the_record_is_told(tmp_path: Path, output: Output) -> None:
    rig = Rig(tmp_path, ScriptedModel([says("One."), says("Two.")]))
    session = await rig.open()
    await run_headless(session, "hi", output, out=io.StringIO(), err=io.StringIO())
    await session.close()
    transcript = tmp_path / ".transcripts" / session.name / "transcript_0001.jsonl"
    transcript.write_bytes(transcript.read_bytes()[:-30])
    out, err = io.StringIO(), io.StringIO()
    again = await rig.open(session.name)
    await run_headless(again, "again", output, out=out, err=err)
    await again.close()
    told = out.getvalue() if output is Output.STREAM_JSON else err.getvalue()
    assert "the last line was cut off" in told
    if output is Output.STREAM_JSON:
        assert json.loads(told.splitlines()[0])["type"] == "notice"


def test_nothing_to_ask_is_wrong_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.stdin", io.StringIO(" \n"))
    assert main([str(tmp_path), "--demo", "-p", "  "]) == 2
    assert "nothing to ask" in capsys.readouterr().err


async def test_a_compaction_without_a_summary_says_why(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedModel([says("words and words " * 300)] * 30), policy=small(3_000))
    session = await rig.open()
    told = ""
    for text in ("one", "two", "three", "four", "five"):
        err = io.StringIO()
        await run_headless(session, text, Output.TEXT, out=io.StringIO(), err=err)
        told += err.getvalue()
    await session.close()
    assert "[auto_compact triggered]" in told
    assert "[compacted without a summary]" in told and "no summary (" in told


@pytest.mark.parametrize(("more", "code"), [([], 1), (["look"], 0)])
async def test_a_turn_that_ends_on_a_call_that_nobody_could_allow_exits_with_1(
    tmp_path: Path, more: list[str], code: int
) -> None:
    steps = [calls(("a", "write", {"command": "x"}))]
    steps += [calls((name, name, {"text": "it is so"})) for name in more]
    rig = Rig(tmp_path, ScriptedModel([*steps, says("Done as far as I may.")]), user=Refuser())
    session = await rig.open()
    err = io.StringIO()
    ended = await run_headless(session, "hi", Output.TEXT, out=io.StringIO(), err=err)
    await session.close()
    assert ended == code
    assert ("there is no one to ask. It would run with --allow" in err.getvalue()) is bool(code)
