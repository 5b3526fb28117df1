"""Each rule of the Messages API that the validator knows."""

from __future__ import annotations

import pytest

from app.core.messages import Message, Text, Thinking, ToolResult, ToolUse, user
from tests.fakes.message_rules import problems

CALL = ToolUse("t1", "bash", {"command": "ls"})
THOUGHT = Thinking({"type": "thinking", "thinking": "hm", "signature": "x"})


def assistant(*blocks) -> Message:
    return Message("assistant", blocks)


def results(*blocks) -> Message:
    return Message("user", blocks)


def test_a_valid_exchange_has_no_problems() -> None:
    messages = (
        user("hi"),
        assistant(THOUGHT, CALL),
        results(ToolResult("t1", "ok"), Text("and go on")),
    )
    assert problems(messages) == ()


def test_a_paused_answer_may_end_with_the_assistant() -> None:
    messages = (user("hi"), assistant(Text("wait")))
    assert problems(messages) != ()
    assert problems(messages, continuing=True) == ()


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ((), "no message"),
        ((assistant(Text("x")), user("y")), "first message"),
        ((user("x"), assistant(Text("y"))), "last message"),
        ((user("x"), user("y")), "same role"),
        ((Message("user", ()),), "no content"),
        ((user(" \n"),), "empty text"),
        ((user("x"), assistant(CALL), user("y")), "not answered"),
        ((user("x"), assistant(Text("y")), results(ToolResult("t1", "ok"))), "did not ask"),
        ((results(ToolResult("t1", "ok")),), "result without a call"),
        (
            (user("x"), assistant(CALL), results(Text("y"), ToolResult("t1", "ok"))),
            "after other content",
        ),
        (
            (user("x"), assistant(CALL), results(ToolResult("t1", "a"), ToolResult("t1", "b"))),
            "two results",
        ),
        (
            (
                user("x"),
                assistant(CALL),
                results(ToolResult("t1", "a")),
                assistant(CALL),
                results(ToolResult("t1", "a")),
            ),
            "used before",
        ),
        ((user("x\ud800"),), "lone surrogate"),
        ((user("x"), assistant(Text("a"), THOUGHT), user("y")), "last block is thinking"),
        ((Message("user", (CALL,)),), "call in a user message"),
    ],
)
def test_each_broken_rule_is_named(messages: tuple[Message, ...], said: str) -> None:
    assert any(said in problem for problem in problems(messages))
