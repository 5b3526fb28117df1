"""git: which subcommands and options only look."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.permission.options import Options, Split, named, split_arguments
from app.permission.words import Word

_DIFF = (
    "patch no-patch unified= stat=? numstat shortstat dirstat=? summary name-only name-status "
    "color=? no-color word-diff=? word-diff-regex= check full-index binary abbrev=? cached staged "
    "find-renames=? find-copies=? diff-filter= pickaxe-all pickaxe-regex ignore-space-at-eol "
    "ignore-space-change ignore-all-space ignore-blank-lines function-context exit-code quiet "
    "no-ext-diff no-textconv no-renames relative=? minimal patience histogram diff-algorithm= raw "
    "merge-base text compact-summary inter-hunk-context= no-prefix src-prefix= dst-prefix= "
    "ignore-submodules=? color-moved=? cc combined-all-paths"
)
_LOG = (
    "oneline pretty=? format= abbrev-commit no-abbrev-commit decorate=? no-decorate graph all "
    "branches=? tags=? remotes=? max-count= skip= since= after= until= before= author= committer= "
    "grep= all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp "
    "merges no-merges first-parent reverse follow date= topo-order date-order author-date-order "
    "walk-reflogs left-right cherry-pick cherry-mark boundary source full-history simplify-merges "
    "simplify-by-decoration ancestry-path notes=? no-notes relative-date parents "
    "children count no-walk=? log-size encoding= min-parents= max-parents= dense sparse not"
)
_HISTORY = Options(
    "pusRWwbziEFaDmcgtr",
    "nSGULl",
    named(f"{_DIFF} {_LOG} no-commit-id root"),
    number=True,
    open="BMC",
)

_TABLE: dict[str, Options] = {
    "status": Options(
        "sbvz",
        "",
        named(
            "short branch show-stash porcelain=? long verbose untracked-files=? "
            "ignore-submodules=? ignored=? column=? no-column ahead-behind no-ahead-behind renames"
        ),
        open="u",
    ),
    "diff": _HISTORY,
    "log": _HISTORY,
    "show": _HISTORY,
    "whatchanged": _HISTORY,
    "diff-tree": _HISTORY,
    "diff-index": _HISTORY,
    "rev-list": Options(
        "", "n", named(f"{_LOG} objects disk-usage=? no-object-names"), number=True
    ),
    "shortlog": Options(
        "nsec", "", named("numbered summary email committer all since= until= no-merges")
    ),
    "reflog": Options("", "n", named("all date= oneline format= pretty=? max-count="), number=True),
    "blame": Options(
        "lnwtfeMCsbc",
        "L",
        named("line-porcelain porcelain show-name show-number show-email date= root since="),
    ),
    "rev-parse": Options(
        "q",
        "",
        named(
            "verify quiet short=? abbrev-ref=? symbolic symbolic-full-name all branches=? tags=? "
            "show-toplevel show-prefix show-cdup git-dir git-common-dir absolute-git-dir "
            "is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository "
            "show-superproject-working-tree sq-quote revs-only no-revs flags no-flags default= "
            "end-of-options git-path= show-object-format"
        ),
    ),
    "ls-files": Options(
        "cdmosuktzvf",
        "x",
        named(
            "cached deleted modified others ignored stage unmerged killed exclude-standard "
            "exclude= directory error-unmatch full-name abbrev=? recurse-submodules eol format="
        ),
    ),
    "ls-tree": Options(
        "drtlz", "", named("name-only name-status long full-name full-tree abbrev=? format=")
    ),
    "cat-file": Options("ptse", "", named("batch-check=?")),
    "describe": Options(
        "",
        "",
        named(
            "all tags contains abbrev=? dirty=? always long match= exclude= exact-match first-parent candidates="
        ),
    ),
    "merge-base": Options("a", "", named("all is-ancestor octopus independent fork-point")),
    "name-rev": Options("", "", named("tags name-only always all")),
    "show-ref": Options(
        "sdq", "", named("head heads tags branches verify quiet hash=? abbrev=? dereference")
    ),
    "for-each-ref": Options(
        "", "", named("format= sort= count= merged=? no-merged=? contains=? points-at= ignore-case")
    ),
    "count-objects": Options("vH", "", named("verbose human-readable")),
    "check-ignore": Options("vnq", "", named("verbose non-matching quiet no-index")),
    "check-attr": Options("a", "", named("all cached")),
    "grep": Options(
        "nilLcwvEFPGhHoqpWIaz",
        "eABCm",
        named(
            "line-number ignore-case files-with-matches name-only files-without-match count "
            "word-regexp invert-match extended-regexp fixed-strings perl-regexp basic-regexp "
            "cached untracked no-index color=? no-color break heading show-function "
            "function-context context= after-context= before-context= and or not all-match quiet "
            "max-depth= max-count= only-matching text full-name exclude-standard recursive column"
        ),
        number=True,
    ),
    "branch": Options(
        "avrl",
        "",
        named(
            "all remotes list show-current verbose contains=? no-contains=? merged=? no-merged=? "
            "sort= format= points-at= column=? no-column color=? no-color ignore-case"
        ),
    ),
    "tag": Options(
        "l",
        "",
        named("list sort= format= contains=? merged=? no-merged=? points-at= column=? ignore-case"),
    ),
    "remote": Options("v", "", named("verbose")),
    "stash": Options("p", "", named("stat patch oneline name-only")),
    "worktree": Options("v", "", named("porcelain verbose")),
    "config": Options(
        "l",
        "",
        named(
            "get get-all list show-origin show-scope name-only null type= bool int includes local default="
        ),
    ),
    "version": Options("", "", named("build-options")),
    "symbolic-ref": Options("q", "", named("short quiet")),
}
_VERIFIES = re.compile(r"%(?:[-+ ]?G|\(signature)")
"""Parts of a format for which signatures are verified."""
_GLOBAL = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"})
_LISTING = frozenset({"list", "l", "contains", "merged", "no-merged", "points-at", "no-contains"})


def subcommand_at(words: Sequence[Word]) -> int | None:
    """Return the position of git's subcommand, its global options skipped; None when there is none."""
    at = 1
    while at < len(words):
        text = words[at].text
        if text is None:
            return None
        if not text.startswith("-"):
            return at
        takes_value = text in ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path")
        at += 2 if takes_value or text in ("--config-env", "--super-prefix") else 1
    return None


def without_global_options(words: Sequence[Word]) -> tuple[Word, ...]:
    """Return ``git push`` for ``git -c a=b push``."""
    at = subcommand_at(words)
    return tuple(words) if at is None else (words[0], *words[at:])


def read_git(words: Sequence[Word]) -> tuple[tuple[Word, ...], tuple[Word, ...], str]:
    """Return the folders named by ``-C``, the operands, and why it is not read-only ("" when it is)."""
    folders: list[Word] = []
    at = 1
    while at < len(words) and (words[at].text or "").startswith("-"):
        text = words[at].text
        if text in _GLOBAL:
            at += 1
        elif text == "-C" and at + 1 < len(words):
            folders.append(words[at + 1])
            at += 2
        elif text == "--version":
            return (), (), ""
        else:
            return (), (), f"git with {words[at].raw} may run programs or look elsewhere"
    if at >= len(words) or words[at].text is None:
        return (), (), "git without a literal subcommand"
    name = words[at].text or ""
    if name not in _TABLE:
        return (), (), f"git {name} is not on the list of read-only commands"
    split = split_arguments(words[at + 1 :], _TABLE[name])
    if split.unknown:
        return (), (), f"git {name} with {split.unknown} is not known to be read-only"
    operands = split.operands[1:] if name == "grep" and not split.has("e") else split.operands
    return tuple(folders), operands, _changes(name, split)


def _changes(name: str, split: Split) -> str:
    texts = [word.text or "" for word in split.operands]
    first = texts[0] if texts else ""
    ok = True
    match name:
        case _ if any(_VERIFIES.search(value) for _, value in split.options):
            return f"git {name} runs a program that verifies signatures"
        case "branch" | "tag":
            ok = not texts or split.has(*_LISTING)
        case "remote":
            ok = not texts or (first == "get-url" and len(texts) == 2)
        case "stash":
            ok = first in ("list", "show")
        case "worktree":
            ok = texts == ["list"]
        case "reflog":
            ok = first not in ("expire", "delete", "drop", "write")
        case "config":
            ok = split.has("get", "get-all", "list", "l") or texts[:1] in (["get"], ["list"])
        case "symbolic-ref":
            ok = len(texts) == 1
        case _:
            pass
    return "" if ok else f"git {name} changes something when used like this"
