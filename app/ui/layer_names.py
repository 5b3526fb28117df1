"""What the layers are called and what they do, in one table: log, chart, chat, help and panel take it from here."""

from __future__ import annotations

from dataclasses import dataclass

from app.core.reports import Layer


@dataclass(frozen=True, slots=True)
class LayerName:
    """One layer as people read of it."""

    number: str
    """Its digit: the mark in the chart."""
    name: str
    """One word."""
    run: str
    """What one run of it is called."""
    waits: str
    """What it waits for while it has not run."""
    does: str
    """What it does, in a sentence."""

    @property
    def title(self) -> str:
        """``1 micro``."""
        return f"{self.number} {self.name}"

    @property
    def numbered(self) -> str:
        """``layer 1``."""
        return f"layer {self.number}"


NAMES: dict[Layer, LayerName] = {
    Layer.ENTRY: LayerName(
        "0",
        "entry",
        "shortened on entry",
        "stores very large tool results",
        "a very large tool result is stored whole; its head and tail enter",
    ),
    Layer.MICRO: LayerName(
        "1",
        "micro",
        "micro compact",
        "clears old tool results",
        "old tool results become one line each; the model can recall them",
    ),
    Layer.AUTO: LayerName(
        "2",
        "auto",
        "auto compact",
        "summarises above the threshold",
        "above the threshold the history becomes a summary, facts and your own words",
    ),
    Layer.MANUAL: LayerName(
        "3",
        "manual",
        "manual compact",
        "/compact, or the model's own compact tool",
        "the same when you say /compact or the model calls its compact tool",
    ),
}
SUMMARISING = (Layer.AUTO, Layer.MANUAL)
"""The layers that replace the history."""
