"""The tour: all three layers at work within a minute, in any folder, with calls that change nothing."""

from __future__ import annotations

from collections.abc import Iterator

from app.adapters.demo.acts import Act, Call, Script, Tongue
from app.adapters.demo.listing import paths_in_listing
from app.adapters.demo.notes import files_note, listed_files
from app.adapters.demo.reading import Outcome, Reading
from app.adapters.demo.tour_lessons import lesson
from app.adapters.demo.wishes import Wish

FOCUS = "the tour and what its layers did"
FOCUS_ZH = "导览以及三层压缩各自做了什么"
MAX_FILES = 3
FILE_LINES = 60
NUMBERS = 280
"""Lines that one counting command prints at first, about 900 tokens: a few of them fill half of the small budget."""
NUMBERS_ABREAST = 120
"""Lines of one of several commands in an answer."""
MAX_STEPS = 24
"""Answers after which layer 2 is not waited for any longer."""
SIDE_BY_SIDE = 6
_MICRO_SEEN = ("Layer 1 has just worked", "第一层刚刚生效")
_AUTO_SEEN = ("Layer 2 has just fired", "第二层刚刚触发")


def tour(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Show the next stage; which one it is follows from what the view shows."""
    steps = reading.steps
    focus = t(FOCUS, FOCUS_ZH)
    asked = any(step.tool == "compact" for step in steps) or (
        reading.in_head and focus in reading.head
    )
    if asked:
        yield from ()
        return _end(reading, focus, t)
    if "compact" not in reading.tools and not steps and not reading.tools:
        return t(
            "The tour needs the tools, and none are offered here.",
            "导览需要工具，但这里没有可用的工具。",
        )
    if reading.in_head:
        yield _after_auto(reading, focus, t)
    elif _answers(reading) >= MAX_STEPS:
        yield Act(
            t(
                "Layer 2 has not fired: the threshold is larger than this tour fills. Layer 3 does the same on "
                "request: I call the compact tool. Watch the event log for `[manual compact]`.",
                "第二层没有触发：阈值比导览能填满的大。第三层可以按要求做同样的事：我来调用 compact 工具。"
                "请看事件日志里的 `[manual compact]`。",
            ),
            (Call("compact", {"focus": focus}),),
        )
    else:
        yield _filling(reading, t)
    return t("The tour ends here.", "导览到此结束。")


def _filling(reading: Reading, t: Tongue) -> Act:
    """Return the next act before layer 2: small results one by one until layer 1 is seen, then several at once."""
    steps = reading.steps
    if not steps:
        return Act(
            t(
                "Welcome to the tour. It uses a small budget of its own and only calls that read. Watch the gauge: it "
                "moves with every answer. First I list this folder.",
                "欢迎参加导览。导览使用自己的小预算，并且只做读取操作。请看上方的预算条：每次回答它都会变化。先列出当前目录。",
            ),
            (Call("list_files", {"path": "."}),),
        )
    if any(step.cleared for step in steps):
        queue = _calls(reading, NUMBERS_ABREAST)
        first = not _has_said(reading, _MICRO_SEEN)
        text = (
            t(
                f"{_MICRO_SEEN[0]}. Watch the event log: `[micro_compact] B -> A tokens`. My oldest result is now one "
                "line, `[Previous: used …]`, and its original can be recalled. Now larger steps, until layer 2 "
                "fires.",
                f"{_MICRO_SEEN[1]}。请看事件日志：`[micro_compact] B -> A tokens`。"
                "最早的结果已变成一行 `[Previous: used …]`，原文仍可取回。接下来步子大一些，直到第二层触发。",
            )
            if first
            else t(*lesson(_lessons_given(reading)))
        )
        return Act(text, tuple(next(queue) for _ in range(SIDE_BY_SIDE)))
    files = _files(reading)
    note = files_note(files) if len(steps) == 1 else ""
    call = next(_calls(reading, NUMBERS))
    path = call.arguments.get("path", "")
    what = (
        t(f"the beginning of `{path}`", f"`{path}` 的开头")
        if path
        else t("numbers, from a command that only counts", "一串数字，命令只是计数")
    )
    text = t(
        f"Result {len(steps) + 1}: {what}. The newest three results stay whole; layer 1 clears long ones behind them.",
        f"第 {len(steps) + 1} 个结果：{what}。最新的三个结果保持完整；第一层会清理更早的长结果。",
    )
    return Act(f"{note}\n\n{text}".strip(), (call,))


def _after_auto(reading: Reading, focus: str, t: Tongue) -> Act:
    """Return what follows layer 2: one sentence with a harmless call, then the compact tool."""
    if not _has_said(reading, _AUTO_SEEN):
        return Act(
            t(
                f"{_AUTO_SEEN[0]}, in the middle of the loop. Watch the event log: `[auto_compact triggered]` and "
                "`[transcript saved: …]`. The gauge fell at once, the chat is still all there, and I go on by myself.",
                f"{_AUTO_SEEN[1]}，就在循环中间。请看事件日志：`[auto_compact triggered]` 和 `[transcript saved: …]`。"
                "预算条立刻回落，聊天内容都还在，我会自己继续。",
            ),
            (Call("list_files", {"path": "."}),),
        )
    return Act(
        t(
            f"Now layer 3, on request: I call the compact tool with the focus “{focus}”. Watch the event log for "
            "`[manual compact]`.",
            f"现在是第三层，按要求压缩：我调用 compact 工具，重点是“{focus}”。请看事件日志里的 `[manual compact]`。",
        ),
        (Call("compact", {"focus": focus}),),
    )


def _end(reading: Reading, focus: str, t: Tongue) -> str:
    compacted = reading.in_head and focus in reading.head
    third = (
        t("Layer 3 has compacted once more, steered by the focus.", "第三层按重点又压缩了一次。")
        if compacted
        else t(
            "Layer 3 was asked for; the event log says what came of it.",
            "已请求第三层压缩；结果见事件日志。",
        )
    )
    return third + t(
        """ That was the tour: no file was changed, and nothing was lost, the transcript holds every message.

What to try next:
- open a row of the event log: the summary, the facts, a diff of the view before and after, undo
- “which files have we read, and what did we change?”: answered from the compacted view
- “read every Python file in this folder one by one”, or “keep reading files until compaction triggers”
- `/compact FOCUS`, `/undo`, `/context`, `/settings`""",
        """导览结束：没有改动任何文件，也没有丢失任何内容，完整的对话都在 transcript 里。

接下来可以试试：
- 打开事件日志里的一行：摘要、事实、压缩前后视图的差异、撤销
- “我们刚才读过哪些文件？当前改到哪一步了？”：从压缩后的视图回答
- “把当前目录下的 Python 文件一个一个读一遍”，或“一直读文件直到触发压缩”
- `/compact 重点`、`/undo`、`/context`、`/settings`""",
    )


def _calls(reading: Reading, lines: int) -> Iterator[Call]:
    """Yield calls that were not made yet: the beginnings of a few files, then commands that only print."""
    made = [(step.tool, dict(step.arguments)) for step in reading.steps]
    wanted = [Call("read_file", {"path": p, "limit": FILE_LINES}) for p in _files(reading)]
    refused = any(_is_refused(step) for step in reading.steps)
    number = 0
    while True:
        if wanted:
            call = wanted.pop(0)
        else:
            number += 1
            call = Call("bash", {"command": _echo(number) if refused else _count(number, lines)})
        if (call.tool, dict(call.arguments)) not in made:
            yield call


def _count(number: int, lines: int) -> str:
    first = number * 1_000 + 1
    return f"seq {first} {first + lines - 1}"


def _echo(number: int) -> str:
    """Return a command that prints a long line, for places where counting is not allowed without a question."""
    sentence = (
        f"page {number} of a palimpsest is written over and its older writing can still be read"
    )
    return "echo " + " / ".join(f"{line} {sentence}" for line in range(1, 41))


def _is_refused(step: Outcome) -> bool:
    return step.is_error and step.tool == "bash" and step.argument("command").startswith("seq ")


def _files(reading: Reading) -> list[str]:
    noted = listed_files("\n".join(reading.said))
    if noted is not None:
        return noted
    listing = next((s for s in reading.steps if s.tool == "list_files" and not s.cleared), None)
    return paths_in_listing(listing.text)[:MAX_FILES] if listing and not listing.is_error else []


def _answers(reading: Reading) -> int:
    return len(reading.said)


def _has_said(reading: Reading, marks: tuple[str, str]) -> bool:
    return any(mark in text for mark in marks for text in reading.said)


def _lessons_given(reading: Reading) -> int:
    """Return how many answers followed the one that told of layer 1."""
    told = (at for at, text in enumerate(reading.said) if any(m in text for m in _MICRO_SEEN))
    return len(reading.said) - next(told, len(reading.said)) - 1
