"""The files that a request is about: what ``list_files`` returned, read, and listed again where it was folded."""

from __future__ import annotations

import re
from collections.abc import Generator

from app.adapters.demo.acts import Act, Call, Tongue, ask
from app.adapters.demo.notes import listed_files
from app.adapters.demo.reading import Outcome, Reading
from app.adapters.demo.wishes import Wish

MAX_FOLDERS = 20
"""Folded folders that are listed by themselves."""
_BINARY = re.compile(
    r"\.(?:png|jpe?g|gif|ico|webp|pdf|zip|gz|tar|whl|so|dll|exe|pyc|class|o|woff2?|ttf|mp[34]|db|sqlite3?)$",
    re.I,
)
_NAME = re.compile(r"[^\s\[(…].*\.\w{1,10}|(?:.*/)?(?:Makefile|Dockerfile|LICENSE|README)")
_FOLDED = re.compile(r"(.+)/ \([\d,]+ files?\)")

Files = Generator[Act, tuple[Outcome, ...], list[str] | str]


def paths_in_listing(text: str, suffix: str = "") -> list[str]:
    """Return the text files in a result of ``list_files``."""
    names = (line.split(" -> ")[0].strip() for line in text.splitlines())
    found = [name for name in names if _NAME.fullmatch(name)]
    kept = [n for n in found if (n.endswith(suffix) if suffix else not _BINARY.search(n))]
    return list(dict.fromkeys(kept))


def folded_in_listing(text: str) -> list[str]:
    """Return the folders in a result of ``list_files`` that stand for the files in them."""
    return [m[1] for line in text.splitlines() if (m := _FOLDED.fullmatch(line.strip()))]


def files_wanted(wish: Wish, reading: Reading, t: Tongue) -> Files:
    """Return the files that a wish is about, or what to say because there are none."""
    noted = listed_files("\n".join(reading.said))
    if noted is None and reading.in_head:
        noted = listed_files(reading.head)
    if noted:
        return noted
    kind = f"*{wish.suffix}" if wish.suffix else t("all files", "所有文件")
    where = place(wish.folder, t)
    pattern = {"glob": f"*{wish.suffix}"} if wish.suffix else {}
    listing = yield from ask(
        t(f"Looking for {kind} in {where}.", f"先看看{where}里有哪些文件（{kind}）。"),
        "list_files",
        path=wish.folder,
        **pattern,
    )
    if listing.is_error:
        return t("I could not list the files: ", "无法列出文件：") + listing.text.strip()
    files = paths_in_listing(listing.text, wish.suffix)
    folders = folded_in_listing(listing.text)[:MAX_FOLDERS]
    if folders:
        calls = tuple(Call("list_files", {"path": folder, **pattern}) for folder in folders)
        text = t("Looking into the folded folders.", "再看看被折叠的目录。")
        for inner in (yield Act(text, calls)):
            files += paths_in_listing(inner.text, wish.suffix)
    if files:
        return list(dict.fromkeys(files))
    return t(
        f"There are no files to read in {where} ({kind}). In an empty folder, type `tour` to see the layers at work.",
        f"{where}里没有可读的文件（{kind}）。在空目录里可以输入 `tour` 看三层压缩的演示。",
    )


def place(folder: str, t: Tongue) -> str:
    """Return how a folder is named in a sentence."""
    return t("this folder", "当前目录") if folder == "." else f"`{folder}/`"
