"""``pal sessions``: the record for people, listed, searched, read, exported, copied, named, deleted, archived."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from datetime import date, timedelta
from pathlib import Path

from app.adapters.clock import SystemClock
from app.adapters.journal_reading import SessionReader
from app.adapters.session_archive import ARCHIVE_FOLDER, archive_days, old_sessions
from app.adapters.session_changes import delete_session, fork_session, rename_session
from app.adapters.session_export import as_markdown, as_text, write_export
from app.adapters.session_info import SessionInfo, describe
from app.adapters.session_list import find_session, latest_session, list_sessions
from app.adapters.session_search import search_sessions
from app.core.figures import moment, size
from app.core.ports import Clock
from app.core.visible_text import escaped, one_line
from app.errors import PalError, SessionNotFound

SHOWN_RESULT_LINES = 20


def run(argv: list[str], root: Path, *, clock: Clock | None = None) -> int:
    """Run a command on the sessions of a folder.

    Args:
        argv: The words after ``pal sessions``; none of them means ``list``.
        root: The folder of all sessions.
        clock: Says what day it is.

    Returns:
        Exit code: 0 done, 1 failed, 2 wrong use.
    """
    try:
        options = _parser().parse_args(argv or ["list"])
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    try:
        match options.command:
            case "list":
                return _list(root, options)
            case "show":
                return _show(root, options)
            case "export":
                return _export(root, options)
            case "search":
                return _search(root, options)
            case "fork":
                return _fork(root, options)
            case "rename":
                return _rename(root, options)
            case "delete":
                return _delete(root, options)
            case _:
                return _archive(root, options, clock or SystemClock())
    except PalError as error:
        _complain(str(error), error.hint)
        return 1
    except BrokenPipeError:
        _silence()
        return 0
    except OSError as error:
        if error.filename is None:  # it was the output
            raise
        _complain(f"the sessions cannot be read: {error}")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pal sessions", description="The record, for people.")
    commands = parser.add_subparsers(dest="command", required=True)

    listing = commands.add_parser("list", help="all sessions of this folder, the last used first")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.add_argument("-n", "--limit", type=_count, help="at most so many")

    show = commands.add_parser("show", help="read a session; long results are shortened")
    _session_argument(show)
    show.add_argument("--full", action="store_true", help="results in full")
    show.add_argument("--thinking", action="store_true", help="the model's thinking too")

    export = commands.add_parser("export", help="write a session as Markdown or JSON lines")
    _session_argument(export)
    export.add_argument("-f", "--format", choices=("markdown", "jsonl"), help="default: markdown")
    export.add_argument("-o", "--output", type=Path, help="a new file; default: print it")
    export.add_argument("--thinking", action="store_true", help="the model's thinking too")
    export.add_argument("--force", action="store_true", help="replace an existing file")

    search = commands.add_parser(
        "search", help="the newest place in each session where all words were said"
    )
    search.add_argument("words", nargs="+", help="several in double quotes count as one")
    search.add_argument("--json", action="store_true", help="one JSON object a line")

    fork = commands.add_parser("fork", help="copy a session, to go on with the copy")
    _session_argument(fork)

    rename = commands.add_parser("rename", help="give a session a name")
    rename.add_argument("session", help="name, its beginning or end, or title")
    rename.add_argument("title", help="the new name; an empty one takes it away")

    delete = commands.add_parser("delete", help="delete sessions for good, after a question")
    delete.add_argument("sessions", nargs="+", metavar="session")
    delete.add_argument("--yes", action="store_true", help="do not ask")

    archive = commands.add_parser(
        "archive", help="pack old sessions, one file for each day, and remove them from the list"
    )
    archive.add_argument(
        "--before", type=_day, help="sessions last used before this day, YYYY-MM-DD; default: today"
    )
    archive.add_argument("--keep-days", type=_count, help="keep those of the last so many days")
    archive.add_argument(
        "--to", type=Path, help=f"folder for the archives; default: {ARCHIVE_FOLDER}/"
    )
    archive.add_argument("--folders", action="store_true", help="a folder a day, not a .tar.gz")
    archive.add_argument("--dry-run", action="store_true", help="only say what would be packed")
    return parser


def _session_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "session", nargs="?", help="name, its beginning or end, or title; default: the last used"
    )


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("a whole number, 0 or more")
    return int(text)


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError("a day as YYYY-MM-DD") from None


def _list(root: Path, options: argparse.Namespace) -> int:
    infos = list_sessions(root)[: options.limit]
    if options.json:
        for info in infos:
            _out(json.dumps(_as_json(info)) + "\n")
        return 0
    if not infos:
        _out(f"No sessions in {escaped(str(root))} yet.\n")
        return 0
    width = max(len(info.name) for info in infos)
    _out(
        f"{'SESSION':{width}}  {'LAST USED':16}  MESSAGES  COMPACTED      SIZE  NAME AND FIRST WORDS\n"
    )
    for info in infos:
        _out(_row(info, width))
    return 0


def _as_json(info: SessionInfo) -> dict[str, object]:
    holder = info.holder
    return {
        **asdict(info),
        "folder": str(info.folder),
        "too_new": info.too_new,
        "holder": asdict(holder) if holder else None,
    }


def _row(info: SessionInfo, width: int) -> str:
    shown = one_line(f"“{info.title}” {info.words}" if info.title else info.words, 60)
    figures = f"{info.messages:8,}  {info.compactions:9,}  {size(info.size):>8}"
    shown = f"(pal -p) {shown}" if info.printed else shown
    if info.too_new:
        shown = f"(written by a newer version, format {info.format}) {shown}".rstrip()
    elif info.holder:
        shown = f"(open in {info.holder}) {shown}"
    return f"{escaped(info.name):{width}}  {moment(info.last):16}  {figures}  {shown}\n"


def _sessions(count: int) -> str:
    return "1 session" if count == 1 else f"{count} sessions"


def _name(root: Path, session: str | None) -> str:
    """Return the session that is meant; without a word the last used one."""
    name = find_session(root, session) if session else latest_session(root)
    if name is None:
        raise SessionNotFound(f"there are no sessions in {root} yet")
    return name


def _reader(root: Path, options: argparse.Namespace) -> SessionReader:
    return SessionReader(root / _name(root, options.session))


def _show(root: Path, options: argparse.Namespace) -> int:
    reader = _reader(root, options)
    limit = None if options.full else SHOWN_RESULT_LINES
    _write_all(as_markdown(reader, thinking=options.thinking, result_lines=limit))
    _tell_damage(reader)
    return 0


def _export(root: Path, options: argparse.Namespace) -> int:
    reader = _reader(root, options)
    path: Path | None = options.output
    pieces = as_text(reader, path, format=options.format, thinking=options.thinking)
    if path is None:
        _write_all(pieces)
    else:
        write_export(path, pieces, replace=options.force)
        sys.stderr.write(f"{reader.folder.name} written to {path}\n")
    _tell_damage(reader)
    return 0


def _search(root: Path, options: argparse.Namespace) -> int:
    found = False
    for hit in search_sessions(root, _as_search(options.words)):
        found = True
        if options.json:
            _out(json.dumps(asdict(hit)) + "\n")
        else:
            where = f"{hit.who} {hit.id}".strip()
            _out(f"{escaped(hit.session)}  {escaped(where)}: {one_line(hit.line, 200)}\n")
    if not found and not options.json:
        _complain("nothing was found")
    return 0 if found else 1


def _as_search(words: list[str]) -> str:
    """Return arguments as one search text: what the shell took as one word stays one."""
    return " ".join(f'"{word}"' if " " in word and '"' not in word else word for word in words)


def _fork(root: Path, options: argparse.Namespace) -> int:
    name = fork_session(root, _name(root, options.session))
    _out(f"{name}\n")
    sys.stderr.write(f"To go on with it: pal --resume {name}\n")
    return 0


def _rename(root: Path, options: argparse.Namespace) -> int:
    name = find_session(root, options.session)
    title = rename_session(root, name, options.title)
    said = f"is called {one_line(title, 80)}" if title else "has no name of its own"
    _out(f"{name} {said}\n")
    return 0


def _delete(root: Path, options: argparse.Namespace) -> int:
    kept = 0
    for name in [find_session(root, session) for session in options.sessions]:
        if options.yes or _agreed(root / name):
            delete_session(root, name)
            _out(f"{name} is deleted\n")
        else:
            kept += 1
            _out(f"{name} is kept\n")
    return 1 if kept else 0


def _agreed(folder: Path) -> bool:
    """Ask whether a session may go; without a terminal nobody can be asked, and it stays."""
    info = describe(folder)
    if not sys.stdin.isatty():
        _complain("deleting is asked for in a terminal", "Add --yes to delete without a question.")
        return False
    told = (
        f"{info.messages:,} messages, {size(info.size)}: {one_line(info.words, 60)}" if info else ""
    )
    sys.stderr.write(f"Delete {folder.name} for good ({told})? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _archive(root: Path, options: argparse.Namespace, clock: Clock) -> int:
    before = options.before or clock.now()[:10]
    if options.keep_days is not None:
        before = (date.fromisoformat(before) - timedelta(days=options.keep_days)).isoformat()
    if options.dry_run:
        for day, infos in old_sessions(root, before).items():
            _out(f"{day}: {_sessions(len(infos))}, {size(sum(info.size for info in infos))}\n")
        return 0
    count = 0
    target = options.to or root / ARCHIVE_FOLDER
    for done in archive_days(root, before, target, as_folders=options.folders):
        count += len(done.sessions)
        if done.sessions:
            _out(f"{done.day}: {_sessions(len(done.sessions))} in {done.path}\n")
        for name in done.busy:
            sys.stderr.write(f"{name} is open and stays.\n")
    if not count:
        _out(f"No sessions from before {before} to pack.\n")
    elif options.folders:
        _out(f"To go on with one, move its folder back into {root}\n")
    else:
        _out(f"To go on with one: tar -xzf ARCHIVE -C {root}\n")
    return 0


def _write_all(pieces: Iterable[str]) -> None:
    for piece in pieces:
        _out(piece)
    sys.stdout.flush()


def _out(text: str) -> None:
    """Print, also to a terminal that does not know every character."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def _complain(*lines: str) -> None:
    sys.stderr.write("pal sessions: " + "".join(f"{escaped(line)}\n" for line in lines if line))


def _tell_damage(reader: SessionReader) -> None:
    for notice in reader.notices:
        sys.stderr.write(f"note: {notice}\n")


def _silence() -> None:
    """Keep the interpreter from complaining at its end that nobody reads its output any more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
