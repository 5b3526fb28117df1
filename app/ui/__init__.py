"""The screen, in Textual."""
