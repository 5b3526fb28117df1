"""Scripts that read: one file, every file of a folder, or file after file until a compaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator

from app.adapters.demo.acts import Act, Call, Script, Tongue
from app.adapters.demo.describe import describe, page_of
from app.adapters.demo.ledger import ledger_of
from app.adapters.demo.listing import files_wanted
from app.adapters.demo.notes import file_note, files_note, named
from app.adapters.demo.reading import Outcome, Reading
from app.adapters.demo.wishes import Wish

MAX_PAGES = 5
"""Pages of one file that a full reading takes."""
MAX_STEPS = 150
"""Answers after which a reading without end gives up."""
ABREAST = ((6, 1), (12, 2), (MAX_STEPS, 4))
"""How many files the first round of a reading without end takes in one answer, up to which answer: one by one alone,
layer 1 clears as fast as it reads. Later rounds read what was cleared, which is pinned; there one at a time is enough,
and little is unseen when layer 2 comes."""
MAX_LINES = 40
"""Files that a report describes one by one."""
MAX_NAMED = 4
MAX_NAMES_CHARS = 1_500


def read_files(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Read the named files side by side and say what each holds."""
    span = {"offset": wish.first, "limit": max(1, wish.last - wish.first + 1)} if wish.first else {}
    calls = tuple(Call("read_file", {"path": path, **span}) for path in wish.paths)
    names = ", ".join(f"`{path}`" for path in wish.paths)
    outcomes = yield Act(t(f"Reading {names}.", f"我来读 {names}。"), calls)
    lines = [_what_it_holds(outcome, t) for outcome in outcomes]
    return "\n".join(lines)


def read_every(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Read all files of a folder, one an answer, and say at the end what they are."""
    files = yield from files_wanted(wish, reading, t)
    if isinstance(files, str):
        return files
    known = ledger_of(reading, ()).read if reading.in_head else {}
    failed: list[str] = []
    said = files_note(files)
    for at, path in enumerate(files, start=1):
        if path in known:
            continue
        count = t(f"({at} of {len(files)})", f"（第 {at} 个，共 {len(files)} 个）")
        text = t(f"Reading `{path}` {count}.", f"正在读 `{path}`{count}。")
        outcome, note = yield from _whole_file(path, f"{said}\n\n{text}".strip(), t)
        if outcome.is_error:
            failed.append(f"`{path}`: {_first_line(outcome.text)}")
        said = note
    return _read_report(files, failed, said, reading, t)


def read_until_compacted(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Read on, in rounds over all files, until the head says that the history was compacted."""
    if reading.in_head:
        return _compacted_report(reading, t)
    files = yield from files_wanted(wish, reading, t)
    if isinstance(files, str):
        return files
    said = files_note(files)
    counts: Counter[str] = Counter()
    steps = 0
    last: Outcome | None = None
    while steps < MAX_STEPS:
        following = _next_page(last, counts) if last else None
        fewest = min(counts[path] for path in files)
        batch = 1 if fewest else next(count for until, count in ABREAST if steps < until)
        due = [path for path in files if counts[path] == fewest][:batch]
        calls = (following,) if following else tuple(Call("read_file", {"path": p}) for p in due)
        names = ", ".join(f"`{call.arguments['path']}`" for call in calls[:MAX_NAMED])
        more = f" … ({len(calls)})" if len(calls) > MAX_NAMED else ""
        text = t(
            f"No compaction yet; reading {names}{more}, round {fewest + 1}.",
            f"还没有触发压缩，继续读 {names}{more}，第 {fewest + 1} 轮。",
        )
        outcomes = yield Act(f"{said}\n\n{text}".strip(), calls)
        steps += 1
        counts.update(str(c.arguments["path"]) for c in calls if "offset" not in c.arguments)
        said = "\n".join(_note(outcome) for outcome in outcomes if not outcome.cleared)
        last = outcomes[0] if len(outcomes) == 1 else None
    return t(
        f"I stopped after {steps} answers: reading these {len(files)} files again and again did not fill the context "
        "up to the threshold, because layer 1 clears what was read before. Lower the threshold in /settings and ask "
        "again, or try `tour`.",
        f"我在 {steps} 步之后停下了：反复读这 {len(files)} 个文件也没有达到阈值，因为第一层一直在清理旧结果。"
        "请在 /settings 里调低阈值后再试，或者输入 `tour`。",
    )


def _whole_file(
    path: str, text: str, t: Tongue
) -> Generator[Act, tuple[Outcome, ...], tuple[Outcome, str]]:
    """Read a file page by page; return the last result and what is noted of the file."""
    (outcome,) = yield Act(text, (Call("read_file", {"path": path}),))
    note = "" if outcome.cleared else _note(outcome)
    for _ in range(MAX_PAGES - 1):
        following = None if outcome.cleared else page_of(outcome.text).next
        if following is None:
            break
        onward = t(f"`{path}` goes on at line {following}.", f"`{path}` 从第 {following} 行继续。")
        arguments = {"path": path, "offset": following}
        (outcome,) = yield Act(f"{note}\n\n{onward}".strip(), (Call("read_file", arguments),))
        note = ""
    return outcome, note


def _next_page(last: Outcome, counts: Counter[str]) -> Call | None:
    if last.cleared or last.is_error:
        return None
    following = page_of(last.text).next
    return (
        None
        if following is None
        else Call("read_file", {"path": last.argument("path"), "offset": following})
    )


def _note(outcome: Outcome) -> str:
    path = outcome.argument("path")
    if outcome.is_error:
        return file_note(path, f"could not be read: {_first_line(outcome.text)}")
    return "" if outcome.argument("offset") else file_note(path, describe(path, outcome.text))


def _what_it_holds(outcome: Outcome, t: Tongue) -> str:
    path = outcome.argument("path")
    if outcome.is_error:
        return t(f"`{path}` could not be read: ", f"`{path}` 读取失败：") + _first_line(
            outcome.text
        )
    page = page_of(outcome.text)
    note = file_note(path, describe(path, outcome.text))
    preview = [line for line in page.lines if line.strip()][:12]
    shown = "\n".join(preview)
    more = (
        t(
            f"\nThere is more: the next page begins at line {page.next}.",
            f"\n后面还有内容：下一页从第 {page.next} 行开始。",
        )
        if page.next
        else ""
    )
    return f"{note}\n\n```\n{shown}\n```{more}"


def _read_report(
    files: list[str], failed: list[str], said: str, reading: Reading, t: Tongue
) -> str:
    known = ledger_of(reading).read
    lines = [file_note(path, known[path]) if known.get(path) else f"`{path}`" for path in files]
    shown = "\n".join(f"- {line}" for line in lines[:MAX_LINES])
    rest = len(lines) - MAX_LINES
    more = t(f"\n- and {rest} more", f"\n- 还有 {rest} 个") if rest > 0 else ""
    count = len(files) - len(failed)
    head = t(f"I have read {count} of {len(files)} files:", f"{len(files)} 个文件读了 {count} 个：")
    problems = t("\n\nNot readable: ", "\n\n读不了的：") + "; ".join(failed) if failed else ""
    through = (
        t(
            "\n\nThe history was compacted on the way; the record still has every file as it was read.",
            "\n\n中途发生过压缩；记录里仍保留着每个文件的原文。",
        )
        if reading.in_head
        else ""
    )
    return f"{head}\n\n{shown}{more}{problems}{through}"


def _compacted_report(reading: Reading, t: Tongue) -> str:
    known = list(ledger_of(reading).read)
    names = "; ".join(named(known, most=MAX_LINES))
    if len(names) > MAX_NAMES_CHARS:
        names = names[:MAX_NAMES_CHARS].rsplit(",", 1)[0] + " …"
    return t(
        "Compaction has triggered: the conversation now begins with `[Conversation compressed. …]` and the loop went "
        f"on by itself. I stop reading here. What the view still knows of as read ({len(known)}): {names}",
        "压缩已经触发：对话现在以 `[Conversation compressed. …]` 开头，循环自动继续。我就读到这里。"
        f"当前视图里仍记得读过（{len(known)} 个）：{names}",
    )


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:200]
