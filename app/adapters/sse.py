"""Server-sent events from bytes that arrive in pieces of any size."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its name ("" when the server sent none) and its data."""

    name: str
    data: str


class EventSplitter:
    r"""Cuts a byte stream into events; lines may end in ``\n``, ``\r\n`` or ``\r``. Linear in the bytes fed.

    An event ends at a blank line, or at the next ``event:`` line for servers that forget the blank one.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Return the events that are complete with these bytes.

        Raises:
            UnicodeDecodeError: A line is not UTF-8.
        """
        self._parts.append(chunk)
        if b"\n" not in chunk and b"\r" not in chunk:
            return []
        buffer = b"".join(self._parts)
        cut = max(buffer.rfind(b"\n"), buffer.rfind(b"\r", 0, len(buffer) - 1)) + 1
        self._parts = [buffer[cut:]]
        return self._lines(buffer[:cut])

    def end(self) -> list[ServerEvent]:
        """Return what the end of the stream completes."""
        rest = b"".join(self._parts)
        self._parts = []
        return self._lines(rest + b"\n\n")

    def _lines(self, data: bytes) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        text = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").decode("utf-8")
        for line in text.split("\n")[:-1]:
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                self._data.append(value)
                continue
            if not line or field == "event":
                events += self._flush()
            if field == "event":
                self._name = value
        return events

    def _flush(self) -> list[ServerEvent]:
        data, name = "\n".join(self._data), self._name
        self._data, self._name = [], ""
        return [ServerEvent(name, data)] if data or name else []
