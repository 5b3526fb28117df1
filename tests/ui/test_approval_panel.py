import asyncio

import pytest
from textual import events

from app.core.permission import Answered, ApprovalAnswer, ApprovalRequest, Rule, Verdict
from app.ui.approval import ScreenApprover
from app.ui.widgets.approval_panel import GRACE
from app.ui.widgets.lines_view import LinesView
from tests.ui.fake_session import FakeSession
from tests.ui.screens_in_use import pal_app

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old\n+new\n"


def edit(call="c1", **more):
    return ApprovalRequest(call, "edit_file", f"edit {call}.py", DIFF, True, "edits ask", **more)


def command(text="make", call="c2"):
    rule, wider = Rule(Verdict.ALLOW, "bash", "make *"), (Rule(Verdict.ALLOW, "bash"),)
    return ApprovalRequest(
        call, "bash", f"run {text}", text, False, "not read-only", rule, wider, editable=True
    )


async def asked(app, pilot, *requests):
    await pilot.pause()
    tasks = [asyncio.ensure_future(app.approver.ask(request)) for request in requests]
    await pilot.pause()
    return tasks


async def alone(app, pilot, *keys):
    """Press keys one at a time, each long enough after the one before to count as alone."""
    for key in keys:
        await pilot.press(key)
        while app.pair.panel.waits:
            await pilot.pause(0.01)
        await pilot.pause()


async def burst(app, pilot, text):
    """Send the characters at once, as a paste without marks or a slow line does."""
    for character in text:
        app.post_message(events.Key(character, character))
    await pilot.pause()
    while app.pair.panel.waits:
        await pilot.pause(0.01)
    await pilot.pause()


def text_of(app, part):
    shown = app.pair.panel.query_one(f"#question-{part}")
    return shown.text if isinstance(shown, LinesView) else str(shown.render())


async def test_the_question_says_what_where_and_why_under_the_chat():
    app = pal_app(FakeSession())
    async with app.run_test(size=(80, 24)) as pilot:
        (task,) = await asked(app, pilot, edit())
        assert "edit c1.py" in text_of(app, "title") and "+1" in text_of(app, "title")
        assert "1 + new" in text_of(app, "text") and "edits ask" in text_of(app, "why")
        assert app.pair.chat.display and app.pair.chat.size.height >= 3
        assert app.pair.region.contains_region(app.pair.panel.query_one("#question-keys").region)
        task.cancel()


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("y", ApprovalAnswer(Answered.YES)),
        ("a", ApprovalAnswer(Answered.ALWAYS)),
        ("escape", ApprovalAnswer(Answered.NO)),
    ],
)
async def test_one_key_answers(key, answer):
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, command())
        app.time.now += GRACE
        await alone(app, pilot, key)
        assert await task == answer
        await pilot.pause()
        assert not app.pair.panel.display and app.pair.focused is app.pair.prompt.area


async def test_the_rule_of_always_is_the_narrow_one_until_it_is_made_wider_knowingly():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        first, second = await asked(app, pilot, command(), command(call="c3"))
        app.time.now += GRACE
        assert "always  bash: make *" in text_of(app, "keys")
        await alone(app, pilot, "w")
        assert "always  bash (every call!)" in text_of(app, "keys")
        await alone(app, pilot, "w")
        assert "always  bash: make *" in text_of(app, "keys")
        await alone(app, pilot, "w", "a")
        answer = await first
        assert (answer.answered, answer.rule) == (Answered.ALWAYS, Rule(Verdict.ALLOW, "bash"))
        await pilot.pause()
        assert "always  bash: make *" in text_of(app, "keys"), "the next question is narrow again"
        app.time.now += GRACE
        await alone(app, pilot, "a")
        assert await second == ApprovalAnswer(Answered.ALWAYS)


async def test_ctrl_c_says_no():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, command())
        await pilot.press("ctrl+c")
        assert await task == ApprovalAnswer(Answered.NO)


async def test_no_takes_words_to_the_model():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, command())
        app.time.now += GRACE
        await alone(app, pilot, "n", *"use tox", "enter")
        assert await task == ApprovalAnswer(Answered.NO, words="use tox")


async def test_a_command_can_be_edited_before_it_runs():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, command())
        app.time.now += GRACE
        await alone(app, pilot, "e", *" test", "enter")
        assert await task == ApprovalAnswer(Answered.YES, edited="make test")


async def test_escape_while_writing_goes_back_to_the_question():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, command())
        app.time.now += GRACE
        await alone(app, pilot, "n", "x", "escape")
        assert not task.done() and app.pair.panel.has_focus
        await alone(app, pilot, "y")
        assert await task == ApprovalAnswer(Answered.YES)


async def test_a_word_being_typed_does_not_answer_and_lands_in_the_prompt():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, command())
        await pilot.press(*"yay")
        await pilot.press("enter")
        app.time.now += GRACE - 0.1
        await alone(app, pilot, "y")
        assert not task.done() and app.pair.prompt.area.text == "yayy"
        app.time.now += GRACE
        await alone(app, pilot, "y")
        assert await task == ApprovalAnswer(Answered.YES)


async def test_one_yes_answers_exactly_one_of_several_questions():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        tasks = await asked(
            app, pilot, command("ls", "c1"), command("rm -r build", "c2"), command("x", "c3")
        )
        assert "1 of 3" in str(app.pair.panel.border_title)
        app.time.now += GRACE
        await alone(app, pilot, "y")
        await alone(app, pilot, "y")
        await pilot.pause()
        assert [task.done() for task in tasks] == [True, False, False]
        assert "rm -r build" in text_of(app, "text")
        app.time.now += GRACE
        await alone(app, pilot, "y")
        await pilot.pause()
        assert [task.done() for task in tasks] == [True, True, False]
        tasks[2].cancel()


async def test_always_is_not_offered_without_a_rule_and_does_nothing():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, edit())
        app.time.now += GRACE
        assert "always" not in text_of(app, "keys")
        await alone(app, pilot, "a", "e")
        assert not task.done()
        task.cancel()


async def test_the_rule_that_always_would_add_is_shown():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, command())
        assert "bash: make *" in text_of(app, "keys")
        task.cancel()


@pytest.mark.parametrize(
    "char", ["\u202e", "\u200b", "\u2066", "\U000e0041", "\u00a0", "\u00ad", "\x1b"]
)
async def test_hidden_characters_are_written_out_and_flagged(char):
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, command(f"echo a{char}b"))
        assert (char not in text_of(app, "text") and "⟨" in text_of(app, "text")) or "␛" in text_of(
            app, "text"
        )
        assert "hidden characters" in text_of(app, "title")
        task.cancel()


async def test_a_plain_command_is_not_flagged():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, command("pytest -q  # läuft"))
        assert "hidden" not in text_of(app, "title")
        task.cancel()


async def test_a_cancelled_question_disappears():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, command())
        task.cancel()
        await pilot.pause()
        await pilot.pause()
        assert not app.pair.panel.display


async def test_an_answer_to_a_question_that_is_gone_does_nothing():
    approver = ScreenApprover()
    approver.answer("c1", ApprovalAnswer(Answered.YES))
    task = asyncio.ensure_future(approver.ask(edit()))
    await asyncio.sleep(0)
    approver.answer("c1", ApprovalAnswer(Answered.YES))
    approver.answer("c1", ApprovalAnswer(Answered.NO))
    assert (await task).answered is Answered.YES


@pytest.mark.parametrize(
    "text", ["no, only try", "yes but say why", "run the command touch x", "a word", "y", "aaaa"]
)
async def test_several_keys_in_one_burst_never_answer(text):
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, command())
        app.time.now += GRACE
        await burst(app, pilot, text + " ok")
        assert not task.done()
        assert app.pair.prompt.area.text == text + " ok"
        task.cancel()


async def test_keys_that_come_before_the_words_have_the_focus_are_words():
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, command())
        app.time.now += GRACE
        app.pair.panel.action_no()
        for character in "only try":  # the panel still has them when the focus moves
            app.pair.panel.post_message(events.Key(character, character))
        app.pair.panel.post_message(events.Key("enter", "\r"))
        assert await task == ApprovalAnswer(Answered.NO, words="only try")


@pytest.mark.parametrize("key", ["enter", "1", "2", "x"])
async def test_a_key_that_does_not_answer_names_those_that_do(key):
    app = pal_app(FakeSession())
    async with app.run_test() as pilot:
        (task,) = await asked(app, pilot, command())
        app.time.now += GRACE
        assert "answer with" not in text_of(app, "keys")
        await alone(app, pilot, key)
        assert not task.done() and "answer with" in text_of(app, "keys")
        assert app.pair.prompt.area.text == ""
        task.cancel()


@pytest.mark.parametrize("size", [(60, 10), (60, 12), (60, 15), (60, 19), (80, 24)])
@pytest.mark.parametrize("rows", [1, 30])
async def test_the_keys_that_answer_and_the_command_are_in_view_on_every_screen(size, rows):
    app = pal_app(FakeSession())
    async with app.run_test(size=size) as pilot:
        (task,) = await asked(app, pilot, command("\n".join(["make all"] * rows)))
        await pilot.pause()
        panel = app.pair.panel
        inside = panel.query_one("#question-keys").region
        assert inside.height and panel.content_region.contains_region(inside)
        assert app.pair.query_one("#body").region.contains_region(panel.region)
        assert not panel.query_one("#question-detail").region.overlaps(inside)
        assert panel.query_one("#question-detail").region.y < inside.y
        task.cancel()
