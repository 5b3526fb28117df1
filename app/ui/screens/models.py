"""The endpoint's models, to choose one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.core.requests import ModelInfo
from app.core.visible_text import one_line, visible_text
from app.errors import PalError
from app.ui.format import short_tokens
from app.ui.screens.sheet import Sheet
from app.ui.widgets.key_footer import Hint

if TYPE_CHECKING:
    from app.agent.session import Session


class ModelScreen(Sheet[str]):
    """Returns the id of the chosen model, or None."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def title_text(self) -> str:
        return "model"

    def hint_row(self) -> tuple[Hint, ...]:
        return (Hint("Enter", "use it"), Hint("Esc", "back", "close"))

    def body(self) -> Iterable[Widget]:
        yield Static("asking the endpoint…", id="note", markup=False)
        yield OptionList(markup=False, compact=True)

    def on_mount(self) -> None:
        self.run_worker(self._load())

    async def _load(self) -> None:
        note = self.query_one("#note", Static)
        try:
            models = await self._session.models()
        except PalError as error:
            note.update(Content.styled(visible_text(f"{error}\n{error.hint}"), "$text-error"))
            return
        if not models:
            note.update(Content("This endpoint lists no models; /model NAME sets one."))
            return
        now = self._session.model
        said = f"in force: {one_line(now, 60)}" if now else "none is chosen yet"
        note.update(Content.styled(said, "$text-muted"))
        options = self.query_one(OptionList)
        options.add_options(Option(_row(model), id=model.id) for model in models)
        ids = [model.id for model in models]
        options.highlighted = ids.index(self._session.model) if self._session.model in ids else 0
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)


def _row(model: ModelInfo) -> Content:
    size = f"  {short_tokens(model.window)} window" if model.window else ""
    name = one_line(model.name, 60) if model.name != model.id else ""
    return Content.assemble(f"{one_line(model.id, 60):40}", (f" {name}{size}", "$text-muted"))
