"""The ledger and how it is written out."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings

from app.compaction import factsheet
from app.compaction.facts import Ledger, from_json, ledger
from app.core.effects import Effects, Span
from app.core.events import TodoItem
from app.core.tokens import estimate_text
from tests.fakes.history import Call, Story, bash, edit, fails, read, stories


def told() -> Story:
    story = Story()
    story.say("fix the parser")
    story.step(
        read("app/parser.py", "x\n" * 30),
        bash("pytest -q", "2 failed\nFAILED tests/test_p.py", exit_code=1),
    )
    story.step(edit("app/parser.py"), fails(edit("app/lexer.py"), "Error: no match\nnearest: 12"))
    story.step(bash("sed -i s/a/b/ app/lexer.py", modified=("app/lexer.py",)))
    return story


def test_files_changed_by_tools_and_by_commands_are_known() -> None:
    known = ledger(told().conversation)
    assert known.modified == ("app/parser.py", "app/lexer.py")
    assert [span.path for span in known.read] == ["app/parser.py"]
    assert known.through == 7


def test_places_of_edits_and_partial_reads_move_with_the_lines_that_edits_add() -> None:
    story = Story()
    story.say("go on")
    story.step(
        read("a.py", last=90),
        Call("read_file", effects=Effects(read=(Span("a.py", 50, 60, 90),))),
        Call("edit_file", effects=Effects(modified=("a.py",), edited=(Span("a.py", 80, 81, 90),))),
        Call("edit_file", effects=Effects(modified=("a.py",), edited=(Span("a.py", 10, 19, 97),))),
    )
    places = ledger(story.conversation).places
    assert [(place.first, place.last) for place in places] == [(57, 67), (87, 88), (10, 19)]
    assert from_json(ledger(story.conversation).to_json()).places == places


def test_places_move_also_where_the_last_read_did_not_tell_the_files_length() -> None:
    story = Story()
    story.say("go on")
    story.step(
        Call("edit_file", effects=Effects(modified=("a.py",), edited=(Span("a.py", 80, 81, 90),))),
        Call("bash", effects=Effects(read=(Span("a.py", 50, 60),))),
        Call("edit_file", effects=Effects(modified=("a.py",), edited=(Span("a.py", 10, 19, 97),))),
    )
    places = ledger(story.conversation).places
    assert [(place.first, place.last) for place in places] == [(87, 88), (57, 67), (10, 19)]


def test_open_errors_stay_until_the_same_call_succeeds() -> None:
    story = told()
    assert [(e.tool, e.target, e.problem) for e in ledger(story.conversation).errors] == [
        ("bash", "pytest -q", "exit 1: FAILED tests/test_p.py"),
        ("edit_file", "app/lexer.py", "Error: no match nearest: 12"),
    ]
    story.step(bash("pytest -q", "2 passed"), edit("app/lexer.py"))
    known = ledger(story.conversation)
    assert known.errors == ()
    assert [(c.text, c.exit_code, c.times) for c in known.commands][-1] == ("pytest -q", 0, 2)


def test_a_search_that_finds_nothing_is_no_open_error() -> None:
    story = Story()
    story.say("go")
    story.step(
        bash("cat a | grep x", "", exit_code=1),
        bash("grep x b", "", exit_code=2),
        bash("make", "", exit_code=1),
    )
    assert [e.target for e in ledger(story.conversation).errors] == ["grep x b", "make"]


def test_the_users_words_are_kept_with_their_ids() -> None:
    story = told()
    story.step(bash("ls"), words="also the docs")
    assert [(w.number, w.text) for w in ledger(story.conversation).words] == [
        (1, "fix the parser"),
        (9, "also the docs"),
    ]


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(stories())
def test_a_ledger_survives_being_written_down(story: Story) -> None:
    known = ledger(story.conversation)
    assert from_json(json.loads(json.dumps(known.to_json()))) == known


def test_damaged_facts_lose_only_what_is_damaged() -> None:
    raw = {
        "modified": ["a.py"],
        "read": [["b.py", 1, 2, 3], ["c.py"], 7],
        "commands": "x",
        "through": "y",
    }
    known = from_json(raw)
    assert known.modified == ("a.py",)
    assert known.read == (Span("b.py", 1, 2, 3),)
    assert from_json({}) == Ledger()


def test_old_words_are_dropped_in_the_middle_and_counted() -> None:
    story = Story()
    for n in range(60):
        story.say(f"message {n} " + "word " * 1_000)
        story.answer("ok")
    known = ledger(story.conversation)
    assert known.words[0].text.startswith("message 0 ")
    assert known.words[-1].text.startswith("message 59 ")
    assert known.words_dropped == 60 - len(known.words) > 0
    assert sum(estimate_text(w.text) for w in known.words) <= 40_000


def test_the_sheet_lists_everything_when_there_is_room() -> None:
    todo = (TodoItem("write docs", "doing"), TodoItem("ship"))
    sheet = factsheet.render(ledger(told().conversation, todo), 2_000)
    for line in (
        "## Files modified (2)\n- app/parser.py\n- app/lexer.py",
        "- pytest -q -> exit 1",
        "## Open errors (2)",
        "- [>] write docs\n- [ ] ship",
    ):
        assert line in sheet


def test_many_read_files_are_folded_by_folder() -> None:
    story = Story()
    story.say("read all")
    for n in range(40):
        story.step(read(f"app/{'core' if n % 2 else 'ui'}/file{n}.py"))
    sheet = factsheet.render(ledger(story.conversation), 4_000)
    assert "- app/ui/ (20): file0.py, file2.py" in sheet
    assert "- app/core/ (20): file1.py" in sheet


def test_a_sheet_keeps_to_its_room_but_names_every_modified_file() -> None:
    story = Story()
    story.say("go")
    for n in range(24):
        story.step(edit(f"app/m{n}.py"), read(f"lib/r{n}.py"), bash(f"make target{n} " + "x" * 100))
    sheet = factsheet.render(ledger(story.conversation), 700)
    assert estimate_text(sheet) < 720
    assert all(f"app/m{n}.py" in sheet for n in range(24))
    assert "recall searches the record" in sheet


def test_thousands_of_modified_files_are_counted_by_folder() -> None:
    paths = tuple(f"node_modules/p{n % 9}/lib/file_{n}.js" for n in range(4_000))
    sheet = factsheet.render(Ledger(modified=("src/a.py", *paths)), 600)
    assert estimate_text(sheet) < 1_200
    assert "src" in sheet
    assert "a.py" in sheet
    assert "more" in sheet
