"""Texts and TOML values to the values of settings, each with the words for what is allowed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from app.core.prices import Price

_INTEGER = re.compile(r"([0-9][0-9_,]*)(k|m)?", re.IGNORECASE)
_DECIMAL = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(k|m)", re.IGNORECASE)
_SECONDS = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(s|m|h)?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_SPANS = {"": 1, "s": 1, "m": 60, "h": 3_600}
MOST_SECONDS = 86_400
_NO = ("none", "off", "unlimited", "never")


@dataclass(frozen=True, slots=True)
class Parser:
    """Reads one kind of value; `read` takes a text or a TOML value and raises ValueError."""

    allowed: str
    read: Callable[[Any], Any]
    show: Callable[[Any], str] = str


def whole(minimum: int, maximum: int | None = None) -> Parser:
    """A whole number such as ``50_000`` or ``50k``."""
    top = f" to {maximum:_}" if maximum is not None else " or more"

    def read(value: Any) -> int:
        number = _integer(value)
        if number < minimum or (maximum is not None and number > maximum):
            raise ValueError
        return number

    return Parser(f"a whole number, {minimum:_}{top} (50_000 and 50k are the same)", read, _digits)


def whole_or_none(minimum: int, meaning: str) -> Parser:
    """A whole number, or ``none``."""
    inner = whole(minimum)

    def read(value: Any) -> int | None:
        return None if isinstance(value, str) and value.lower() in _NO else inner.read(value)

    return Parser(
        f'{inner.allowed}, or "none" for {meaning}',
        read,
        lambda value: "none" if value is None else _digits(value),
    )


def share(minimum: float = 0.0) -> Parser:
    """A fraction such as ``0.16``, or ``16%``."""

    def read(value: Any) -> float:
        number = _fraction(value)
        if not minimum <= number <= 1:
            raise ValueError
        return number

    return Parser(f"a share from {minimum:g} to 1, or a percentage", read, _percent)


def tokens_or_share() -> Parser:
    """Tokens as int, or a share of the window as float."""

    def read(value: Any) -> int | float:
        if isinstance(value, str) and value.rstrip().endswith("%"):
            number = _fraction(value)
            if not 0 < number <= 1:
                raise ValueError
            return number
        return int(whole(1).read(value))

    return Parser(
        "tokens (50_000, 50k) or a percentage of the window (40%)",
        read,
        lambda value: _percent(value) if isinstance(value, float) else _digits(value),
    )


def shares() -> Parser:
    """Several fractions, separated by commas; none at all is allowed."""

    def read(value: Any) -> tuple[float, ...]:
        found = tuple(sorted(_fraction(item) for item in _items(value)))
        if any(not 0 < item <= 1 for item in found):
            raise ValueError
        return found

    return Parser(
        'shares or percentages, separated by commas (50%, 75%), or "none"',
        read,
        lambda value: ", ".join(map(_percent, value)) or "none",
    )


def decimal(minimum: float, maximum: float) -> Parser:
    """A number with a fraction."""

    def read(value: Any) -> float:
        number = float(value) if not isinstance(value, bool) else -1.0
        if not minimum <= number <= maximum:
            raise ValueError
        return number

    return Parser(f"a number from {minimum:g} to {maximum:g}", read, _exact)


def seconds() -> Parser:
    """A span of time such as ``120``, ``90s`` or ``2m``."""

    def read(value: Any) -> float:
        if isinstance(value, bool):
            raise ValueError
        if isinstance(value, int | float):
            number = float(value)
        else:
            found = _SECONDS.fullmatch(value.strip())
            if not found:
                raise ValueError
            number = float(found.group(1)) * _SPANS[(found.group(2) or "").lower()]
        if not 0 < number <= MOST_SECONDS:
            raise ValueError
        return number

    return Parser(
        f"seconds up to {MOST_SECONDS:,} (120, 90s, 2m)", read, lambda value: f"{_exact(value)} s"
    )


def seconds_or_auto() -> Parser:
    """A span of time, or ``auto``."""
    inner = seconds()

    def read(value: Any) -> float | None:
        automatic = isinstance(value, str) and value.strip().lower() == "auto"
        return None if automatic else float(inner.read(value))

    return Parser(
        f'{inner.allowed}, or "auto"',
        read,
        lambda value: "auto" if value is None else inner.show(value),
    )


def switch() -> Parser:
    """On or off."""

    def read(value: Any) -> bool:
        if isinstance(value, bool):
            return value
        word = str(value).strip().lower()
        if word in ("1", "true", "yes", "on"):
            return True
        if word in ("0", "false", "no", "off"):
            return False
        raise ValueError

    return Parser("on or off (1, 0, true, false, yes, no)", read, lambda on: "on" if on else "off")


def choice(words: type[StrEnum] | Sequence[str]) -> Parser:
    """One of a few words; read as the enum's member where an enum is given."""
    allowed = [str(word) for word in words]

    def read(value: Any) -> Any:
        word = str(value).strip().lower().replace("_", "-")
        if word not in allowed:
            raise ValueError
        return words(word) if isinstance(words, type) else word

    return Parser("one of " + ", ".join(allowed), read)


def names() -> Parser:
    """A set of tool names."""

    def read(value: Any) -> frozenset[str]:
        found = _items(value)
        if any(not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", name) for name in found):
            raise ValueError
        return frozenset(found)

    return Parser(
        'tool names, separated by commas, or "none"',
        read,
        lambda value: ", ".join(sorted(value)) or "none",
    )


def words(maximum: int = 20_000) -> Parser:
    """Free text."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or len(value) > maximum or "\0" in value:
            raise ValueError
        return value.strip()

    return Parser(f"text of at most {maximum:,} characters", read)


def word() -> Parser:
    """A name without blanks or control characters."""

    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError
        text = value.strip()
        if not text or not text.isprintable() or any(char.isspace() for char in text):
            raise ValueError
        return text

    return Parser("a name without blanks", read)


def path() -> Parser:
    """A folder's path."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise ValueError
        return value.strip()

    return Parser("a folder, relative to the project or absolute", read)


def keys() -> Parser:
    """Actions and the keys for them."""

    def read(value: Any) -> Mapping[str, str]:
        if isinstance(value, Mapping):
            pairs = [(str(action), key) for action, key in value.items()]
        else:
            pairs = [(item.partition("=")[0], item.partition("=")[2]) for item in _items(value)]
        if any(not action or not isinstance(key, str) or not key for action, key in pairs):
            raise ValueError
        return MappingProxyType(dict(pairs))

    return Parser(
        "actions and keys, such as cancel=ctrl+g, copy=f5",
        read,
        lambda value: ", ".join(f"{action}={key}" for action, key in value.items()) or "none",
    )


def price() -> Parser:
    """US dollars per million tokens of input, output, cache reads and cache writes."""

    def read(value: Any) -> Price | None:
        if isinstance(value, str) and value.strip().lower() in _NO:
            return None
        numbers = [float(item) for item in _items(value)]
        if len(numbers) not in (2, 4) or any(not 0 <= number < 10_000 for number in numbers):
            raise ValueError
        if len(numbers) == 2:
            numbers += [numbers[0] * 0.1, numbers[0] * 1.25]
        return Price(*numbers)

    return Parser(
        "dollars per million tokens: input, output, cache read, cache write (3, 15, 0.3, 3.75), "
        'or "none" for the table\'s',
        read,
        lambda value: (
            "none"
            if value is None
            else ", ".join(
                map(_exact, (value.input, value.output, value.cache_read, value.cache_write))
            )
        ),
    )


def secret() -> Parser:
    """A key or token: blanks around it are dropped, blanks in it are an error."""

    def read(value: Any) -> str:
        text = value.strip() if isinstance(value, str) else ""
        if not text:
            raise ValueError("it is empty")
        if any(not char.isascii() for char in text):
            raise ValueError("it contains a character that is not ASCII; copy it again")
        if any(char.isspace() or not char.isprintable() for char in text):
            raise ValueError("it contains a blank or a line break; copy it again, without them")
        if text[0] in "\"'" or text[-1] in "\"'":
            raise ValueError("there is a quote at its end; remove the quotes")
        return text

    return Parser("the key as issued, without blanks or quotes", read, mask)


def mask(value: str | None) -> str:
    """Return a key with all but its ends hidden; short ones are hidden whole."""
    if not value:
        return "none"
    return f"{value[:7]}…{value[-4:]}" if len(value) >= 20 else "…"


def _integer(value: Any) -> int:
    if isinstance(value, bool):
        raise ValueError
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if value != int(value):
            raise ValueError
        return int(value)
    text = str(value).strip()
    found = _INTEGER.fullmatch(text)
    if found:
        digits = found.group(1).replace("_", "").replace(",", "")
        return int(digits) * _UNITS[(found.group(2) or "").lower()]
    found = _DECIMAL.fullmatch(text)
    if found:
        return round(float(found.group(1)) * _UNITS[found.group(2).lower()])
    raise ValueError


def _fraction(value: Any) -> float:
    if isinstance(value, bool):
        raise ValueError
    text = str(value).strip()
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def _items(value: Any) -> list[str]:
    if isinstance(value, list | tuple):
        return [str(item).strip() for item in value]
    text = str(value).strip()
    if text.lower() in ("", "none", "[]"):
        return []
    return [item for item in re.split(r"\s*,\s*|\s+", text) if item]


def _digits(value: Any) -> str:
    return "not set" if value is None else f"{value:_}"


def _percent(value: float) -> str:
    return f"{_exact(value * 100)}%"


def _exact(value: float) -> str:
    """Return a number so that reading it gives the same, without the noise of binary fractions."""
    return f"{value:.12g}"
