"""Scripts about the conversation itself: what was done so far, compacting it, and the change to the next feature."""

from __future__ import annotations

import re
import shlex
from collections.abc import Generator

from app.adapters.demo.acts import Act, Script, Tongue, act, ask
from app.adapters.demo.commands import todo_items
from app.adapters.demo.head import in_progress
from app.adapters.demo.ledger import Ledger, files_written_by, ledger_of
from app.adapters.demo.listing import paths_in_listing
from app.adapters.demo.notes import file_note, named, plain
from app.adapters.demo.phrases import paths_in
from app.adapters.demo.reading import Outcome, Reading
from app.adapters.demo.wishes import Wish

MAX_NAMED = 40
_HARMLESS = (
    "ls cat head tail wc grep rg find pwd echo tree du df date which diff sort uniq file stat"
)
HARMLESS = frozenset(_HARMLESS.split())
"""Programs that change no file by themselves."""


def review(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Answer from the view what was read, changed and run."""
    ledger = ledger_of(reading, reading.before)
    by_git: list[str] = []
    ran = [step.argument("command") for step in reading.before if step.tool == "bash"]
    if any(_may_change(command) for command in ran):
        (status,) = yield act(
            t("Checking what commands changed.", "看看命令改动了哪些文件。"),
            "bash",
            command="git status --short",
        )
        if not status.is_error and not status.cleared:
            by_git = [m[1] for m in re.finditer(r"^[ MADRCU?!]{1,2} (\S.*)$", status.text, re.M)]
    parts = [
        _files_read(ledger, t),
        _files_changed(ledger, by_git, t),
        _commands_run(ledger, t),
        _where_we_are(reading, t),
    ]
    return "\n\n".join(part for part in parts if part)


def compact(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Ask for a compaction with a focus."""
    focus = wish.text or _work_focus(reading, t)
    problem = yield from _compacted(
        focus, t("Compacting the conversation.", "手动压缩对话。"), reading
    )
    if problem:
        return t("The conversation was not compacted: ", "对话没有被压缩：") + problem
    focuses = [step.argument("focus") for step in reading.steps if step.tool == "compact"]
    told = t(f", with the focus “{focuses[-1]}”", f"，重点是“{focuses[-1]}”") if focuses else ""
    if not reading.in_head:
        return t(
            "I asked for the compaction, and it was not made: the event log says why.",
            "我请求了压缩，但没有执行：原因见事件日志。",
        )
    return t(
        f"The conversation is compacted{told}. The originals stay in the record; I can "
        "`recall` them, and `/undo` brings the old view back.",
        f"对话已压缩{told}。原文都在记录里，可以用 `recall` 取回，也可以用 `/undo` 恢复压缩前的视图。",
    )


def next_feature(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Compact with a focus on what the next feature needs, then begin it."""
    files = _files_that_matter(reading, wish.text)
    named = t(", ".join(files), "、".join(files))
    what = _feature_name(wish.text)
    focus = t(
        f"the second feature{what} begins now, the first is done"
        + (f"; keep {named}" if files else ""),
        f"第一个功能已完成，现在开始第二个功能{what}" + (f"；保留 {named}" if files else ""),
    )
    text = t(
        "The first feature is done: this is the moment to compact. Then I start the second.",
        "第一个功能已完成，正是压缩的时机。压缩之后我就开始第二个功能。",
    )
    problem = yield from _compacted(focus, text, reading)
    begin = t(
        "Now the second feature. First a look at the project.", "现在开始第二个功能，先看看项目。"
    )
    if problem:
        begin = t("The compaction was refused: ", "压缩被拒绝：") + problem + "\n\n" + begin
    listing = yield from ask(begin, "list_files", path=".")
    found = paths_in_listing(listing.text) if not listing.is_error else []
    plan = _plan(what, files, found, t)
    (outcome,) = yield act(
        t("A short plan for it.", "先列一个简短的计划。"), "todo", items=todo_items(plan)
    )
    steps = "\n".join(f"{at}. {plain(step)}" for at, step in enumerate(plan, start=1))
    failed = (
        t("\n\nThe list could not be kept: ", "\n\n列表没有保存：") + outcome.text
        if outcome.is_error
        else ""
    )
    return t(
        f"The second feature is under way. The plan:\n\n{steps}{failed}\n\nI am a scripted model, so tell me the next "
        "move in plain words: “read FILE”, “in FILE replace A with B”, “create FILE with …”, “run the tests”.",
        f"第二个功能已经开始，计划如下：\n\n{steps}{failed}\n\n我是脚本模型，下一步请直接告诉我："
        "“读一下 FILE”、“把 FILE 里的 A 改成 B”、“创建 FILE 内容为 …”、“运行一下测试”。",
    )


def _compacted(focus: str, text: str, reading: Reading) -> Generator[Act, tuple[Outcome, ...], str]:
    """Ask for a compaction, unless that was done since the user asked; return why it failed, or ""."""
    asked = [step for step in reading.steps if step.tool == "compact"]
    if reading.in_head or asked:
        return asked[-1].text.strip() if asked and asked[-1].is_error else ""
    (outcome,) = yield act(text, "compact", focus=focus)
    return outcome.text.strip() if outcome.is_error else ""


def _files_read(ledger: Ledger, t: Tongue) -> str:
    if not ledger.read:
        return t("We have read no files yet.", "我们还没有读过文件。")
    title = t(
        f"Files we have read ({len(ledger.read)}):", f"我们读过的文件（{len(ledger.read)} 个）："
    )
    described = [(path, what) for path, what in ledger.read.items() if what][-MAX_NAMED:]
    lines = [file_note(path, what) for path, what in described]
    rest = [path for path in ledger.read if path not in dict(described)]
    lines += named(rest, most=MAX_NAMED - len(lines))
    return title + "\n\n" + "\n".join(f"- {line}" for line in lines)


def _files_changed(ledger: Ledger, by_git: list[str], t: Tongue) -> str:
    changed = [f"`{path}`: {how}" for path, how in ledger.changed.items()]
    title = t(f"Files we have changed ({len(changed)}):", f"我们改过的文件（{len(changed)} 个）：")
    text = (
        _list(title, changed, t)
        if changed
        else t("We have changed no files.", "我们没有改过文件。")
    )
    others = [path for path in by_git if path not in ledger.changed]
    if others:
        names = ", ".join(f"`{path}`" for path in others[:MAX_NAMED])
        text += t(
            f"\n\ngit also shows as not committed: {names}.",
            f"\n\ngit 显示还有未提交的改动：{names}。",
        )
    return text


def _commands_run(ledger: Ledger, t: Tongue) -> str:
    if not ledger.commands:
        return ""
    runs = [f"`{command}` -> {ended}" for command, ended in ledger.commands.items()]
    return _list(t("Commands we have run:", "执行过的命令："), runs, t)


def _where_we_are(reading: Reading, t: Tongue) -> str:
    earlier = [text for text in reading.requests if text != reading.request]
    if not earlier:
        before = in_progress(reading.head)
        return t(f"The last task: “{before}”.", f"上一个任务：“{before}”。") if before else ""
    last = " ".join(earlier[-1].split())
    shown = last if len(last) <= 120 else last[:119] + "…"
    return t(
        f"Where we are: the last thing you asked for was “{shown}”.",
        f"当前进度：您上一步要求的是“{shown}”。",
    )


def _list(title: str, lines: list[str], t: Tongue) -> str:
    shown = "\n".join(f"- {line}" for line in lines[-MAX_NAMED:])
    rest = len(lines) - MAX_NAMED
    more = t(f"\n- and {rest} earlier ones", f"\n- 还有更早的 {rest} 个") if rest > 0 else ""
    return f"{title}\n\n{shown}{more}"


def _may_change(command: str) -> bool:
    """Whether a command may have changed files that its words do not name."""
    if files_written_by(command):
        return False
    for part in re.split(r"[;&|\n]+", command):
        try:
            words = shlex.split(part)
        except ValueError:
            return True
        if (
            words
            and words[0] not in HARMLESS
            and words[:2] not in (["git", "status"], ["git", "log"], ["git", "diff"])
        ):
            return True
    return False


def _work_focus(reading: Reading, t: Tongue) -> str:
    files = _files_that_matter(reading, "")
    if not files:
        return t(
            "what was asked, what was done, what is next", "已提出的要求、已完成的工作和下一步"
        )
    named = ", ".join(files)
    return t(f"the work on {named}", f"围绕 {named} 的工作")


def _files_that_matter(reading: Reading, words: str) -> list[str]:
    """Return up to three files: those the user names, then those changed last, then those read last."""
    ledger = ledger_of(reading, reading.before)
    last = [*reversed(ledger.changed), *reversed(ledger.read)]
    return list(dict.fromkeys([*paths_in(words), *last]))[:3]


def _feature_name(words: str) -> str:
    """Return what the user calls the second feature, in brackets; "" when it has no name."""
    found = re.search(
        r"(?:second|next)(?: feature| one| task)?\s*[:：,，]\s*([^.。\n]{3,80})"
        r"|第二个功能\s*[:：,，]\s*([^。\n]{2,60})",
        words,
        re.I,
    )
    return f" ({(found[1] or found[2]).strip()})" if found else ""


def _plan(what: str, files: list[str], found: list[str], t: Tongue) -> list[str]:
    known = [path for path in files if path in found] or [
        p for p in found if p.endswith((".py", ".ts", ".rs", ".go", ".js"))
    ][:2]
    where = ", ".join(known)
    look = (
        t(f"read again what it touches: {where}", f"重读相关文件：{where}")
        if where
        else t("decide which files it needs", "确定需要哪些文件")
    )
    return [
        t(f"agree on what the second feature{what} must do", f"确认第二个功能{what}要做什么"),
        look,
        t("write it in small edits", "分小步修改代码"),
        t("add a test for it", "为它补一个测试"),
        t("run the tests", "运行测试"),
    ]
