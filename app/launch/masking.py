"""What is masked on its way to the disk: always this program's own keys, and secrets where a setting asks for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from app.core.own_folders import STATE_FOLDER
from app.settings import Settings
from app.settings.private_file import write_private

SALT_FILE = "mask_salt"
SALT_BYTES = 32


def own_keys(settings: Settings) -> tuple[str, ...]:
    """Return this program's own credentials."""
    return tuple(key for key in (settings.api_key, settings.auth_token) if key)


def mask_of(settings: Settings) -> Callable[[str], str]:
    """Return the mask that the settings ask for."""
    from app.core.masking import OwnKeys  # not needed before the first paint

    keys = own_keys(settings)
    if settings.mask_secrets == "off":
        return OwnKeys(keys)
    from app.core.secret_masks import KnownSecrets  # its table of formats is needed only here

    return KnownSecrets(_salt(Path.home() / STATE_FOLDER), keys)


@cache
def _salt(folder: Path) -> bytes:
    """Return this user's salt, made at its first use, so that masks stay the same over sessions.

    Without a file that can be written they stay the same within this run.
    """
    path = folder / SALT_FILE
    with suppress(OSError):
        if len(found := path.read_bytes()) >= SALT_BYTES:
            return found
    salt = os.urandom(SALT_BYTES)
    with suppress(OSError):
        write_private(path, salt)
    return salt
