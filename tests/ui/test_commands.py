import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ui.commands import BY_NAME, COMMANDS, ELSEWHERE, completions, parse, unknown
from app.ui.keymap import BY_ID, KEYS, check, shown
from app.ui.screens.pair_commands import PairCommands


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.name)
def test_every_command_has_its_method_and_help(command):
    assert callable(getattr(PairCommands, f"run_{command.name}"))
    assert command.help and command.help[-1] != "."


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.name)
def test_every_command_is_offered_by_its_first_letters(command):
    assert any(
        offer.text.strip() == f"/{command.name}" for offer in completions(f"/{command.name[:3]}")
    )


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.name)
def test_a_command_typed_in_full_is_the_first_offer(command):
    assert completions(f"/{command.name}")[0].text.strip() == f"/{command.name}"


def test_a_command_is_one_line_that_begins_with_a_slash_and_a_word():
    assert parse("/compact the parser").argument == "the parser"
    assert parse("/COMPACT").command is BY_NAME["compact"]
    assert parse("/etc/hosts is wrong") is None
    assert parse("/compact\nsecond line") is None
    assert parse("what does /compact do?") is None


def test_an_unknown_command_is_known_to_be_one_and_a_near_one_is_named():
    assert parse("/compct").command is None
    assert unknown("compct") == ("There is no command /compct.", "Did you mean /compact?")
    for name in ("zzzz", "init", "nope", ""):
        assert "Did you mean" not in unknown(name)[1]


def test_names_of_other_programs_lead_to_what_does_that_here():
    for name, here in ELSEWHERE.items():
        assert name not in BY_NAME
        assert unknown(name)[1] == f"Here that is {here}."
        named = re.findall(r"/([a-z]+)", here)
        assert all(word in BY_NAME for word in named)


@pytest.mark.parametrize("text", ["/exit0", "/2", "/do_it now", "/", "/init"])
def test_an_unknown_word_behind_a_slash_is_no_message(text):
    typed = parse(text)
    assert typed is not None and typed.command is None


@pytest.mark.parametrize("text", ["/quit", "/exit", "/q"])
def test_words_that_leave_do_so_behind_a_slash_too(text):
    assert parse(text).command is BY_NAME["quit"]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_an_argument_that_a_command_does_not_take_is_refused(command):
    assert command.refusal("") == ""
    assert all(not command.refusal(word) for word in command.choices)
    if not command.argument or command.name == "copy":
        assert "nothing was done" in command.refusal("redo")


def test_arguments_are_completed_too():
    assert [o.text for o in completions("/mode re")] == ["/mode read-only"]
    assert [o.text for o in completions("/theme so", [("nord", ""), ("solarized-light", "")])] == [
        "/theme solarized-light"
    ]


@given(st.text(max_size=30))
def test_nothing_but_a_slash_opens_the_offers(text):
    if not text.startswith("/"):
        assert completions(text) == ()


def test_each_key_has_one_name_and_each_place_binds_a_key_once():
    assert len(BY_ID) == len(KEYS)
    bound = [(key.place, name) for key in KEYS for name in key.keys.split(",")]
    assert len(bound) == len(set(bound))


def test_commands_name_real_keys():
    assert all(command.key in BY_ID for command in COMMANDS if command.key)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("ctrl+b", "Ctrl+B"),
        ("escape,q", "Esc"),
        ("f1", "F1"),
        ("shift+enter,ctrl+j", "Shift+Enter"),
        ("y", "y"),
    ],
)
def test_keys_are_shown_as_people_write_them(keys, text):
    assert shown(keys) == text


def test_a_keymap_with_an_unknown_name_is_told():
    assert check({"contxt": "ctrl+x"})[0].startswith("keymap: there is no key named 'contxt'")
    assert check({"context": "ctrl+x"}) == []
