"""An endpoint's list of models, read tolerantly: servers name the window in half a dozen ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.core.requests import ModelInfo

_WINDOW_KEYS = (
    "max_input_tokens",
    "loaded_context_length",
    "context_length",
    "max_model_len",
    "context_window",
    "max_context_length",
)
_OUTPUT_KEYS = ("max_tokens", "max_output_tokens", "max_completion_tokens")


def read_model(raw: Any) -> ModelInfo | None:
    """Return the model that an entry describes, or None when it has no id."""
    if not isinstance(raw, Mapping):
        return None
    name = raw.get("id") or raw.get("name")
    if not isinstance(name, str):
        return None
    shown = raw.get("display_name") or raw.get("name")
    return ModelInfo(
        name,
        shown if isinstance(shown, str) and shown != name else "",
        _first_count(raw, _WINDOW_KEYS),
        _first_count(raw, _OUTPUT_KEYS),
    )


def read_models(body: Any) -> tuple[ModelInfo, ...]:
    """Return the models of a list's page; () for a body of another shape."""
    entries = body
    if isinstance(body, Mapping):
        entries = body.get("data", body.get("models"))
    if not isinstance(entries, list):
        return ()
    return tuple(info for info in map(read_model, entries) if info is not None)


def next_page(body: Any) -> str:
    """Return the id after which the next page begins; "" when this was the last."""
    if not isinstance(body, Mapping) or body.get("has_more") is not True:
        return ""
    last = body.get("last_id")
    return last if isinstance(last, str) else ""


def _first_count(raw: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    for key in keys:
        value = raw.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None
