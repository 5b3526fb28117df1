"""Refusals of a conversation for its length: how servers word them, and the sizes that they name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from app.adapters.refusal import Refusal

LEAST_WINDOW = 512
"""Tokens; a smaller figure in a message is no window, but a code, a version or an unset field."""
MOST_TOKENS = 1_000_000_000

_WORDS = re.compile(
    "prompt is too long|context.?length|context.?window|context.?size|too many tokens|maximum context"
    "|context limit|request_too_large|exceeds? the (?:available )?context|input is too long|token limit exceeded"
    "|(?:maximum|max) (?:prompt|model|input) length|longer than the (?:maximum )?model"
    r"|token count.{0,40}exceeds|exceed\w* (?:the )?model(?:'s)? token limit|reduce the length of the messages"
    "|range of input length|inputs` tokens .{0,40}must be",
    re.IGNORECASE,
)
_DIGITS = r"(?<![\d,])(\d[\d,]{0,20})"
"""Bounded, so that a run of digits without end is looked at once."""
_FIGURE = _DIGITS + r"(k?)(?![\w,]|\.\d)"
_WINDOW = re.compile(
    r"(?:context (?:length|window|size|limit)|(?:maximum|max) (?:context|prompt|model|input) length"
    r"|model(?:'s)? token limit|tokens allowed|maximum (?=of))"
    r"(?: (?:length|size|limit|is|of|only|to|at))*\s?[:=(]?\s?" + _FIGURE,
    re.IGNORECASE,
)
_WINDOW_LAST = (
    re.compile(r"tokens?\s*>\s*" + _FIGURE, re.IGNORECASE),
    re.compile(r"\d\s*\+\s*\d[\d,]{0,20}\s*>\s*" + _FIGURE),
    re.compile(r"token count.{0,40}exceeds the limit of " + _FIGURE, re.IGNORECASE),
    re.compile(r"must be <= " + _FIGURE),
    re.compile(_FIGURE + r" maximum context length", re.IGNORECASE),
    re.compile(r"range of input length should be \[\d+, ?" + _FIGURE, re.IGNORECASE),
)
_SENT = re.compile(
    rf"{_DIGITS}\s*tokens?\s*>|{_DIGITS}\s*\+\s*\d[\d,]{{0,20}}\s*>|{_DIGITS} (?:tokens )?in the messages"
    rf"|requested (?:about )?{_DIGITS} tokens|requested: {_DIGITS}|\({_DIGITS} tokens\)"
    rf"|contains? (?:at least )?{_DIGITS} (?:input )?tokens|passed {_DIGITS} input tokens"
    rf"|token count(?: of)? \(?{_DIGITS}|given: {_DIGITS}|prompt \(length {_DIGITS}\)",
    re.IGNORECASE,
)


def is_too_long(refusal: Refusal) -> bool:
    """Whether a refusal says that the conversation is longer than the model takes."""
    error = (refusal.raw or {}).get("error")
    code = error.get("code") if isinstance(error, Mapping) else None
    said = f"{refusal.type} {refusal.message} {code if isinstance(code, str) else ''}"
    return _WORDS.search(said) is not None


def sizes(refusal: Refusal) -> tuple[int | None, int | None]:
    """Return the tokens sent and the tokens accepted, as far as a refusal for length names them."""
    error = (refusal.raw or {}).get("error")
    if isinstance(error, Mapping) and (window := _counted(error.get("n_ctx"))):
        prompt = _counted(error.get("n_prompt_tokens"), least=1)
        return prompt, window
    sent = _SENT.search(refusal.message)
    window = None
    for pattern in (*_WINDOW_LAST, _WINDOW):
        if window is None and (found := pattern.search(refusal.message)):
            window = _counted(_number(found[1]) * (1_000 if found[2] else 1))
    return _counted(_number(sent[sent.lastindex or 0]), least=1) if sent else None, window


def _counted(value: Any, *, least: int = LEAST_WINDOW) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and least <= value <= MOST_TOKENS else None


def _number(digits: str) -> int:
    """Return a figure with commas; one that no count has is cut, and is then out of bounds."""
    return int(digits.replace(",", "")[:18])
