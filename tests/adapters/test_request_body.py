"""The bytes of a request: valid for the API whatever the conversation holds."""

from __future__ import annotations

import dataclasses
import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.request_body import EMPTY, encode_request
from app.core.messages import Image, Message, Opaque, Text, Thinking, ToolResult, ToolUse, user
from app.core.requests import CachePoint, ModelRequest, ToolSpec

TOOLS = (ToolSpec("a", "A", {"type": "object"}), ToolSpec("b", "B", {"type": "object"}))
MARK = {"type": "ephemeral"}


def request(*messages: Message, **changes: object) -> ModelRequest:
    return dataclasses.replace(
        ModelRequest("m", "sys", TOOLS, messages or (user("hi"),), 100), **changes
    )


def sent(value: ModelRequest, **options: object) -> dict:
    return json.loads(encode_request(value, **options)[0])


def marks(body: dict) -> list[tuple[int, int]]:
    """Where breakpoints stand in the messages."""
    return [
        (m, b)
        for m, message in enumerate(body["messages"])
        for b, block in enumerate(message["content"])
        if "cache_control" in block
    ]


def test_a_request_without_wishes_has_only_the_portable_fields():
    body = sent(request())
    assert list(body) == ["model", "max_tokens", "stream", "system", "tools", "messages"]
    assert body["system"] == [{"type": "text", "text": "sys", "cache_control": MARK}]
    assert body["tools"][0] == {"name": "a", "description": "A", "input_schema": {"type": "object"}}
    assert body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]


def test_without_a_system_prompt_the_last_tool_carries_the_breakpoint():
    body = sent(request(system=""))
    assert "system" not in body
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, MARK]


def test_tool_choice_none_needs_tools():
    assert sent(request(no_tools=True))["tool_choice"] == {"type": "none"}
    assert "tool_choice" not in sent(request(no_tools=True, tools=()))


def test_at_most_three_breakpoints_stand_in_the_messages():
    messages = [Message("user" if i % 2 == 0 else "assistant", (Text(str(i)),)) for i in range(9)]
    points = tuple(CachePoint(i, 0) for i in range(0, 9, 2))
    assert marks(sent(request(*messages, cache_points=points))) == [(4, 0), (6, 0), (8, 0)]


def test_a_breakpoint_never_stands_on_thinking_and_moves_with_what_is_left_out():
    thinking = Thinking({"type": "thinking", "thinking": "x", "signature": "s"})
    message = Message(
        "assistant", (Text("  "), Text("a"), Text(""), ToolUse("t", "a", {}), thinking)
    )
    at_empty = sent(request(user("q"), message, user("z"), cache_points=(CachePoint(1, 2),)))
    at_thinking = sent(request(user("q"), message, user("z"), cache_points=(CachePoint(1, 4),)))
    assert marks(at_empty) == [(1, 0)]
    assert marks(at_thinking) == [(1, 1)]
    assert "cache_control" not in at_thinking["messages"][1]["content"][2]


def test_fields_that_the_endpoint_refused_are_left_out():
    message = Message(
        "assistant", (Thinking({"type": "thinking", "thinking": "x", "signature": "s"}), Text("a"))
    )
    value = request(user("q"), message, user("z"), no_tools=True, cache_points=(CachePoint(2, 0),))
    body, optional = encode_request(value)
    assert optional == {"cache_control", "tool_choice", "thinking"}
    bare, none = encode_request(value, without=optional)
    assert none == frozenset()
    assert b"cache_control" in body
    assert not any(word in bare for word in (b"cache_control", b"tool_choice", b"thinking"))
    assert json.loads(bare)["system"] == "sys"


def test_unsigned_thinking_is_left_out_where_signatures_are_checked():
    message = Message("assistant", (Thinking({"type": "thinking", "thinking": "x"}), Text("a")))
    value = request(user("q"), message, user("z"))
    assert len(sent(value)["messages"][1]["content"]) == 2
    assert sent(value, signed_only=True)["messages"][1]["content"] == [
        {"type": "text", "text": "a"}
    ]


def test_signed_and_redacted_thinking_goes_back_exactly_as_it_came():
    raw = {"signature": "s==", "type": "thinking", "thinking": ""}
    hidden = {"type": "redacted_thinking", "data": "d=="}
    body = sent(
        request(
            user("q"), Message("assistant", (Thinking(raw), Thinking(hidden), Text("a"))), user("z")
        )
    )
    assert [list(block.items()) for block in body["messages"][1]["content"][:2]] == [
        list(raw.items()),
        list(hidden.items()),
    ]


def test_a_message_that_would_be_empty_says_so():
    body = sent(request(Message("user", (Text(""), Text(" \n")))))
    assert body["messages"][0]["content"] == [{"type": "text", "text": EMPTY}]


def test_frozen_mappings_inside_an_input_are_sent_as_objects():
    arguments = MappingProxyType({"a": MappingProxyType({"b": (1, 2)})})
    body = sent(
        request(user("q"), Message("assistant", (ToolUse("t", "a", arguments),)), user("z"))
    )
    assert body["messages"][1]["content"][0]["input"] == {"a": {"b": [1, 2]}}


_texts = st.text(st.characters(), max_size=12)
_blocks = st.one_of(
    _texts.map(Text),
    st.builds(ToolUse, st.just("t"), _texts, st.dictionaries(_texts, _texts, max_size=2)),
    st.builds(
        ToolResult,
        st.just("t"),
        _texts | st.lists(_texts.map(Text), max_size=3).map(tuple),
        st.booleans(),
    ),
    _texts.map(lambda text: Thinking({"type": "thinking", "thinking": text, "signature": "s"})),
    _texts.map(lambda text: Opaque({"type": "other", "x": text})),
    st.just(Image({"type": "image", "source": {"type": "base64", "data": "AA=="}})),
)
_messages = st.lists(
    st.builds(
        Message, st.sampled_from(["user", "assistant"]), st.lists(_blocks, max_size=5).map(tuple)
    ),
    max_size=5,
)


@given(
    _messages,
    st.lists(st.builds(CachePoint, st.integers(0, 6), st.integers(0, 6)), max_size=5),
    _texts,
)
def test_every_request_is_utf8_without_empty_text_and_with_at_most_four_breakpoints(
    messages, points, system
):
    value = request(*messages, cache_points=tuple(points), system=system)
    data, _ = encode_request(value)
    assert data == encode_request(value)[0]
    body = json.loads(data.decode("utf-8"))
    written = json.dumps(body, ensure_ascii=False)
    written.encode("utf-8")
    assert written.count('"cache_control"') <= 4
    for message in body["messages"]:
        assert message["content"]
        for block in message["content"]:
            parts = [block, *(block["content"] if isinstance(block.get("content"), list) else ())]
            assert all(part["text"].strip() for part in parts if part["type"] == "text")


@given(st.text())
def test_a_text_that_utf8_can_carry_is_not_changed(text):
    body = sent(request(user("x" + text)))
    assert body["messages"][0]["content"][0]["text"] == "x" + text


@pytest.mark.parametrize(
    ("text", "carried"), [("a\ud83db", "a\ufffdb"), ("\ud83d\ude00", "😀"), ("\udce4", "\ufffd")]
)
def test_lone_halves_of_characters_are_replaced_and_pairs_joined(text, carried):
    body = sent(
        request(user(text), Message("assistant", (ToolUse("t", "a", {text: [text]}),)), system=text)
    )
    assert body["messages"][0]["content"][0]["text"] == carried
    assert body["messages"][1]["content"][0]["input"] == {carried: [carried]}
    assert body["system"][0]["text"] == carried
