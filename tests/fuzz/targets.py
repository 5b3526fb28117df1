"""The targets: each takes bytes and asserts what must hold for any of them."""

from __future__ import annotations

import json
import tempfile
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from app.adapters.journal_reading import SessionReader
from app.core.conversation import replay
from app.core.permission import Mode, Verdict
from app.core.visible_text import (
    VisibleStream,
    json_line,
    one_line,
    revealed_text,
    visible_text,
)
from app.errors import PalError, ToolError
from app.permission.judge import judge
from app.tools.matching import replace_exact
from app.tools.text_files import decode
from tests.permission.bench import Bench, make_bench

Target = Callable[[bytes], None]


@cache
def _bench() -> Bench:
    return make_bench(Path(tempfile.mkdtemp(prefix="fuzz-")))


def fuzz_judge(data: bytes) -> None:
    """Any text is judged; what runs unasked does so in every mode, and never takes a further command along."""
    command = data.decode("utf-8", "surrogateescape")
    bench = _bench()

    def verdict(text: str, mode: Mode = Mode.ASK) -> Verdict:
        found = judge("bash", {"command": text}, mode=mode, rules=(), places=bench.places)
        assert found.reason
        return found.verdict

    alone = verdict(command)
    assert (verdict(command, Mode.READ_ONLY) is Verdict.ALLOW) == (alone is Verdict.ALLOW)
    if alone is not Verdict.ALLOW:
        return
    for more in ("\ntouch made", "\n(touch made)", "\n$(touch made)"):
        assert verdict(command + more) is not Verdict.ALLOW, more


def fuzz_sanitiser(data: bytes) -> None:
    """No control character is left, nothing is left to do a second time, and JSON reads back the same."""
    text = data.decode("utf-8", "surrogateescape")
    for shown in (visible_text(text), revealed_text(text), one_line(text), _streamed(text)):
        controls = [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
        assert controls == []
        assert not set("\u202e\u2066\u200b\ufeff\u2028") & set(shown)
    assert visible_text(visible_text(text)) == visible_text(text)
    assert json.loads(json_line(text)) == text


def _streamed(text: str) -> str:
    stream, step = VisibleStream(), 1 + len(text) % 7
    pieces = [stream.feed(text[at : at + step]) for at in range(0, len(text), step)]
    return "".join(pieces) + stream.close()


def fuzz_edit(data: bytes) -> None:
    """An edit changes the one place and nothing else, or says why not."""
    parts = data.split(b"\xff", 2)
    content, old, new = (*parts, b"", b"")[:3]
    try:
        file = decode(content)
        made = replace_exact(file, _text(old), _text(new), every=False)
    except ToolError:
        return
    changed = file.encode(made.text)
    if file.encode(file.text) == content:
        front = _common(content, changed)
        back = _common(content[::-1], changed[::-1])
        assert front + back >= min(len(content), len(changed)) - 4 * max(len(old), len(new)) - 8
    assert made.count == 1


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _common(one: bytes, other: bytes) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def fuzz_record(data: bytes) -> None:
    """Any bytes in a session's files are read or named; nothing else is raised and nothing is rewritten."""
    transcript, _, events = data.partition(b"\xff")
    with tempfile.TemporaryDirectory(prefix="fuzz-record-") as place:
        folder = Path(place) / "2026-11-29T22-16-40Z-7f3a"
        folder.mkdir()
        files = {folder / "transcript_0001.jsonl": transcript, folder / "events.jsonl": events}
        for path, content in files.items():
            path.write_bytes(content)
        try:
            reader = SessionReader(folder)
            replay(reader.history()).view()
            reader.page(None, 10)
            list(reader.walk())
            assert reader.counters().seq >= 1
            assert all(isinstance(notice, str) for notice in reader.notices)
        except PalError:
            pass
        assert all(path.read_bytes() == content for path, content in files.items())


TARGETS: Mapping[str, Target] = {
    "judge": fuzz_judge,
    "sanitiser": fuzz_sanitiser,
    "edit": fuzz_edit,
    "record": fuzz_record,
}
