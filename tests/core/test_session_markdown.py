from __future__ import annotations

from app.core.history import Commit, Entry, Rewound
from app.core.messages import Message, Text, Thinking, ToolResult, ToolUse, user
from app.core.reports import Layer
from app.core.rewinds import live
from app.core.session_markdown import session_markdown

ASKED = Entry(1, 1, "t1", user("hi \x1b[31mred\u202e", "a note"), spoken=(0,))
CALLED = Entry(
    2,
    2,
    "t2",
    Message(
        "assistant",
        (Thinking({"type": "thinking", "thinking": "hm"}), ToolUse("c", "bash", {"command": "ls"})),
    ),
)
ANSWERED = Entry(
    3,
    3,
    "t3",
    Message("user", (ToolResult("c", "```\na\nb", is_error=True), Text("a note"))),
    first_result=7,
)
COMMIT = Commit(4, 1, "t4", Layer.AUTO, user("[Conversation compressed."), ("m1", "m3"))


def written(*items: Entry | Commit, **options: object) -> str:
    return "".join(session_markdown("s", items, **options))  # type: ignore[arg-type]


def test_words_calls_results_and_compactions_are_told_apart() -> None:
    text = written(ASKED, CALLED, ANSWERED, COMMIT, undone={1})
    for part in (
        "# Session s",
        "## You · m1 · t1\n\nhi red⟨U+202E⟩\n",
        "> *Note of the program*",
        "## Assistant · m2",
        "**bash**",
        "**Result r7, failed**\n\n````\n```\na\nb\n````",
        "**Compaction 1 (auto, taken back later): m1 to m3**",
    ):
        assert part in text, part
    assert "hm" not in text


def test_thinking_and_long_results_are_shown_as_far_as_wanted() -> None:
    assert "> *Thinking*\n>\n> hm" in written(CALLED, thinking=True)
    assert "a\nb" not in written(ANSWERED, result_lines=2)
    assert "… 1 more lines" in written(ANSWERED, result_lines=2)


def test_what_was_rewound_is_shown_and_marked() -> None:
    text = written(ASKED, CALLED, counting=live([Rewound(9, before=2)]))
    assert "## You · m1 · t1\n" in text
    assert "## Assistant · m2 · t2 · rewound later\n" in text
