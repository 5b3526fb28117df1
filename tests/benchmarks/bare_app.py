"""The least that Textual can be: one line of text and one input."""

from textual.app import App, ComposeResult
from textual.widgets import Input, Static


class BareApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("bare")
        yield Input(placeholder="type here")


if __name__ == "__main__":
    BareApp().run()
