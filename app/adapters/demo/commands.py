"""Scripts that run, search, list, recall or keep the todo list, and report what the tools returned."""

from __future__ import annotations

import json
import re

from app.adapters.demo.acts import Script, Tongue, act, ask
from app.adapters.demo.describe import page_of
from app.adapters.demo.ledger import exit_code
from app.adapters.demo.listing import place
from app.adapters.demo.reading import Outcome, Reading
from app.adapters.demo.wishes import Wish

SHOWN_LINES = 15


def run_command(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Run a command and report how it ended."""
    (outcome,) = yield act(
        t(f"Running `{wish.text}`.", f"执行 `{wish.text}`。"), "bash", command=wish.text
    )
    return _ran(wish.text, outcome, t)


def run_tests(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Find the project's test command by looking, run it and report what it said."""
    look = t("Looking for how this project is tested.", "先看看这个项目怎么跑测试。")
    listing = yield from ask(look, "list_files", path=".")
    names = {line.strip().removeprefix("./").rstrip("/") for line in listing.text.splitlines()}
    command = _test_command(names, listing.text)
    if command in ("make test", "npm test"):
        file = "Makefile" if command == "make test" else "package.json"
        (found,) = yield act(
            t(f"`{file}` may say how.", f"看看 `{file}`。"), "read_file", path=file
        )
        text = "\n".join(page_of(found.text).lines)
        if command == "make test" and not re.search(r"^test\s*:", text, re.M):
            command = ""
        if command == "npm test" and not _has_script(text):
            command = ""
    if not command:
        return t(
            "I found no test command: no pytest, package.json, Cargo.toml, go.mod or Makefile with tests. Tell me, for "
            "example: run `python3 -m unittest`.",
            "没有找到测试命令（pytest、package.json、Cargo.toml、go.mod、Makefile 都没有）。"
            "请告诉我，例如：执行 `python3 -m unittest`。",
        )
    say = t(f"Running the tests: `{command}`.", f"运行测试：`{command}`。")
    (outcome,) = yield act(say, "bash", command=command)
    if (
        "No module named pytest" in outcome.text
        or "pytest: command not found" in outcome.text
        or "pytest: not found" in outcome.text
    ):
        command = "python3 -m unittest discover"
        say = t(
            f"pytest is not installed here; trying `{command}`.",
            f"这里没有 pytest，改用 `{command}`。",
        )
        (outcome,) = yield act(say, "bash", command=command)
    return _ran(command, outcome, t)


def search_text(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Search for a text and show the first matches."""
    where = "" if wish.folder == "." else f" `{wish.folder}`"
    text = t(
        f"Searching for “{wish.text}”{' in' + where if where else ''}.",
        f"在{where or '项目'}里搜索“{wish.text}”。",
    )
    path = None if wish.folder == "." else wish.folder
    (outcome,) = yield act(
        text, "search", pattern=re.escape(wish.text).replace("\\ ", " "), path=path
    )
    if outcome.is_error:
        return t("The search failed: ", "搜索失败：") + outcome.text
    return _quoted(
        t(f"What the search for “{wish.text}” found:", f"“{wish.text}”的搜索结果："),
        outcome.text,
        t,
    )


def list_files(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """List a folder."""
    where = place(wish.folder, t)
    glob = f"*{wish.suffix}" if wish.suffix else None
    text = t(f"Listing {where}.", f"列出 {where}。")
    (outcome,) = yield act(text, "list_files", path=wish.folder, glob=glob)
    if outcome.is_error:
        return t("It could not be listed: ", "无法列出：") + outcome.text
    return _quoted(t(f"Files in {where}:", f"{where} 里的文件："), outcome.text, t, limit=40)


def recall(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Fetch an original from the record."""
    text = t(f"Recalling {wish.text} from the record.", f"从记录里取回 {wish.text}。")
    (outcome,) = yield act(text, "recall", id=wish.text)
    if outcome.is_error:
        return outcome.text
    return _quoted(t(f"The original of {wish.text}:", f"{wish.text} 的原文："), outcome.text, t)


def write_todo(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Put the named items on the todo list."""
    items = [item.strip(" -*.。") for item in re.split(r"[;\n；、]|,(?!\d)|，", wish.text)]
    items = [item for item in items if item]
    (outcome,) = yield act(
        t("Writing the list.", "写入待办列表。"), "todo", items=todo_items(items)
    )
    if outcome.is_error:
        return outcome.text
    return t(f"The todo list has {len(items)} items.", f"待办列表里有 {len(items)} 项。")


def todo_items(texts: list[str]) -> list[dict[str, str]]:
    """Return items for the ``todo`` tool, the first one begun."""
    states = ["doing", *["pending"] * len(texts)]
    return [{"text": text, "state": state} for text, state in zip(texts, states, strict=False)]


def _test_command(names: set[str], listing: str) -> str:
    python = re.search(r"(?:^|[\s/])(?:test_\w+\.py|\w+_test\.py|tests?/?\b)", listing)
    if names & {"pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "conftest.py"} or (
        python and ".py" in listing
    ):
        return "uv run pytest -q" if "uv.lock" in names else "python3 -m pytest -q"
    for file, command in (
        ("package.json", "npm test"),
        ("Cargo.toml", "cargo test"),
        ("go.mod", "go test ./..."),
        ("pom.xml", "mvn -q test"),
        ("build.gradle", "gradle test"),
        ("build.gradle.kts", "gradle test"),
        ("mix.exs", "mix test"),
        ("Rakefile", "rake test"),
        ("Makefile", "make test"),
    ):
        if file in names:
            return command
    return "python3 -m pytest -q" if python else ""


def _has_script(text: str) -> bool:
    try:
        return bool(json.loads(text)["scripts"]["test"])
    except (ValueError, KeyError, TypeError):
        return '"test"' in text


def _ran(command: str, outcome: Outcome, t: Tongue) -> str:
    code = exit_code(outcome)
    if outcome.is_error and code is None:
        return t(f"`{command}` did not run: ", f"`{command}` 没有执行：") + outcome.text.strip()
    verdict = next(
        (line.strip() for line in reversed(outcome.text.splitlines())
         if re.search(r"\b\d+ (?:passed|failed|errors?|skipped)\b|^(?:OK|FAILED)\b|test result:", line)),
        "",
    )  # fmt: skip
    ended = t(f"`{command}` ended with exit code {code}", f"`{command}` 的退出码是 {code}")
    if code is None:
        ended = t(f"`{command}` ran", f"`{command}` 已执行")
    said = t(f"; it says: {verdict}", f"；它说：{verdict}") if verdict else ""
    return _quoted(f"{ended}{said}.", outcome.text, t, from_end=bool(verdict) or bool(code))


def _quoted(
    title: str, text: str, t: Tongue, *, limit: int = SHOWN_LINES, from_end: bool = False
) -> str:
    lines = text.strip().splitlines()
    shown = lines[-limit:] if from_end else lines[:limit]
    rest = len(lines) - len(shown)
    more = (
        t(f"\n({rest} more lines in the tool's card)", f"\n（工具卡片里还有 {rest} 行）")
        if rest
        else ""
    )
    body = "\n".join(shown).replace("```", "'''")
    return f"{title}\n\n```\n{body}\n```{more}"
