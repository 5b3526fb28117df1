"""Scripts that change files: create one, replace text in one, take the last edit back."""

from __future__ import annotations

from app.adapters.demo.acts import Script, Tongue, act
from app.adapters.demo.reading import Reading
from app.adapters.demo.wishes import Wish


def create_file(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Write a new file."""
    path = wish.paths[0]
    text = t(f"Writing `{path}`.", f"正在写入 `{path}`。")
    (outcome,) = yield act(text, "write_file", path=path, content=wish.text)
    if outcome.is_error:
        return t(f"`{path}` was not written: ", f"`{path}` 没有写入：") + outcome.text
    lines = len(wish.text.splitlines())
    return t(
        f"`{path}` is written, {lines} line{'s' if lines != 1 else ''}.",
        f"`{path}` 已写入，共 {lines} 行。",
    )


def replace_text(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Read a file, then replace a text in it."""
    path, old, new = wish.paths[0], wish.old, wish.new
    (found,) = yield act(
        t(f"Reading `{path}` first.", f"先读一下 `{path}`。"), "read_file", path=path
    )
    if found.is_error:
        return t(f"`{path}` could not be read: ", f"`{path}` 读取失败：") + found.text
    text = t(
        f"Replacing “{old}” by “{new}” in `{path}`.", f"把 `{path}` 里的“{old}”替换成“{new}”。"
    )
    (outcome,) = yield act(text, "edit_file", path=path, old_text=old, new_text=new)
    if outcome.is_error and _is_ambiguous(outcome.text):
        again = t("It occurs more than once; replacing every one.", "出现了不止一次，全部替换。")
        (outcome,) = yield act(
            again, "edit_file", path=path, old_text=old, new_text=new, replace_all=True
        )
    if outcome.is_error:
        return t(f"`{path}` is unchanged: ", f"`{path}` 没有改动：") + outcome.text
    return t(
        f"Done: “{old}” is now “{new}” in `{path}`. Say “run the tests” to check it.",
        f"完成：`{path}` 里的“{old}”已改成“{new}”。可以说“运行一下测试”来验证。",
    )


def undo_edit(wish: Wish, reading: Reading, t: Tongue) -> Script:
    """Turn the last edit around."""
    edits = [o for o in reading.before if o.tool == "edit_file" and not o.is_error]
    if not edits:
        return t(
            "I see no edit of mine to take back. A compaction is undone with `/undo`; files are best taken back "
            "with git.",
            "我没有可以撤销的编辑。撤销压缩请用 `/undo`；文件改动最好用 git 还原。",
        )
    last = edits[-1]
    path, old, new = last.argument("path"), last.argument("old_text"), last.argument("new_text")
    text = t(f"Turning my last edit of `{path}` around.", f"把我对 `{path}` 的上一次编辑改回去。")
    (outcome,) = yield act(text, "edit_file", path=path, old_text=new, new_text=old)
    if outcome.is_error:
        return t(f"`{path}` is unchanged: ", f"`{path}` 没有改动：") + outcome.text
    return t(f"`{path}` has its old text back.", f"`{path}` 已恢复原来的内容。")


def _is_ambiguous(message: str) -> bool:
    low = message.lower()
    return any(word in low for word in (" places", "more than once", "ambiguous"))
