"""The demo model's notes: read back by itself, and shown as they are by Markdown."""

from __future__ import annotations

from markdown_it import MarkdownIt

from app.adapters.demo.notes import files_note, listed_files, named, plain

PATHS = ["a/__init__.py", "a/__main__.py", "b_*c.py"]


def shown(markdown: str) -> str:
    (inline,) = [t for t in MarkdownIt().parse(markdown) if t.type == "inline"]
    return "".join(child.content for child in inline.children or [])


def test_a_list_of_files_is_read_back():
    assert listed_files(files_note(PATHS)) == PATHS


def test_names_with_underscores_are_shown_whole():
    assert "__init__.py __main__.py" in shown(files_note(PATHS))
    assert "__init__.py, __main__.py" in shown(" ".join(named(PATHS, most=1)))
    assert shown(plain("`__main__`\\")) == "`__main__`\\"
