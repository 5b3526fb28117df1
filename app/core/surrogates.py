"""Lone surrogates: halves of a character that UTF-8 cannot carry. Pairs are joined, single halves become U+FFFD."""

from __future__ import annotations


def repair(text: str) -> str:
    """Return the text as UTF-8 can carry it; unchanged when it already can."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class Repairer:
    """Repairs a text that comes in pieces, of which one may end in the middle of a pair."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """Return what can be shown so far."""
        text, self._half = self._half + piece, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return repair(text)
