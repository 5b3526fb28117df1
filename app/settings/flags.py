"""``--set NAME=VALUE``: arguments that name any setting."""

from __future__ import annotations

from collections.abc import Sequence

from app.errors import ConfigError


def assignments(texts: Sequence[str]) -> dict[str, str]:
    """Return what ``--set NAME=VALUE`` arguments say.

    Raises:
        ConfigError: One has no ``=``.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ConfigError("--set", f"{text!r} is not NAME=VALUE", source="--set")
        found[name.strip()] = value
    return found
