"""What stands in the prompt as a chip: large pastes and pictures, sent whole in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.core.visible_text import one_line
from app.ui.format import plural

if TYPE_CHECKING:
    from app.core.messages import Image

FOLD_LINES = 10
FOLD_CHARS = 1_200
"""A paste with as many lines or characters is folded."""
REFOLD = 4
"""A text that comes back to the prompt is folded only when it is so many times larger: it may be meant for editing."""
MOST_CHARS = 40_000_000
"""Characters kept of folded things; beyond that the oldest go."""
CHIP = re.compile(r"\[(?:Pasted text|Image) #(\d+)(?: [^\]\n]*)?\]")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that goes with a message."""

    block: Image
    label: str
    """What its chip says besides the number, such as ``shot.png, 640x480``."""

    @property
    def size(self) -> int:
        """Characters of its encoded data."""
        return len(str(self.block.raw["source"]["data"]))


@dataclass(slots=True)
class Folded:
    """The folded things of one prompt box, by number.

    No number is used twice, so that a chip which comes back with an earlier text still stands for the same thing.
    """

    things: dict[int, str | Picture] = field(default_factory=dict)
    last: int = 0

    def paste(self, text: str) -> str:
        """Fold a text; return its chip."""
        lines = text.count("\n") + (not text.endswith("\n"))
        size = f"+{plural(lines, 'line')}" if lines > 1 else f"+{len(text):,} characters"
        return f"[Pasted text #{self._add(text)} {size}]"

    def picture(self, picture: Picture) -> str:
        """Fold a picture; return its chip."""
        label = re.sub(r"[\[\]]", "_", one_line(picture.label, 60))
        return f"[Image #{self._add(picture)} {label}]"

    def folded_if_large(self, text: str, times: int = 1) -> str:
        """Return the chip of a large text, or the text itself."""
        large = text.count("\n") + 1 >= times * FOLD_LINES or len(text) >= times * FOLD_CHARS
        return self.paste(text) if large else text

    def whole(self, text: str) -> str:
        """Return a text with every folded paste in full; chips of pictures stay, to say which is meant."""
        return CHIP.sub(lambda m: kept if isinstance(kept := self._of(m), str) else m[0], text)

    def pictures(self, text: str) -> tuple[Image, ...]:
        """Return the pictures whose chips stand in a text, each once, in their order."""
        found = {int(m[1]): self._of(m) for m in CHIP.finditer(text)}
        return tuple(thing.block for thing in found.values() if isinstance(thing, Picture))

    def with_pictures(self, text: str, pictures: Sequence[Image]) -> str:
        """Return an earlier text with chips that stand for its pictures, also where an earlier run made them."""
        if self.pictures(text) == tuple(pictures):
            return text
        chips = list(dict.fromkeys(m[0] for m in CHIP.finditer(text) if m[0].startswith("[Image")))
        if len(chips) != len(pictures):  # other words look like chips
            return " ".join((text, *(self.picture(Picture(block, "")) for block in pictures)))
        new = {
            chip: self.picture(Picture(block, chip.rstrip("]").partition("#")[2].partition(" ")[2]))
            for chip, block in zip(chips, pictures, strict=True)
        }
        return CHIP.sub(lambda m: new.get(m[0], m[0]), text)

    def pastes(self, text: str) -> dict[int, str]:
        """Return the folded pastes whose chips stand in a text, by number."""
        found = {int(m[1]): self._of(m) for m in CHIP.finditer(text)}
        return {number: thing for number, thing in found.items() if isinstance(thing, str)}

    def restore(self, pastes: dict[int, str]) -> None:
        """Take back the pastes of an earlier run."""
        self.things |= pastes
        self.last = max((self.last, *pastes))

    def _of(self, chip: re.Match[str]) -> str | Picture | None:
        thing = self.things.get(int(chip[1]))
        is_picture = chip[0].startswith("[Image")
        return thing if isinstance(thing, Picture) == is_picture else None

    def _add(self, thing: str | Picture) -> int:
        self.last += 1
        self.things[self.last] = thing
        total = sum(_size(kept) for kept in self.things.values())
        for number in list(self.things)[:-1]:
            if total <= MOST_CHARS:
                break
            total -= _size(self.things.pop(number))
        return self.last


def _size(thing: str | Picture) -> int:
    return len(thing) if isinstance(thing, str) else thing.size
