"""An independent reader of a session's files: it shares no code with the program and judges what a crash left."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from tests.crash.ledger import TAG, JsonObject, Ledger, blocks, is_summary_call, text_of

STUB = "[Previous: used "
LEFT_OUT = "[Earlier messages are left out here.]"
"""Stands in a request for a summary that was too long at first."""
Files = dict[str, bytes]


@dataclass
class Verdict:
    """What is wrong with a record, one sentence each; all empty when nothing is."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    torn: int = 0
    """Files whose last line was cut off: allowed right after a kill, never after the resume."""

    @property
    def problems(self) -> list[str]:
        return [*self.lost, *self.doubled, *self.damaged]


def files_of(session: Path) -> Files:
    """The bytes of a session's files by name, whole lines only."""
    found = {}
    for path in sorted(session.glob("*.jsonl")):
        data = path.read_bytes()
        found[path.name] = data[: data.rfind(b"\n") + 1]
    return found


def judge(session: Path, ledger: Ledger, before: Files, *, resumed: bool) -> Verdict:
    """Judge a session's files.

    Args:
        session: Its folder.
        ledger: What was acknowledged.
        before: Its files before the run: what was in them must be there, byte for byte.
        resumed: Whether it was opened again since the crash.
    """
    verdict = Verdict()
    lines: dict[str, list[JsonObject]] = {}
    for path in sorted(session.glob("*.jsonl")):
        lines[path.name] = _read(path, verdict, resumed=resumed)
    _judge_old(session, before, verdict)
    segments = [rows for name, rows in lines.items() if name.startswith("transcript_")]
    messages = [row for rows in segments for row in rows if "number" in row]
    commits = [row for rows in segments for row in rows if "commit" in row]
    events = lines.get("events.jsonl", [])
    _judge_numbers(messages, commits, events, verdict)
    _judge_words(messages, events, ledger, verdict)
    _judge_results(session, messages, events, ledger, verdict)
    _judge_compactions(commits, segments, ledger, verdict)
    _judge_requests(messages, commits, ledger, verdict)
    if resumed:
        left = [p.name for p in session.rglob("*.tmp")]
        verdict.damaged += [f"{name} was left behind" for name in left]
    return verdict


def _read(path: Path, verdict: Verdict, *, resumed: bool) -> list[JsonObject]:
    *whole, rest = path.read_bytes().split(b"\n")
    if rest:
        verdict.torn += 1
        if resumed:
            verdict.damaged.append(f"{path.name}: half a line is still at its end")
    rows = []
    for number, line in enumerate(whole, start=1):
        try:
            row = json.loads(line)
            assert isinstance(row, dict)
        except (ValueError, AssertionError):
            verdict.damaged.append(f"{path.name}: line {number} is damaged: {line[:60]!r}")
        else:
            rows.append(row)
    return rows


def _judge_old(session: Path, before: Files, verdict: Verdict) -> None:
    for name, old in before.items():
        path = session / name
        if not path.exists() or not path.read_bytes().startswith(old):
            verdict.lost.append(f"{name} does not begin with what it held before")


def _judge_numbers(
    messages: list[JsonObject],
    commits: list[JsonObject],
    events: list[JsonObject],
    verdict: Verdict,
) -> None:
    numbers = [row["number"] for row in messages]
    verdict.doubled += [
        f"message {b} follows message {a}" for a, b in pairwise([0, *numbers]) if b <= a
    ]
    verdict.lost += [
        f"message {b} follows message {a}" for a, b in pairwise([0, *numbers]) if b > a + 1
    ]
    seqs = [row["seq"] for row in (*messages, *commits, *events)]
    twice = {seq for seq in seqs if seqs.count(seq) > 1}
    verdict.doubled += [f"seq {seq} was given twice" for seq in sorted(twice)]
    missing = set(range(1, max(seqs, default=0) + 1)) - set(seqs)
    verdict.lost += [f"seq {seq} is missing" for seq in sorted(missing)]
    calls = [b["id"] for row in messages for b in blocks(row) if b["type"] == "tool_use"]
    answered = [
        b["tool_use_id"] for row in messages for b in blocks(row) if b["type"] == "tool_result"
    ]
    for what, ids in (("call", calls), ("result of", answered)):
        verdict.doubled += [f"{what} {i} stands twice" for i in set(ids) if ids.count(i) > 1]


def _judge_words(
    messages: list[JsonObject], events: list[JsonObject], ledger: Ledger, verdict: Verdict
) -> None:
    by_id = {row["id"]: row for row in messages}
    for id_, text in ledger.said.items():
        row = by_id.get(id_)
        if row is None or text not in [b.get("text") for b in blocks(row)]:
            verdict.lost.append(f"{id_} does not hold the words {text!r}")
    jobs: list[str] = []
    for row in messages:
        for at in row["spoken"]:
            jobs += TAG.findall(blocks(row)[at]["text"])
    verdict.doubled += [f"job {n} was said twice" for n in set(jobs) if jobs.count(n) > 1]
    waiting = [TAG.findall(row["data"]["text"]) for row in events if row.get("kind") == "queued"]
    known = {*jobs, *(n for found in waiting for n in found)}
    verdict.lost += [f"job {n} stood on the screen and is not there" for n in ledger.jobs - known]
    texts = {b["text"] for row in messages for b in blocks(row) if b["type"] == "text"}
    for text in ledger.answers:
        if text and text not in texts:
            verdict.lost.append(f"the answer {text[:60]!r} is not there")


def _judge_results(
    session: Path,
    messages: list[JsonObject],
    events: list[JsonObject],
    ledger: Ledger,
    verdict: Verdict,
) -> None:
    kept = {}
    for row in events:
        if row.get("kind") == "result":
            kept[row["data"]["tool_use_id"]] = text_of(row["data"]["result"])
    for row in messages:
        for at, block in enumerate(b for b in blocks(row) if b["type"] == "tool_result"):
            text = text_of(block)
            stored = session / "outputs" / f"r{row['first_result'] + at}.txt"
            kept[block["tool_use_id"]] = stored.read_text() if stored.exists() else text
    for id_, text in ledger.results.items():
        if kept.get(id_) != text:
            verdict.lost.append(f"the finished result of {id_} became {kept.get(id_)!r:.80}")


def _judge_compactions(
    commits: list[JsonObject],
    segments: list[list[JsonObject]],
    ledger: Ledger,
    verdict: Verdict,
) -> None:
    if len(commits) < max(ledger.compactions, len(ledger.sizes)):
        verdict.lost.append(f"only {len(commits)} compactions are there")
    for number, rows in enumerate(segments[1:], start=1):
        if not rows or rows[0].get("commit") != number:
            verdict.damaged.append(f"segment {number + 1} does not begin with compaction {number}")


def _judge_requests(
    messages: list[JsonObject], commits: list[JsonObject], ledger: Ledger, verdict: Verdict
) -> None:
    """All that a request carried must be in the record, whole or as the line that stands for it."""
    known: dict[str, set[str]] = {"text": {LEFT_OUT}, "tool_use": set(), "tool_result": set()}
    for row in (*messages, *commits):
        for block in blocks(row):
            known.setdefault(block["type"], set()).add(_key(block))
    for body in ledger.bodies:
        sent = body["messages"][: -1 if is_summary_call(body) else None]
        for message in sent:
            for block in blocks(message):
                stub = block["type"] == "tool_result" and text_of(block).startswith(STUB)
                if not stub and _key(block) not in known.get(block["type"], set()):
                    verdict.lost.append(f"a request left with what is not there: {block!r:.200}")


def _key(block: JsonObject) -> str:
    match block["type"]:
        case "text":
            return str(block["text"])
        case "tool_use":
            return json.dumps([block["id"], block["name"], block["input"]], sort_keys=True)
        case "tool_result":
            return json.dumps([block["tool_use_id"], text_of(block)])
    return ""
