"""The summary that a compaction asks for, written from the messages that were really sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.adapters.demo.acts import Tongue
from app.adapters.demo.head import ASKED, IN_PROGRESS, asked_before
from app.adapters.demo.ledger import Ledger, ledger_of
from app.adapters.demo.notes import file_note, files_note, listed_files
from app.adapters.demo.reading import Outcome, Reading, read_request
from app.adapters.demo.validation import content_blocks
from app.core.tokens import estimate_json, estimate_text

HEADINGS = (
    "What was accomplished",
    "Current state",
    "Key decisions and why",
    "Failed approaches",
    "Open questions",
    "Next step",
)
ENOUGH_HEADINGS = 4
"""A request that names so many of them asks for a summary."""
MAX_TOKENS = 1_800
MIN_TOKENS = 260
SHARE = 0.12
"""Of what is summarised: a short history gets a short summary."""
MAX_ASKED = 8
MAX_COMMANDS = 10
MAX_CHANGES = 20


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """A request for a summary, taken apart."""

    prompt: str
    reading: Reading
    """Of the messages without the prompt."""
    mid_task: bool
    """Whether the user's newest request was still being worked on."""
    tokens: float
    """Of the messages."""

    @property
    def focus(self) -> str:
        """What the next part of the work is about; "" for nothing special."""
        found = re.search(
            r"^.*(?:\bfocus\b|comes next is about)[^\n:]*:\s*(.+)$", self.prompt, re.I | re.M
        )
        return found[1].strip(' "“”.`<>') if found else ""

    @property
    def room(self) -> float:
        """Tokens that the summary may take."""
        aim = re.search(r"\babout ([\d,]+) tokens", self.prompt, re.I)
        most = min(MAX_TOKENS, 0.9 * int(aim[1].replace(",", ""))) if aim else MAX_TOKENS
        return min(most, max(MIN_TOKENS, SHARE * self.tokens))


def summary_request(body: Mapping[str, Any]) -> SummaryRequest | None:
    """Return the request for a summary that a body is, or None when it is something else."""
    messages = list(body["messages"])
    blocks = content_blocks(messages[-1]["content"])
    prompt = str(blocks[-1].get("text", ""))
    named = sum(heading.lower() in prompt.lower() for heading in HEADINGS)
    rest = blocks[:-1]
    messages = [*messages[:-1], {"role": "user", "content": rest}] if rest else messages[:-1]
    if named < ENOUGH_HEADINGS or not messages:
        return None
    reading = read_request({**body, "messages": messages})
    mid_task = messages[-1]["role"] == "user"
    return SummaryRequest(prompt, reading, mid_task, estimate_json(messages))


def write_summary(wanted: SummaryRequest) -> str:
    """Return the summary under the literal headings."""
    t = Tongue(wanted.reading.chinese)
    ledger = ledger_of(wanted.reading)
    state = _state(wanted, ledger, t)
    sections = (
        _accomplished(wanted, ledger, t, room=wanted.room - estimate_text("\n".join(state)) - 100),
        state,
        _decisions(ledger, t),
        _failures(ledger, t),
        [t("None.", "无。")],
        _next(wanted, t),
    )
    return "\n\n".join(
        f"## {heading}\n" + "\n".join(lines)
        for heading, lines in zip(HEADINGS, sections, strict=True)
    )


def _accomplished(wanted: SummaryRequest, ledger: Ledger, t: Tongue, *, room: float) -> list[str]:
    reading = wanted.reading
    asked = [*asked_before(reading.head), *(_line(text, 110) for text in reading.requests)]
    asked = list(dict.fromkeys(asked))[-MAX_ASKED:]
    lines = [t(*ASKED) + text for text in asked]
    changes = list(ledger.changed.items())[-MAX_CHANGES:]
    lines += [t(f"- Changed `{path}`: {how}", f"- 修改了 `{path}`：{how}") for path, how in changes]
    ran = list(ledger.commands.items())[-MAX_COMMANDS:]
    lines += [
        t(f"- Ran `{_line(c, 80)}` -> {ended}", f"- 执行了 `{_line(c, 80)}` -> {ended}")
        for c, ended in ran
    ]
    while len(lines) > 1 and estimate_text("\n".join(lines)) > room:
        lines.pop(len(asked) if len(lines) > len(asked) else 0)
    lines += _files_read(ledger, _words(wanted.focus), room - estimate_text("\n".join(lines)), t)
    return lines or [t("- Nothing but talk so far.", "- 目前只有对话。")]


def _files_read(ledger: Ledger, words: list[str], room: float, t: Tongue) -> list[str]:
    """Return a line for each file that fits: those of the focus first, then the newest."""
    if not ledger.read:
        return []
    wanted = [path for path in ledger.read if any(word in path.lower() for word in words)]
    notes: list[str] = []
    for path in dict.fromkeys((*wanted, *reversed(ledger.read))):
        note = "- " + file_note(path, ledger.read[path] or t("read", "已读"))
        room -= estimate_text(note)
        if room < 0:
            break
        notes.append(note)
    count, rest = len(ledger.read), len(ledger.read) - len(notes)
    title = t(f"- Read {count} files; what they hold:", f"- 读了 {count} 个文件，内容如下：")
    more = t(f"- and {rest} more, named in the facts", f"- 还有 {rest} 个，见事实部分")
    return [title, *notes, *([more] if rest else [])]


def _state(wanted: SummaryRequest, ledger: Ledger, t: Tongue) -> list[str]:
    reading = wanted.reading
    lines: list[str] = []
    if wanted.mid_task and reading.request:
        lines.append(t(*IN_PROGRESS) + _line(reading.request, 300))
        files = listed_files("\n".join((reading.head if reading.in_head else "", *reading.said)))
        if files:
            done = sum(path in ledger.read for path in files)
            lines.append(files_note(files))
            lines.append(
                t(
                    f"- {done} of these {len(files)} are read.",
                    f"- 这 {len(files)} 个里已读 {done} 个。",
                )
            )
    else:
        lines.append(
            t(
                "- The last request was answered; nothing is in progress.",
                "- 上一个要求已完成，没有进行中的任务。",
            )
        )
    if reading.everything:
        lines.append(t("- The last call: ", "- 最近一次调用：") + _call(reading.everything[-1]))
    if wanted.focus:
        lines.append(t("- Focus asked for: ", "- 要求的重点：") + wanted.focus)
        words = _words(wanted.focus)
        matching = [outcome for outcome in reading.everything if _matches(outcome, words)]
        lines += [t("- For the focus: ", "- 与重点有关：") + _call(o) for o in matching[-5:]]
    return lines


def _decisions(ledger: Ledger, t: Tongue) -> list[str]:
    edits = [(path, how) for path, how in ledger.changed.items() if "->" in how]
    return [
        t(
            f"- In `{path}` {how}, because the user asked for it.",
            f"- `{path}`：{how}，因为用户要求。",
        )
        for path, how in edits[-5:]
    ] or [t("- None beyond doing what was asked.", "- 除完成要求外没有其他决定。")]


def _failures(ledger: Ledger, t: Tongue) -> list[str]:
    failed = [f"- {failure}" for failure in ledger.failures]
    failed += [
        f"- `{command}` -> {ended}"
        for command, ended in ledger.commands.items()
        if not ended.startswith(("exit 0", "done"))
    ]
    return [_line(line, 140) for line in failed[-5:]] or [t("- None.", "- 无。")]


def _next(wanted: SummaryRequest, t: Tongue) -> list[str]:
    if wanted.mid_task and wanted.reading.request:
        return [
            t(
                "- Go on with the request in progress, without repeating what is done.",
                "- 继续进行中的要求，不重复已完成的部分。",
            )
        ]
    return [t("- Wait for the user's next request.", "- 等待用户的下一个要求。")]


def _call(outcome: Outcome) -> str:
    about = outcome.argument("path") or outcome.argument("command") or outcome.argument("pattern")
    failed = " (failed)" if outcome.is_error else ""
    return f"{outcome.tool} `{_line(about, 80)}`{failed}" if about else f"{outcome.tool}{failed}"


def _matches(outcome: Outcome, words: list[str]) -> bool:
    text = " ".join(str(value) for value in outcome.arguments.values()).lower()
    return any(word in text for word in words)


def _words(focus: str) -> list[str]:
    common = {"the", "and", "keep", "first", "second", "feature", "begins", "now", "done"}
    return [word for word in re.findall(r"[\w./-]{3,}", focus.lower()) if word not in common]


def _line(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
