"""A record with masks: nothing secret on the disk, a valid view after a resume, and the text in the running session."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.adapters.journal import Journal
from app.adapters.journal_masking import Masking
from app.adapters.journal_reading import SessionReader
from app.adapters.session_export import as_jsonl, as_markdown
from app.core.conversation import Conversation, replay
from app.core.effects import Effects
from app.core.masking import OwnKeys
from app.core.messages import Message, Text, Thinking, ToolResult, ToolUse, user
from app.core.originals import find_original
from app.core.ports import CommitDraft
from app.core.reports import Layer
from app.core.secret_masks import KnownSecrets
from tests.fakes.clock import FakeClock
from tests.fakes.message_rules import problems
from tests.fakes.secret_samples import alnum

SECRET = "gh" + "p_" + alnum(36)
OTHER = "gh" + "p_" + alnum(36, 9)
RECORD = Masking(KnownSecrets(b"salt"))
VIEW = Masking(KnownSecrets(b"salt"), in_view=True)


async def conversation_with(journal: Journal) -> Conversation:
    """One exchange that has secrets in every place, with a clearing."""
    call = ToolUse("t1", "bash", {"command": f"curl -H 'X: {SECRET}' x"})
    effects = {"t1": Effects(target=f"curl {SECRET}", outcome="exit 0", stored="r1.txt")}
    said = Conversation()
    for message, more in (
        (user(f"use {SECRET}"), {"spoken": (0,)}),
        (Message("assistant", (Thinking({"type": "thinking", "thinking": SECRET, "signature": "s"}), Text("ok"), call)), {}),
        (Message("user", (ToolResult("t1", f"A={SECRET}\nB={OTHER}\nC={SECRET}"),)), {"effects": effects}),
        (Message("assistant", (Text(f"it said {SECRET}"),)), {}),
    ):  # fmt: skip
        said = said.append(await journal.append(message, **more))
    await journal.store_output("r1.txt", f"long\n{SECRET}\nend")
    said = said.clear(await journal.clear({"r1": f"[Previous: used bash: curl {SECRET}]"}))
    await journal.remark("queued", {"id": "q1", "text": f"and {SECRET}"})
    return said


def on_disk(root: Path) -> str:
    return "".join(p.read_text(errors="replace") for p in root.rglob("*") if p.is_file())


@pytest.mark.parametrize("masking", [RECORD, VIEW])
async def test_no_file_of_a_session_holds_a_secret(tmp_path: Path, masking: Masking) -> None:
    journal = await Journal.create(tmp_path, clock=FakeClock(step=1), masking=masking)
    said = await conversation_with(journal)
    ids = [entry.id for entry in said.entries]
    await journal.commit(
        CommitDraft(
            Layer.AUTO,
            lambda _: user(f"notes on {SECRET}"),
            (ids[0], ids[-1]),
            summary=f"notes on {SECRET}",
            facts={"commands": [{"text": f"curl {SECRET}"}]},
        )
    )
    await journal.close()
    text = on_disk(tmp_path)
    assert SECRET not in text and OTHER not in text
    reader = SessionReader(journal.folder)
    exports = "".join((*as_jsonl(reader), *as_markdown(reader, thinking=True)))
    assert SECRET not in exports and "[masked github token " in exports


async def test_the_running_session_keeps_the_text_and_a_resume_gives_masks(tmp_path: Path) -> None:
    journal = await Journal.create(tmp_path, clock=FakeClock(step=1), masking=RECORD)
    said = await conversation_with(journal)
    assert SECRET in repr(said.entries[2]) and SECRET in repr(said.stubs)
    await journal.close()
    journal = await Journal.open(tmp_path, journal.session, clock=FakeClock(), masking=RECORD)
    resumed = replay(await journal.history())
    assert SECRET not in repr(resumed)
    assert not problems(resumed.view().messages[:3])
    assert [e.id for e in resumed.entries] == [e.id for e in said.entries]
    assert resumed.entries[0].spoken == (0,)
    result = resumed.entries[2].message.tool_results[0].text.splitlines()
    assert result[0][2:] == result[2][2:] != result[1][2:]
    await journal.close()


async def test_recall_finds_what_was_masked_by_all_that_is_not_secret(tmp_path: Path) -> None:
    journal = await Journal.create(tmp_path, clock=FakeClock(step=1), masking=RECORD)
    await conversation_with(journal)
    original = await find_original(journal, "r", 1)
    assert original is not None and original.text.startswith("long\n[masked github token ")
    assert original.text.endswith("]\nend")
    texts = [pair async for batch in journal.texts() for pair in batch]
    assert SECRET not in repr(texts)
    assert {id_ for id_, text in texts if "masked github" in text} >= {"r1", "m1", "m4"}
    await journal.close()


async def test_in_the_view_results_are_masked_and_words_and_calls_stay(tmp_path: Path) -> None:
    journal = await Journal.create(tmp_path, clock=FakeClock(step=1), masking=VIEW)
    said = await conversation_with(journal)
    words, answer, results, _ = (entry.message for entry in said.entries)
    assert SECRET not in repr(results) and "[masked github token " in repr(results)
    assert SECRET in words.text and SECRET in repr(answer.tool_uses)
    await journal.close()


async def test_this_programs_own_key_never_reaches_the_disk_whatever_is_set(tmp_path: Path) -> None:
    masking = Masking(OwnKeys((SECRET,)))
    journal = await Journal.create(tmp_path, clock=FakeClock(step=1), masking=masking)
    await conversation_with(journal)
    assert SECRET not in on_disk(tmp_path) and OTHER in on_disk(tmp_path)
    await journal.move(tmp_path / "elsewhere", display_root="x")
    await journal.append(user(SECRET))
    assert SECRET not in on_disk(tmp_path)
    await journal.close()
