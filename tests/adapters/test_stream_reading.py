"""Answers from streams as compatible servers really send them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.answer_body import AnswerBody
from app.adapters.endpoint import Endpoint
from app.adapters.endpoint_errors import Call
from app.core.budget import Usage
from app.core.messages import Opaque, Text, Thinking, ToolUse, block_to_json
from app.core.requests import Answer, StopReason, TextDelta
from app.errors import ModelError, StreamBroken
from tests.wire import sse

CALL = Call(Endpoint("http://127.0.0.1:8080"), "m")


def read(body: bytes, *, size: int = 1 << 20) -> tuple[Answer, str]:
    """The answer in a body that comes in chunks of `size`, and the text shown on the way."""
    reader = AnswerBody(CALL)
    events = []
    for at in range(0, len(body), size):
        events += reader.feed(body[at : at + size])
    events += reader.end()
    return events[-1], "".join(event.text for event in events if isinstance(event, TextDelta))


WHOLE = sse.text(0, "Hello") + sse.stop() + sse.end()


def without_event_lines(body: bytes) -> bytes:
    return b"\n".join(line for line in body.split(b"\n") if not line.startswith(b"event:"))


@pytest.mark.parametrize(
    "body",
    [
        sse.start() + WHOLE,
        WHOLE,
        without_event_lines(sse.start() + WHOLE),
        without_event_lines(sse.start() + WHOLE) + b"data: [DONE]\n\n",
        (sse.start() + WHOLE).replace(b"\n", b"\r\n"),
        (sse.start() + WHOLE).replace(b"\n", b"\r"),
        (sse.start() + WHOLE).replace(b"data: ", b"data:"),
        (sse.start() + WHOLE).replace(b"\n\n", b"\n"),
        b"\xef\xbb\xbf" + sse.start() + WHOLE,
        b": hello\n\n" + sse.start() + WHOLE,
        sse.start() + sse.delta(0, "text_delta", text="Hello") + sse.stop() + sse.end(),
        sse.start() + sse.text(7, "Hel") + sse.text(3, "lo") + sse.stop() + sse.end(),
        sse.start() + sse.text(0, "Hel") + sse.text(0, "lo") + sse.stop() + sse.end(),
        sse.start() + sse.text(0, "") + sse.text(1, "Hello") + sse.stop() + sse.end(),
        sse.start()
        + sse.block_start(0, type="text", text="Hel")
        + sse.delta(0, "text_delta", text="lo")
        + sse.stop(),
        sse.start() + sse.event({"type": "brand_new_event", "x": 1}) + WHOLE,
        sse.start() + sse.delta(0, "brand_new_delta", x=1) + WHOLE,
        sse.start() + b"event: ping\ndata:\n\n" + WHOLE,
        sse.start() + b"data: 7\n\n" + WHOLE,
        sse.start() + WHOLE + b"event: x\ndata: {broken\n\n",
        sse.start() + sse.text(0, "Hello") + sse.stop(),
        json.dumps(
            {
                "type": "message",
                "content": [{"type": "text", "text": "Hello"}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 10, "output_tokens": 5},
            }
        ).encode(),
        json.dumps(
            {"type": "message", "content": "Hello", "stop_reason": "end_turn"}, indent=1
        ).encode(),
    ],
)
def test_every_dialect_of_the_stream_gives_the_same_text(body):
    for size in (1, 7, 1 << 20):
        answer, shown = read(body, size=size)
        assert "".join(block.text for block in answer.message.content) == "Hello"
        assert all(isinstance(block, Text) and block.text for block in answer.message.content)
        assert shown == "Hello"
        assert answer.stop is StopReason.END_TURN


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4), st.integers(1, 40))
def test_text_survives_any_chunking(texts, size):
    body = (
        sse.start()
        + b"".join(sse.text(i, text) for i, text in enumerate(texts))
        + sse.stop()
        + sse.end()
    )
    answer, shown = read(body, size=size)
    assert [block.text for block in answer.message.content] == texts
    assert shown == "".join(texts)


_json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=8), _json_values, max_size=4), st.integers(1, 9), st.booleans()
)
def test_the_input_of_a_call_survives_any_cut_into_pieces(arguments, size, ascii_only):
    written = json.dumps(arguments, ensure_ascii=ascii_only)
    parts = [written[i : i + size] for i in range(0, len(written), size)]
    body = sse.start() + sse.call(0, "t", *parts) + sse.stop("tool_use") + sse.end()
    answer, _ = read(body)
    assert answer.message.content == (ToolUse("toolu_1", "t", arguments),)


@given(st.binary(max_size=300))
def test_any_bytes_give_an_answer_or_one_of_our_errors(data):
    for body in (data, sse.start() + data, b"data: " + data + b"\n\n"):
        try:
            answer, _ = read(body, size=11)
        except ModelError:
            continue
        assert answer.stop_text


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_stream_cut_anywhere_before_its_stop_reason_is_no_answer(cut):
    body = sse.start() + sse.text(0, "Hello") + sse.call(1, "bash", '{"command": "ls"}')
    with pytest.raises(StreamBroken):
        read(body[: len(body) * cut // 11])


@pytest.mark.parametrize(
    ("block", "pieces", "expected"),
    [
        ({"input": {"a": 1}}, (), {"a": 1}),
        ({"input": {}}, ("",), {}),
        ({"input": ""}, (), {}),
        ({"input": ""}, ('{"a": ', "1}"), {"a": 1}),
        ({"input": '{"a": 1}'}, (), {"a": 1}),
        ({}, (), {}),
        ({"input": None}, ("  ",), {}),
        ({"input": {"old": 1}}, ('{"a": 1}',), {"a": 1}),
        ({"input": {}}, ('{"a": "line\nbreak"}',), {"a": "line\nbreak"}),
    ],
)
def test_the_input_of_a_call_is_found_wherever_the_server_puts_it(block, pieces, expected):
    body = sse.start() + sse.block_start(0, type="tool_use", id="t1", name="bash", **block)
    body += b"".join(sse.delta(0, "input_json_delta", partial_json=piece) for piece in pieces)
    answer, _ = read(body + sse.stop("tool_use") + sse.end())
    assert answer.message.content == (ToolUse("t1", "bash", expected),)


def test_calls_without_an_id_or_with_the_same_one_get_ids_of_their_own():
    body = sse.start() + sse.call(0, "a", "{}", id_="same") + sse.call(1, "b", "{}", id_="same")
    body += (
        sse.block_start(2, type="tool_use", name="c", input={}) + sse.stop("tool_use") + sse.end()
    )
    answer, _ = read(body)
    ids = [use.id for use in answer.message.tool_uses]
    assert ids[0] == "same"
    assert len(set(ids)) == 3
    assert all(ids)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("read_file", "read_file"),
        ("", "unnamed"),
        (None, "unnamed"),
        ("functions.read file", "functions_read_file"),
        ("读" * 200, "_" * 128),
    ],
)
def test_a_call_has_a_name_that_can_be_sent_back(name, kept):
    block = sse.block_start(0, type="tool_use", id="toolu_1", name=name, input={})
    answer, _ = read(sse.start() + block + sse.block_stop(0) + sse.stop("tool_use") + sse.end())
    assert [use.name for use in answer.message.tool_uses] == [kept]


def test_two_calls_at_once_keep_their_pieces_apart():
    body = sse.start()
    for index, name in enumerate("ab"):
        body += sse.block_start(index, type="tool_use", id=name, name=name, input={})
    for index, piece in ((0, '{"x"'), (1, '{"y"'), (1, ": 2}"), (0, ": 1}")):
        body += sse.delta(index, "input_json_delta", partial_json=piece)
    answer, _ = read(body + sse.stop("tool_use") + sse.end())
    assert answer.message.content == (ToolUse("a", "a", {"x": 1}), ToolUse("b", "b", {"y": 2}))


def test_a_long_input_is_joined_once_and_quickly():
    content = "x" * 2_000_000
    written = json.dumps({"content": content})
    parts = (written[i : i + 20] for i in range(0, len(written), 20))
    reader = AnswerBody(CALL)
    reader.feed(
        sse.start() + sse.block_start(0, type="tool_use", id="t", name="write_file", input={})
    )
    for part in parts:
        reader.feed(sse.delta(0, "input_json_delta", partial_json=part))
    reader.feed(sse.stop("tool_use") + sse.end())
    assert reader.end()[-1].message.tool_uses[0].input == {"content": content}


def test_empty_thinking_keeps_its_signature_and_unsigned_thinking_has_none():
    body = sse.start() + sse.block_start(0, type="thinking", thinking="", signature="")
    body += sse.delta(0, "signature_delta", signature="sig") + sse.block_stop(0)
    body += (
        sse.delta(1, "thinking_delta", thinking="local") + sse.text(2, "x") + sse.stop() + sse.end()
    )
    answer, _ = read(body)
    assert answer.message.content[:2] == (
        Thinking({"type": "thinking", "thinking": "", "signature": "sig"}),
        Thinking({"type": "thinking", "thinking": "local"}),
    )


def test_blocks_of_the_server_keep_their_place_and_their_input():
    body = (
        sse.start()
        + sse.text(0, "a")
        + sse.block_start(1, type="server_tool_use", id="s", name="web", input={})
    )
    body += sse.delta(1, "input_json_delta", partial_json='{"q": "x"}') + sse.block_stop(1)
    body += sse.text(2, "b") + sse.stop("pause_turn") + sse.end()
    answer, _ = read(body)
    assert answer.message.content == (
        Text("a"),
        Opaque({"type": "server_tool_use", "id": "s", "name": "web", "input": {"q": "x"}}),
        Text("b"),
    )
    assert answer.stop is StopReason.PAUSE_TURN


@pytest.mark.parametrize("index", [[], {}, [1], None, 1.5, True])
def test_a_place_that_is_no_number_is_no_crash(index):
    body = sse.start() + sse.block_start(index, type="text", text="")
    body += sse.delta(index, "text_delta", text="Hello") + sse.stop() + sse.end()
    answer, shown = read(body)
    assert answer.message.content == (Text("Hello"),)
    assert shown == "Hello"


@pytest.mark.parametrize("given", [1, True, "x", {}])
def test_citations_that_are_no_list_give_way_to_those_that_come(given):
    body = sse.start() + sse.block_start(0, type="text", text="a", citations=given)
    body += sse.delta(0, "citations_delta", citation={"n": 1}) + sse.stop() + sse.end()
    (block,) = read(body)[0].message.content
    assert block_to_json(block)["citations"] == [{"n": 1}]


@pytest.mark.parametrize("digits", ["1e400", "-1e400"])
def test_a_number_too_large_to_be_sent_back_becomes_one_that_can(digits):
    place = f'{{"n": {digits}}}'
    whole = sse.block_start(1, type="server_tool_use", id="s", name="w", input={"n": 17})
    body = sse.start() + sse.call(0, "t", place) + whole.replace(b"17", digits.encode())
    answer, _ = read(body + sse.stop("tool_use") + sse.end())
    for block in answer.message.content:
        assert json.loads(json.dumps(block_to_json(block), allow_nan=False))["input"]["n"]


def test_citations_are_collected():
    body = sse.start() + sse.block_start(0, type="text", text="", citations=None)
    body += sse.delta(0, "text_delta", text="x") + sse.delta(
        0, "citations_delta", citation={"n": 1}
    )
    answer, _ = read(body + sse.stop() + sse.end())
    assert answer.message.content == (Text("x", {"citations": [{"n": 1}]}),)


@pytest.mark.parametrize(
    ("start", "deltas", "expected"),
    [
        (
            {"input_tokens": 5, "cache_read_input_tokens": 90_000, "output_tokens": 1},
            [{"output_tokens": 9}],
            (5, 90_000, 0, 9),
        ),
        (
            {"input_tokens": 0, "output_tokens": 0},
            [{"input_tokens": 70, "output_tokens": 9}],
            (70, 0, 0, 9),
        ),
        ({"input_tokens": 70}, [{"input_tokens": None, "output_tokens": 9}], (70, 0, 0, 9)),
        ({"input_tokens": 70}, [{"output_tokens": n} for n in range(1, 51)], (70, 0, 0, 50)),
        ({}, [{"output_tokens": 9}], (0, 0, 0, 9)),
        ({}, [{}], None),
        ({"input_tokens": 0, "output_tokens": 0}, [{"output_tokens": 0}], None),
        ({"input_tokens": "many", "output_tokens": True}, [{"output_tokens": -3}], None),
    ],
)
def test_usage_is_the_largest_figure_and_never_a_sum(start, deltas, expected):
    body = sse.start(usage=start) + sse.text(0, "x")
    for usage in deltas:
        body += sse.event({"type": "message_delta", "delta": {}, "usage": usage})
    answer, _ = read(
        body
        + sse.event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})
        + sse.end()
    )
    assert answer.usage == (Usage(*expected) if expected else None)


@pytest.mark.parametrize(
    ("word", "calls", "stop"),
    [
        ("end_turn", False, StopReason.END_TURN),
        ("max_tokens", False, StopReason.MAX_TOKENS),
        ("stop_sequence", False, StopReason.STOP_SEQUENCE),
        ("tool_use", True, StopReason.TOOL_USE),
        ("pause_turn", False, StopReason.PAUSE_TURN),
        ("refusal", False, StopReason.REFUSAL),
        ("model_context_window_exceeded", False, StopReason.WINDOW_EXCEEDED),
        ("length", False, StopReason.MAX_TOKENS),
        ("tool_calls", True, StopReason.TOOL_USE),
        ("end_turn", True, StopReason.TOOL_USE),
        ("tool_use", False, StopReason.END_TURN),
        ("brand_new", False, StopReason.OTHER),
    ],
)
def test_every_stop_reason_is_understood_or_passed_on_as_a_word(word, calls, stop):
    body = sse.start() + sse.text(0, "x") + (sse.call(1, "t", "{}") if calls else b"")
    answer, _ = read(body + sse.stop(word) + sse.end())
    assert (answer.stop, answer.stop_text) == (stop, word)


def test_a_refusal_says_why():
    details = {"type": "refusal", "category": "cyber", "explanation": "This I cannot do."}
    answer, _ = read(sse.start() + sse.stop("refusal", stop_details=details) + sse.end())
    assert (answer.stop, answer.stop_text) == (StopReason.REFUSAL, "This I cannot do.")
    assert answer.message.content == ()


def test_an_empty_answer_with_a_stop_reason_is_an_answer_without_content():
    answer, _ = read(sse.start() + sse.stop() + sse.end())
    assert answer.message.content == ()


def test_halves_of_a_character_in_two_pieces_are_joined_and_a_lone_half_is_replaced():
    body = sse.start() + sse.block_start(0, type="text", text="")
    for half in ("a\\ud83d", "\\ude00b", "\\udc00c"):
        raw = f'{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{half}"}}}}'
        body += f"data: {raw}\n\n".encode()
    answer, shown = read(body + sse.stop() + sse.end())
    assert shown == answer.message.text == "a😀b\ufffdc"


def test_a_lone_half_in_the_input_of_a_call_is_replaced():
    body = (
        sse.start()
        + sse.call(0, "t", '{"a": "\\ud83d\\ude00 \\ud83d"}')
        + sse.stop("tool_use")
        + sse.end()
    )
    answer, _ = read(body)
    assert answer.message.tool_uses[0].input == {"a": "😀 \ufffd"}
