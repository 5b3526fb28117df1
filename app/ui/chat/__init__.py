"""The rooms behind the chat pane: what it holds, how that becomes rows, and how rows are scrolled."""
