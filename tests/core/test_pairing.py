"""A conversation with holes can be sent; one without comes out as it went in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.core.conversation import replay
from app.core.history import Entry
from app.core.messages import Message, Text, Thinking, ToolResult, ToolUse, user
from app.core.pairing import LOST_BEGINNING, LOST_CALL, LOST_RESULT
from tests.fakes.history import Story, stories
from tests.fakes.message_rules import problems


def sent(*messages: Message | None) -> tuple[Message, ...]:
    """The view of a record in which the None messages are lost."""
    entries = [
        Entry(at, at, "", message, first_result=at if message.tool_results else 0)
        for at, message in enumerate(messages, 1)
        if message is not None
    ]
    return replay(entries).view().messages


ASK = user("look")
CALL = Message("assistant", (ToolUse("a", "bash", {}), ToolUse("b", "bash", {})))
RESULT = Message("user", (ToolResult("a", "one"), ToolResult("b", (Text("two"),))))
END = Message("assistant", (Text("seen"),))


def test_a_lost_result_is_said_to_be_lost_where_it_stood() -> None:
    assert sent(ASK, CALL, RESULT, END, ASK) == (ASK, CALL, RESULT, END, ASK)
    call, results, end = sent(ASK, CALL, None, END, ASK)[1:4]
    assert (call, end) == (CALL, END)
    assert [(r.tool_use_id, r.text, r.is_error) for r in results.tool_results] == [
        ("a", LOST_RESULT, True),
        ("b", LOST_RESULT, True),
    ]


def test_results_whose_call_is_lost_stay_as_text() -> None:
    (only,) = sent(ASK, None, RESULT)
    assert not only.tool_results
    assert [b.text for b in only.content] == [LOST_CALL, "one", LOST_CALL, "two", "look"]


def test_a_conversation_that_begins_with_an_answer_gets_a_beginning() -> None:
    first, second = sent(None, END)
    assert (first, second) == (user(LOST_BEGINNING), END)


def test_an_id_that_comes_again_is_told_apart_with_its_result() -> None:
    view = sent(ASK, CALL, RESULT, END, ASK, CALL, RESULT, END, ASK, CALL)
    assert not problems(view[:-1])
    ids = [call.id for message in view for call in message.tool_uses]
    assert len(ids) == len(set(ids)) == 6
    results = [result.text for result in view[6].tool_results]
    assert results == ["one", "two"]


def test_a_block_that_only_the_other_side_sends_is_left_out() -> None:
    asked = Message(
        "user", (Text("look"), ToolUse("x", "bash", {}), Thinking({"type": "thinking"}))
    )
    said = Message("assistant", (Text("seen"), ToolResult("y", "none")))
    assert sent(asked, said, ASK) == (ASK, END, ASK)


def test_open_calls_at_the_end_stay_open() -> None:
    assert sent(ASK, CALL) == (ASK, CALL)


@given(stories(), st.data())
def test_whatever_messages_are_lost_the_request_is_valid(story: Story, data: st.DataObject) -> None:
    entries = [item for item in story.items if isinstance(item, Entry)]
    lost = data.draw(st.sets(st.sampled_from(range(len(entries))), max_size=4))
    left = [entry for at, entry in enumerate(entries) if at not in lost]
    calls = left[-1].message.tool_uses if left else ()
    closing = (*(ToolResult(call.id, "interrupted") for call in calls), Text("and on"))
    last = Entry(10_000, 10_000, "", Message("user", closing))
    messages = replay([*left, last]).view().messages
    assert problems(messages) == ()
