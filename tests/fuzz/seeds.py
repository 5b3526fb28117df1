"""What the fuzzing of each target begins with."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from app.adapters.journal import Journal
from app.core.messages import Message, Text, ToolResult, ToolUse, user
from tests.fakes.clock import FakeClock
from tests.permission.commands import listed


def seeds(name: str) -> list[bytes]:
    """Return the seeds of a target."""
    return {"judge": _commands, "sanitiser": _texts, "edit": _edits, "record": _records}[name]()


def _commands() -> list[bytes]:
    both = (*listed("ordinary"), *listed("dangerous"))
    return [each.command.encode("utf-8", "surrogatepass") for each in both]


def _texts() -> list[bytes]:
    texts = [
        "\x1b[31mred\x1b[0m \x1b]0;t\x07 \x1b]8;;http://x\x1b\\l\x1b]8;;\x07",
        "\u009b2J\u009d0;t\u009c \x1bP$q\x1b\\ \r\b\x7f\x00",
        "\u202eevil\u2066 \u200b\u200d \U000e0041\U000e0042 \ufe0f ☝\ufe0f 👨\u200d👩",
        "10%\r20%\rdone\x1b[K\n" + "a" + "\u0301" * 20,
        "\u2028\u2029\x85\x0b\x0c\u00ad\ufeff",
    ]
    return [text.encode("utf-8", "surrogatepass") for text in texts]


def _edits() -> list[bytes]:
    return [
        b"one\r\ntwo\r\n\xffone\ntwo\xffthree\nfour",
        b"\tall:\n\t\tcc\n\xffcc\xffgcc",
        b"a\nb\ra\r\nb\xffb\ra\xffc",
        "é語\n".encode() + b"\xff" + "語".encode() + b"\xffx",
        b"same same\xffsame\xffother",
    ]


def _records() -> list[bytes]:
    async def made(root: Path) -> bytes:
        journal = await Journal.create(root, clock=FakeClock(step=1))
        await journal.append(user("question"), spoken=(0,))
        await journal.append(
            Message("assistant", (Text("a"), ToolUse("t1", "bash", {"command": "ls"})))
        )
        await journal.append(Message("user", (ToolResult("t1", "f"),)))
        await journal.append(Message("assistant", (Text("answer"),)))
        await journal.remark("usage", {"n": 1})
        await journal.close()
        parts = (journal.folder / name for name in ("transcript_0001.jsonl", "events.jsonl"))
        return b"\xff".join(path.read_bytes() for path in parts)

    with tempfile.TemporaryDirectory(prefix="fuzz-seeds-") as place:
        whole = asyncio.run(made(Path(place)))
    return [whole, whole[: len(whole) // 2], b"", b"{}\n\xff[]\n"]
