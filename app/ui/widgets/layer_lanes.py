"""Three lines: what each layer did last, or what it waits for."""

from __future__ import annotations

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from app.core.reports import CompactionReport, Layer
from app.ui.format import tokens
from app.ui.layer_names import NAMES
from app.ui.report_text import STYLES, row

LANES = (Layer.MICRO, Layer.AUTO, Layer.MANUAL)
"""Layer 0 shares the first."""


class LayerLanes(Widget):
    """The newest event of each layer, always in sight."""

    threshold: reactive[int] = reactive(0)
    """Tokens above which layer 2 runs; 0 when it is off."""

    class Clicked(Message):
        """A lane was clicked."""

        def __init__(self, report: CompactionReport | None) -> None:
            super().__init__()
            self.report = report

    def __init__(self) -> None:
        super().__init__()
        self._newest: dict[Layer, CompactionReport] = {}

    def show(self, report: CompactionReport) -> None:
        """Make a report the newest of its lane."""
        lane = Layer.MICRO if report.layer is Layer.ENTRY else report.layer
        self._newest[lane] = report
        self.refresh()

    def forget(self) -> None:
        """Empty all lanes."""
        self._newest.clear()
        self.refresh()

    def render(self) -> Content:
        rows = [self._lane(layer).truncate(self.size.width, ellipsis=True) for layer in LANES]
        return Content("\n").join(rows)

    def _lane(self, layer: Layer) -> Content:
        report = self._newest.get(layer)
        if report is not None:
            return Content.styled(row(report), STYLES[report.outcome])
        name = NAMES[layer]
        waits = name.waits
        if layer is Layer.AUTO:
            waits = f"summarises above {tokens(self.threshold)} tokens" if self.threshold else "off"
        return Content.styled(f"{name.title:8}  {waits}", "$text-muted")

    def on_click(self, event: Click) -> None:
        at = event.get_content_offset(self)
        lane = LANES[at.y] if at is not None and 0 <= at.y < len(LANES) else None
        self.post_message(self.Clicked(self._newest.get(lane) if lane else None))
