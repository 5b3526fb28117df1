"""The answer to a request: a summary when one is asked for, else the next act of the script that its wish chooses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from app.adapters.demo import commands, edits, memory, reads
from app.adapters.demo.about import about
from app.adapters.demo.acts import Act, Script, Tongue, in_turn, play
from app.adapters.demo.reading import Reading, read_request
from app.adapters.demo.stream import Reply
from app.adapters.demo.summary import summary_request, write_summary
from app.adapters.demo.tour import tour
from app.adapters.demo.understanding import understand_all
from app.adapters.demo.wishes import Kind, Wish
from app.core.messages import Text, ToolUse

_SCRIPTS: Mapping[Kind, Callable[[Wish, Reading, Tongue], Script]] = {
    Kind.TOUR: tour,
    Kind.REVIEW: memory.review,
    Kind.NEXT_FEATURE: memory.next_feature,
    Kind.COMPACT: memory.compact,
    Kind.READ: reads.read_files,
    Kind.READ_ALL: reads.read_every,
    Kind.READ_UNTIL: reads.read_until_compacted,
    Kind.CREATE: edits.create_file,
    Kind.REPLACE: edits.replace_text,
    Kind.UNDO: edits.undo_edit,
    Kind.RUN: commands.run_command,
    Kind.RUN_TESTS: commands.run_tests,
    Kind.SEARCH: commands.search_text,
    Kind.LIST: commands.list_files,
    Kind.RECALL: commands.recall,
    Kind.TODO: commands.write_todo,
}


def answer(body: Mapping[str, Any]) -> Reply:
    """Return the answer to a valid request body; the same body always gets the same answer."""
    wanted = summary_request(body)
    if wanted is not None:
        return Reply((Text(write_summary(wanted)),), "end_turn")
    reading = read_request(body)
    tongue = Tongue(reading.chinese)
    wishes = understand_all(reading.request)
    scripts = [_script(wish, reading, tongue) for wish in wishes]
    act = play(in_turn(*scripts), reading)
    if isinstance(act, str):
        return Reply((Text(act),), "end_turn")
    return _reply(act, body)


def _script(wish: Wish, reading: Reading, tongue: Tongue) -> Script:
    script = _SCRIPTS.get(wish.kind)
    return script(wish, reading, tongue) if script else _talk(wish, tongue)


def _talk(wish: Wish, tongue: Tongue) -> Script:
    """Say something without a call."""
    yield from ()
    match wish.kind:
        case Kind.REPLY_OK:
            return "OK"
        case Kind.CONTINUE:
            return tongue("There is nothing to go on with.", "没有可以继续的任务。")
        case kind:
            return about(tongue, asked=kind is Kind.GREETING)


def _reply(act: Act, body: Mapping[str, Any]) -> Reply:
    """Return the act as blocks; ids come from the conversation, so they never repeat within it."""
    digest = hashlib.sha256(json.dumps(body["messages"], sort_keys=True).encode()).hexdigest()[:18]
    uses = (
        ToolUse(f"toolu_demo_{digest}_{at}", call.tool, dict(call.arguments))
        for at, call in enumerate(act.calls)
    )
    texts = (Text(act.text),) if act.text.strip() else ()
    return Reply((*texts, *uses), "tool_use")
