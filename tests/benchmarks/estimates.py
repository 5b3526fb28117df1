"""How far the budget is from what endpoints billed, in recorded sessions, and from a tokenizer, by kind of text."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from app.core.budget import Meter, Usage
from app.core.tokens import estimate_message, estimate_text
from app.replay.recordings import read_recording
from tests.benchmarks.desk import Desk
from tests.benchmarks.figures import Figure, median, percentile
from tests.benchmarks.sessions import generated, markdown
from tests.benchmarks.tokenizer import tokens_of

NAME = "estimates"
BILLED = "billed_usage.json"
"""By session: message index, input tokens billed with cached ones, output tokens."""
LEARNING = 3
"""Answers after which the figures count."""
CHINESE = (
    "请先读取配置文件,然后修改解析器并运行全部测试。如果失败,记录原因与下一步。缓存命中率,会话记录,"
)


@dataclass(frozen=True)
class Errors:
    """Relative errors of predictions; above 0 where too high."""

    measured: Sequence[float]
    """From the last usage and what came since."""
    rebuilt: Sequence[float]
    """From the learned factor alone, as right after a compaction."""


def run(desk: Desk, *, short: bool) -> list[Figure]:
    return [*_sessions(desk), *_kinds()]


def _sessions(desk: Desk) -> Iterator[Figure]:
    file = desk.sessions / BILLED if desk.sessions is not None else None
    if file is None or not file.is_file():
        return
    both = Errors([], [])
    for name, rows in json.loads(file.read_text(encoding="utf-8")).items():
        errors = errors_of(file.with_name(f"{name}.jsonl"), rows)
        both = Errors([*both.measured, *errors.measured], [*both.rebuilt, *errors.rebuilt])
    for what, found in (("last usage", both.measured), ("learned factor", both.rebuilt)):
        sizes = [abs(error) for error in found]
        yield Figure(NAME, f"error from the {what}, median", 100 * median(sizes), "%")
        yield Figure(NAME, f"error from the {what}, 95 of 100", 100 * percentile(sizes, 0.95), "%")
        under = -min(0.0, *found)
        yield Figure(NAME, f"most too low from the {what}", 100 * under, "%")


def errors_of(file: Path, rows: Sequence[Sequence[int]]) -> Errors:
    """Play the usages of a session to a meter and compare what it says before each of them."""
    sizes = [estimate_message(message) for message in read_recording(file).messages]
    raw = [0.0, *accumulate(sizes)]
    first, billed, _ = rows[0]
    meter = Meter(floor=max(0.0, billed - raw[first]))
    measured, rebuilt = [], []
    last = 0
    for number, (index, prompt, output) in enumerate(rows):
        if prompt < last:  # the program that was recorded compacted here
            break
        if number >= LEARNING:
            measured.append(meter.used(raw[index]) / prompt - 1)
            rebuilt.append(meter.restart().used(raw[index]) / prompt - 1)
        meter = meter.measure(
            Usage(input=prompt, output=output), sent=raw[index], now=raw[index + 1]
        )
        last = prompt
    return Errors(measured, rebuilt)


def _kinds() -> Iterator[Figure]:
    """Estimate by kind of text, with the factor that code alone would have taught."""
    factor = _tokens(_code()) / estimate_text(_code())
    for kind, text in _texts():
        yield Figure(
            NAME, f"estimate of {kind}", estimate_text(text) * factor, "", _tokens(text), "tokens"
        )


def _tokens(text: str) -> float:
    return tokens_of({"type": "text", "text": text})


def _texts() -> Iterator[tuple[str, str]]:
    chance = random.Random(7)
    rows = [
        {"id": n, "name": f"user_{n}", "score": chance.random(), "tags": ["a", "b"]}
        for n in range(80)
    ]
    yield "prose and lists", markdown(1, 8_000)
    yield "JSON", json.dumps(rows, indent=2)
    yield (
        "tables",
        "".join(f"| {n} | {chance.randrange(10**6):,} | ok | 12.5 % |\n" for n in range(200)),
    )
    yield "Chinese", CHINESE * 60
    yield "base64", base64.b64encode(chance.randbytes(6_000)).decode()
    yield (
        "logs",
        "".join(
            f"2026-03-0{n % 9 + 1}T12:{n % 60:02}:07.{n:03}Z INFO app.server[{n}]: GET /v1/items/{n} 200 {n * 7}ms\n"
            for n in range(120)
        ),
    )


def _code() -> str:
    results = [r for message in generated(5, 80).messages for r in message.tool_results]
    return "\n".join(result.text for result in results)
