"""Every setting with its value and source; those of the layers change at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from app.core.visible_text import one_line, visible_text
from app.errors import PalError
from app.settings import DEFAULT, SettingRow, rows, set_value
from app.ui.keymap import Place, bindings
from app.ui.screens.settings_in_force import apply_settings, keep_settings
from app.ui.screens.sheet import Sheet
from app.ui.widgets.key_footer import Hint

if TYPE_CHECKING:
    from app.ui.screens.pair import PairScreen

CREDENTIALS = {"api_key": "ANTHROPIC_API_KEY", "auth_token": "ANTHROPIC_AUTH_TOKEN"}
"""Settings that a command line would show to everyone on the machine, and where they belong instead."""


class SettingsScreen(Sheet[None]):
    """The list, and one line to change what is chosen.

    Args:
        pair: The screen whose settings these are; it applies a change.
        word: What to search for at first.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings(Place.SETTINGS))

    def __init__(self, pair: PairScreen, word: str = "") -> None:
        super().__init__()
        self._pair = pair
        self._word = word
        self._rows: dict[str, SettingRow] = {}

    def title_text(self) -> str:
        return "settings"

    def hint_row(self) -> tuple[Hint, ...]:
        return (
            Hint("Enter", "change"),
            Hint("Ctrl+S", "keep for all sessions", "save"),
            Hint("type", "to search"),
            Hint("Esc", "back", "close"),
        )

    def body(self) -> Iterable[Widget]:
        yield Input(
            self._word, placeholder="search", compact=True, select_on_focus=False, id="search"
        )
        yield OptionList(markup=False, compact=True)
        yield Static(id="about", markup=False)
        yield Input(id="value", compact=True, disabled=True)

    def on_mount(self) -> None:
        self._fill()
        self.query_one(OptionList).focus()

    def on_key(self, event: events.Key) -> None:
        """Let typing search and an arrow go back to the list, as in the other sheets with a list."""
        search, options = self.query_one("#search", Input), self.query_one(OptionList)
        if options.has_focus and event.is_printable and (event.character or "").strip():
            search.focus()
            search.insert_text_at_cursor(event.character or "")
        elif options.has_focus and event.key == "ctrl+u":
            search.value = ""
        elif search.has_focus and event.key == "down":
            options.focus()
        else:
            return
        event.stop()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "search":
            self._word = event.value
            self.query_one(OptionList).highlighted = 0
            self._fill()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "search":
            self._edit(self._chosen())
        else:
            self._change(event.value)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        row = self._rows.get(event.option.id or "")
        if row is not None:
            when = "" if row.live else " Takes effect at the next start."
            self._about(f"{row.help}{when}\nallowed: {row.allowed}", "$text-muted")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._edit(self._rows.get(event.option.id or ""))

    def _edit(self, row: SettingRow | None) -> None:
        """Open the line in which a setting is changed."""
        if row is None:
            return
        if not row.live:
            self._about(f"{row.name} takes effect at the next start: {_how(row)}", "$text-warning")
            return
        value = self.query_one("#value", Input)
        value.disabled = False
        value.value = row.value
        value.focus()

    def action_close(self) -> None:
        """Close the line that is being edited first."""
        value = self.query_one("#value", Input)
        if value.has_focus:
            value.disabled = True
            self.query_one(OptionList).focus()
        else:
            self.dismiss(None)

    def action_search(self) -> None:
        self.query_one("#search", Input).focus()

    def action_save(self) -> None:
        row, save = self._chosen(), self.app_save
        value = self.query_one("#value", Input)
        if value.has_focus:
            if not self._change(value.value):
                return
            row = self._chosen()
        if row is None or save is None:
            return
        try:
            save(row.name, row.value)
        except PalError as error:
            self._about(f"{str(error).rstrip('.')}. {error.hint}", "$text-error")
            return
        except OSError as error:
            self._about(f"It cannot be kept: {error.strerror}", "$text-error")
            return
        self._about(f"{row.name} = {row.value} is kept in your settings file.", "$text-success")

    @property
    def app_save(self) -> Callable[[str, str], None] | None:
        """What writes to the user's settings file."""
        return self._pair.app.wiring.save_setting

    def _change(self, text: str) -> bool:
        """Put a value in force; return whether that worked."""
        row = self._chosen()
        if row is None:
            return False
        try:
            apply_settings(self._pair, set_value(keep_settings(self._pair), row.name, text))
        except PalError as error:
            self._about(f"{str(error).rstrip('.')}. {error.hint}", "$text-error")
            return False
        self.query_one("#value", Input).disabled = True
        self._fill()
        self.query_one(OptionList).focus()
        self._about(f"{row.name} = {self._rows[row.name].value}, in force now", "$text-success")
        return True

    def _chosen(self) -> SettingRow | None:
        option = self.query_one(OptionList).highlighted_option
        return self._rows.get(option.id or "") if option is not None else None

    def _about(self, text: str, style: str) -> None:
        self.query_one("#about", Static).update(Content.styled(visible_text(text), style))

    def _fill(self) -> None:
        wanted = self._word.casefold()
        found = [
            row
            for row in rows(keep_settings(self._pair))
            if wanted in f"{row.name} {row.help} {row.source}".casefold()
        ]
        found.sort(key=lambda row: 0 if row.name == wanted else 1 if wanted in row.name else 2)
        self._rows = {row.name: row for row in found}
        options = self.query_one(OptionList)
        at = options.highlighted or 0
        options.set_options(
            Option(_row(row, self._shown(row)), id=row.name) for row in self._rows.values()
        )
        if not found:
            self._about(f"No setting fits “{self._word}”; Ctrl+U shows all again.", "$text-warning")
        options.highlighted = min(at, options.option_count - 1) if options.option_count else None

    def _shown(self, row: SettingRow) -> str:
        if row.name == "model" and self._pair.settings.embedded:
            return "(the embedded demo model)"
        return one_line(row.value, 40) or "(none)"


def _how(row: SettingRow) -> str:
    if (variable := CREDENTIALS.get(row.name)) is not None:
        return f"{variable} in the environment or in .env, never on a command line"
    return f"--set {row.name}=…"


def _row(row: SettingRow, value: str) -> Content:
    set_by_someone = row.source != DEFAULT
    return Content.assemble(
        (f"{row.name:26}", "bold" if set_by_someone else ""),
        (f"{value:28}", "$text-primary" if set_by_someone else ""),
        (f"  {row.source}{'' if row.live else ' · restart'}", "$text-muted"),
    )
