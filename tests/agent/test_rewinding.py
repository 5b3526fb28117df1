"""Going back with real tools on a real folder: what the model sees then, what the files are, what the record keeps."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from app.agent.rewinding import RewindPoint
from app.agent.session import Session
from app.core.events import WentBack
from app.core.messages import JsonObject, message_to_json
from app.core.ports import Emit, ToolOutcome
from app.core.requests import Answer
from app.tools.workspace import Workspace
from app.tools.write_file import WriteFileTool
from tests.agent.rig import Handy, Rig, all_valid, of, read
from tests.fakes.model import ScriptedModel, calls, says
from tests.fakes.summaries import GOOD


def writer(rig: Rig) -> Handy:
    """The tool `put`: the real write_file under a name that needs no answer."""

    async def do(arguments: JsonObject, emit: Emit) -> ToolOutcome:
        tool = WriteFileTool(Workspace(rig.folder), rig.checkpoints)
        return await tool.run({"path": arguments["path"], "content": arguments["content"]}, emit)

    return Handy("put", do, read_only=False)


IDS = count(1)


def put(path: str, content: str) -> Answer:
    return calls((f"toolu_{next(IDS)}", "put", {"path": path, "content": content}))


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    made = Rig(tmp_path, ScriptedModel())
    made.tools = (writer(made),)
    return made


async def three_turns(rig: Rig) -> Session:
    """One file changed in each turn; the first turn makes `a`, the others change it and make more."""
    rig.model.script += (
        put("a", "1\n"), says("first done"),
        put("a", "1\n2\n"), put("b", "b\n"), says("second done"),
        put("a", "3\n"), says("third done"),
    )  # fmt: skip
    session = await rig.open()
    for text in ("first", "second", "third"):
        await read(session.submit(text))
    return session


def said(session: Session) -> list[str]:
    return [message.text for message in session.conversation.view().messages if message.text]


async def point(session: Session, words: str) -> RewindPoint:
    (found,) = [p for p in await session.rewind_points() if p.words == words and p.message]
    return found


async def back(session: Session, to: RewindPoint, *, conversation: bool = True, files: bool = True):
    plan = await session.rewind_files(to)
    moves = tuple(m for m in plan.moves if not m.changed_since and not m.problem) if files else ()
    folders = plan.folders if files else ()
    work = session.rewind(to, conversation=conversation, files=moves, folders=folders)
    (done,) = of(await read(work), WentBack)
    return done


async def test_the_turns_are_listed_newest_first_with_what_they_changed(rig: Rig) -> None:
    session = await three_turns(rig)
    points = await session.rewind_points()
    assert [(p.words, p.files, p.added, p.removed) for p in points] == [
        ("third", ("a",), 1, 2),
        ("second", ("a", "b"), 2, 0),
        ("first", ("a",), 1, 0),
    ]
    await session.close()


async def test_conversation_and_files_go_back_together_and_the_next_turn_knows_nothing(
    rig: Rig,
) -> None:
    session = await three_turns(rig)
    done = await back(session, await point(session, "second"))
    assert (done.words, done.restored, done.removed, done.failed) == ("second", ("a",), ("b",), ())
    assert (rig.folder / "a").read_text() == "1\n"
    assert not (rig.folder / "b").exists()
    assert said(session) == ["first", "first done"]
    rig.model.script.append(says("other"))
    await read(session.submit("another way"))
    assert said(session) == ["first", "first done", "another way", "other"]
    all_valid(rig.model)
    await session.close()


async def test_a_rewind_holds_after_a_resume_and_can_be_taken_back_whole(rig: Rig) -> None:
    session = await three_turns(rig)
    before = [message_to_json(m) for m in session.conversation.view().messages]
    await back(session, await point(session, "first"))
    assert said(session) == []
    assert not (rig.folder / "a").exists()
    name = session.name
    await session.close()
    session = await rig.open(name)
    assert said(session) == []
    assert await session.page(None, 30) == ()
    (only,) = await session.rewind_points()
    assert only.is_rewind
    await back(session, only)
    assert [message_to_json(m) for m in session.conversation.view().messages] == before
    assert (rig.folder / "a").read_text() == "3\n"
    assert (rig.folder / "b").read_text() == "b\n"
    await session.close()


async def test_only_files_go_back_and_the_model_is_told(rig: Rig) -> None:
    session = await three_turns(rig)
    await back(session, await point(session, "third"), conversation=False)
    assert (rig.folder / "a").read_text() == "1\n2\n"
    assert said(session)[:-1] == [
        "first",
        "first done",
        "second",
        "second done",
        "third",
        "third done",
    ]
    rig.model.script.append(says("ok"))
    await read(session.submit("go on"))
    last = rig.model.requests[-1].messages[-1]
    assert "The user took files back" in last.text
    assert last.text.endswith("go on")
    all_valid(rig.model)
    await session.close()


async def test_only_the_conversation_goes_back_and_the_model_learns_which_files_differ(
    rig: Rig,
) -> None:
    session = await three_turns(rig)
    await back(session, await point(session, "third"), files=False)
    assert (rig.folder / "a").read_text() == "3\n"
    assert "not as they were here: a." in said(session)[-1]
    await session.close()


async def test_what_the_user_changed_since_is_shown_and_stays(rig: Rig) -> None:
    session = await three_turns(rig)
    (rig.folder / "a").write_text("mine\n")
    to = await point(session, "second")
    moves = {m.path: m for m in (await session.rewind_files(to)).moves}
    assert moves["a"].changed_since
    assert not moves["b"].changed_since
    await back(session, to)
    assert (rig.folder / "a").read_text() == "mine\n"
    assert not (rig.folder / "b").exists()
    moves = {m.path: m for m in (await session.rewind_files(to)).moves}
    await read(session.rewind(to, conversation=False, files=(moves["a"],)))
    assert (rig.folder / "a").read_text() == "1\n"
    await session.close()


async def test_taking_back_a_rewind_of_files_alone_is_told_as_that(rig: Rig) -> None:
    session = await three_turns(rig)
    talk = session.conversation.view().messages
    first = await back(session, await point(session, "second"), conversation=False)
    assert not first.conversation and first.restored and first.removed
    newest = (await session.rewind_points())[0]
    assert newest.is_rewind and newest.files_only and newest.time
    done = await back(session, newest)
    assert (done.conversation, done.words, done.kept) == (False, "", ())
    assert set(done.restored) == {*first.restored, *first.removed}
    assert session.conversation.view().messages == talk
    await session.close()


async def test_a_file_that_the_user_changed_is_told_as_kept(rig: Rig) -> None:
    session = await three_turns(rig)
    (rig.folder / "b").write_text("mine\n")
    done = await back(session, await point(session, "second"))
    assert done.conversation and done.words == "second" and done.kept == ("b",)
    await session.close()


async def test_what_cannot_be_brought_back_is_told_and_the_rest_is(rig: Rig) -> None:
    session = await three_turns(rig)
    (rig.folder / "b").unlink()
    (rig.folder / "b").mkdir()
    to = await point(session, "second")
    plan = await session.rewind_files(to)
    (done,) = of(await read(session.rewind(to, conversation=True, files=plan.moves)), WentBack)
    assert done.restored == ("a",)
    assert len(done.failed) == 1
    assert (rig.folder / "a").read_text() == "1\n"
    await session.close()


async def test_going_back_over_a_compaction_brings_the_old_view(rig: Rig) -> None:
    session = await three_turns(rig)
    rig.model.script.append(says(GOOD))
    await read(session.compact())
    await back(session, await point(session, "second"), files=False)
    assert session.conversation.base == 0
    assert said(session)[:2] == ["first", "first done"]
    await session.close()


async def test_folders_that_a_turn_made_go_with_their_last_file_and_others_stay(rig: Rig) -> None:
    for name in ("old", "empty"):
        (rig.folder / name).mkdir()
    rig.model.script += (
        put("new/deep/a", "a"), put("old/b", "b"), put("shared/deep/c", "c"), says("done"),
    )  # fmt: skip
    session = await rig.open()
    await read(session.submit("make them"))
    (rig.folder / "shared" / "mine").write_text("the user's")
    to = await point(session, "make them")
    assert (await session.rewind_files(to)).folders == ("new/deep", "shared/deep", "new")
    await back(session, to)
    left = sorted(path.relative_to(rig.folder).as_posix() for path in rig.folder.rglob("*"))
    assert [name for name in left if not name.startswith(".")] == [
        "empty",
        "old",
        "shared",
        "shared/mine",
    ]
    (only,) = await session.rewind_points()
    await back(session, only)
    assert (rig.folder / "new" / "deep" / "a").read_text() == "a"
    await session.close()


async def test_a_folder_that_became_a_link_is_not_removed(rig: Rig, tmp_path: Path) -> None:
    rig.model.script += (put("new/deep/a", "a"), says("done"))
    session = await rig.open()
    await read(session.submit("make it"))
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (rig.folder / "new" / "deep" / "a").unlink()
    (rig.folder / "new" / "deep").rmdir()
    (rig.folder / "new").rmdir()
    (rig.folder / "new").symlink_to(outside)
    to = await point(session, "make it")
    work = session.rewind(to, conversation=True, folders=("new/deep", "new"))
    await read(work)
    assert (outside / "deep").is_dir()
    assert (rig.folder / "new").is_symlink()
    await session.close()
