"""What the user hears when a request was changed because the endpoint did not take all of it."""

from __future__ import annotations

from app.core.events import Notice
from app.core.requests import FieldDropped, PicturesLeftOut


def mended_notice(event: FieldDropped | PicturesLeftOut) -> Notice:
    """Return the notice of such a change."""
    match event:
        case FieldDropped(name):
            return Notice(f"The endpoint does not know {name}; it is left out from now on.")
        case PicturesLeftOut(count, reason, blind):
            what = "a picture" if count == 1 else f"{count} pictures"
            one = count == 1 and not blind
            if blind:
                scope = (
                    f"The model takes no pictures: {what} and all later ones go as a line of text"
                )
            else:
                scope = f"The endpoint refused {what}, which {'goes' if one else 'go'} as a line of text from now on"
            stays = "stays" if one else "stay"
            return Notice(f"{scope}, and {stays} in the record. {reason}", warning=True)
