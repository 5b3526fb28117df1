"""The mask that finds secrets by their format and puts a name with a tag in their place."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from app.core.masking import hide
from app.core.secret_formats import find_secrets

TAG_DIGITS = 6


@dataclass(frozen=True, slots=True)
class KnownSecrets:
    """Masks this program's own keys and every secret of a known format.

    The same secret always gets the same mask, so that two can be told apart. ``salt`` makes the mask useless for
    guessing at the secret; with another salt the masks are others.
    """

    salt: bytes
    keys: tuple[str, ...] = ()

    def __call__(self, text: str) -> str:
        """Return the text without them."""
        text = hide(text, self.keys)
        parts: list[str] = []
        end = 0
        for found in find_secrets(text):
            tag = hmac.new(
                self.salt,
                text[found.start : found.end].encode("utf-8", "surrogatepass"),
                hashlib.sha256,
            )
            parts += (
                text[end : found.start],
                f"[masked {found.kind} {tag.hexdigest()[:TAG_DIGITS]}]",
            )
            end = found.end
        return "".join((*parts, text[end:])) if parts else text
