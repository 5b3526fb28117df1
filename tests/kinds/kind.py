"""A kind of fault that users of such programs have met, and the tests that hold it here.

A kind is what went wrong and not the one input that showed it: its tests try several inputs. `test_table` checks that
every test named here exists and is collected, so that a test that is renamed or deleted takes its row along.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault."""

    theme: str
    name: str
    """Short, unique within its theme."""
    holds: str
    """What is right instead."""
    tests: tuple[str, ...]
    """``folder/file.py::test`` below ``tests/``, without parameters and without ``test_`` before the name."""


def theme(name: str, rows: dict[str, tuple[str, str]]) -> tuple[Kind, ...]:
    """Return the kinds of a theme; the tests of a row stand in one text."""
    return tuple(
        Kind(name, kind, holds, tuple(tests.split())) for kind, (holds, tests) in rows.items()
    )
