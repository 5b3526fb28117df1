"""Searches files and texts for a regular expression, as a process of its own: a pattern that never ends can be ended.

Reads lines of JSON from standard input. The first is an object: ``pattern``, ``ignore_case``, ``context`` (lines),
``limit`` (matches), and for a search of files ``root`` and ``files``. Each further line is an array of texts, as pairs
of a label and the text. Writes one JSON array a match to standard output: path or label, line number, text, lines
before, lines after; and last an array with the number of files that were skipped. Uses the standard library only, so
that it starts at once.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

MAX_BYTES = 4_000_000
"""Larger files are skipped and counted."""
LINE_CHARS = 400
OPEN_CAREFULLY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def main() -> None:
    """Search as the request says."""
    request = json.loads(sys.stdin.buffer.readline())
    flags = re.IGNORECASE if request["ignore_case"] else 0
    expression = re.compile(request["pattern"], flags)
    left = request["limit"]
    skipped = 0
    for path, lines in _sources(request):
        if lines is None:
            skipped += 1
            continue
        for at, line in enumerate(lines):
            found = expression.search(line)
            if found:
                _write([path, at + 1, *_around(lines, at, found.start(), request["context"])])
                left -= 1
                if left == 0:
                    _write([skipped])
                    return
    _write([skipped])


def _sources(request: dict[str, Any]) -> Iterator[tuple[str, list[str] | None]]:
    for path in request.get("files", ()):
        yield path, _lines(os.path.join(request["root"], path))  # noqa: PTH118 - pathlib doubles the start-up
    for line in sys.stdin.buffer:
        for label, text in json.loads(line):
            yield label, _split(text)


def _lines(path: str) -> list[str] | None:
    try:
        descriptor = os.open(path, OPEN_CAREFULLY)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return None
    if len(data) > MAX_BYTES:
        return None
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return _split(data.decode("utf-16", "replace"))
    if b"\0" in data[:8192]:
        return None
    return _split(data.decode("utf-8-sig", "replace"))


def _split(text: str) -> list[str]:
    """Return the lines; the end of the last one does not begin another."""
    return text.removesuffix("\n").split("\n")


def _around(
    lines: list[str], at: int, start: int, context: int
) -> tuple[str, list[str], list[str]]:
    before = [_cut(line) for line in lines[max(0, at - context) : at]]
    after = [_cut(line) for line in lines[at + 1 : at + 1 + context]]
    return _cut(lines[at], start), before, after


def _cut(line: str, start: int = 0) -> str:
    """A line bounded in length, with the place of the match in it."""
    line = line.removesuffix("\r")
    if len(line) <= LINE_CHARS:
        return line
    first = max(0, start - LINE_CHARS // 2)
    head = "…" if first else ""
    tail = "…" if first + LINE_CHARS < len(line) else ""
    return f"{head}{line[first : first + LINE_CHARS]}{tail}"


def _write(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
