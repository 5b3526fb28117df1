"""``pal doctor``, ``sessions``, ``rules`` and ``replay``: arguments to functions, results to text or JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from app.errors import PalError

if TYPE_CHECKING:
    from rich.console import Console

    from app.core.policy import CompactionPolicy
    from app.replay.driver import ReplayReport

WIDE = 160
"""Columns of a table that goes to a file or another program."""


def doctor(arguments: list[str]) -> int:
    """Check configuration, endpoint and folder."""
    parser = argparse.ArgumentParser(prog="pal doctor", description=doctor.__doc__)
    parser.add_argument("folder", nargs="?", default=".")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--trust", action="store_true", help="use what this folder's own files set")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args(arguments)
    from app.launch import run_doctor_command

    return run_doctor_command(options)


def sessions(arguments: list[str]) -> int:
    """List, show, export and archive the sessions of this folder."""
    from app.launch import transcripts_of
    from app.sessions_cli import run

    return run(arguments, transcripts_of(Path.cwd()))


def rules(arguments: list[str]) -> int:
    """List, explain, add and remove the rules of this folder."""
    from app.launch import run_rules_command

    return run_rules_command(arguments)


def replay(arguments: list[str]) -> int:
    """Say what compaction would have done to recorded sessions, without a model."""
    parser = argparse.ArgumentParser(prog="pal replay", description=replay.__doc__)
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="a .jsonl recording, or a session folder"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument(
        "--dump-requests", metavar="DIR", help="write each request body as a JSON line"
    )
    parser.add_argument("--textbook", action="store_true", help="the literal form of the layers")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args(arguments)
    from app.settings import load_settings
    from app.settings.flags import assignments

    flags = assignments(options.set)
    if options.textbook:
        flags["--textbook"] = "true"
    settings = load_settings(Path.cwd(), environ=dict(os.environ), home=Path.home(), flags=flags)
    paths = [Path(file) for file in options.files]
    dump = Path(options.dump_requests) if options.dump_requests else None
    window = settings.context_window or 200_000
    reports = asyncio.run(_replay_all(paths, settings.policy, window, dump))
    if options.json:
        from app.replay.driver import as_json

        print(json.dumps({"v": 1, "sessions": [as_json(report) for report in reports]}, indent=1))
    else:
        print_table(reports)
    return 1 if any(report.problem for report in reports) else 0


async def _replay_all(
    paths: list[Path], policy: CompactionPolicy, window: int, dump: Path | None
) -> list[ReplayReport]:
    from app.replay.driver import replay_recording
    from app.replay.recordings import read_recording

    reports = []
    for path in paths:
        recording = read_recording(path)
        if dump is None:
            reports.append(await replay_recording(recording, policy, window=window))
            continue
        with _dump_file(dump, recording.name) as file:
            reports.append(
                await replay_recording(
                    recording, policy, window=window, on_request=_line_writer(file)
                )
            )
    return reports


@contextmanager
def _dump_file(folder: Path, name: str) -> Iterator[TextIO]:
    """Open the file for the requests of one session.

    Raises:
        PalError: It cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{name}.requests.jsonl").open("w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise PalError(f"{folder} cannot be written: {error.strerror}") from error


def _line_writer(file: TextIO) -> Any:
    def write(body: dict[str, Any]) -> None:
        file.write(json.dumps(body, ensure_ascii=False) + "\n")

    return write


FIGURES = (
    "requests",
    "peak",
    "mean",
    "input",
    "cached",
    "cost",
    "cleared",
    "compactions",
    "edits lost",
)


def _figures(r: ReplayReport) -> tuple[str, ...]:
    return (
        f"{r.requests:,}",
        f"{r.peak:,}",
        f"{r.mean:,}",
        f"{r.input_tokens:,}",
        f"{r.cached:.0%}",
        f"{r.cost:,}",
        f"{r.clears:,} in {r.clearings:,}",
        f"{r.compactions:,}",
        f"{r.edits_lost} of {r.edits}",
    )


def print_table(reports: list[ReplayReport], console: Console | None = None) -> None:
    """Print the figures of each session: as a table, or as paragraphs where it would not fit."""
    from rich.console import Console
    from rich.markup import escape
    from rich.padding import Padding
    from rich.table import Table

    console = console or Console(width=None if sys.stdout.isatty() else WIDE)
    rows = [_figures(report) for report in reports]
    table = Table(box=None, pad_edge=False)
    table.add_column("session", no_wrap=True)
    for name in FIGURES:
        table.add_column(name, justify="right", no_wrap=True)
    for report, row in zip(reports, rows, strict=True):
        table.add_row(escape(report.session), *row)
    wanted = console.measure(table, options=console.options.update(width=WIDE)).maximum
    if wanted <= console.width:
        console.print(table)
    else:  # cut columns would hide figures: one paragraph a session instead
        for report, row in zip(reports, rows, strict=True):
            told = ", ".join(f"{name} {value}" for name, value in zip(FIGURES, row, strict=True))
            console.print(report.session, style="bold", markup=False)
            console.print(Padding(told, (0, 0, 0, 2)))
    console.print(
        "Tokens. Cost in units of one uncached input token: cache read 0.1, cache write 1.25, output 5.",
        style="dim",
    )
    for report in reports:
        if report.bad_lines:
            skipped = f"lines that are no messages: {report.bad_lines:,}"
            console.print(f"{report.session}: {skipped}", markup=False)
        if report.problem:
            console.print(f"{report.session}: {report.problem}", style="red", markup=False)
