"""Messages lose the secrets in their texts, and nothing that the endpoint checks."""

from __future__ import annotations

from app.core.masking import OwnKeys, masked_json, masked_message, masked_results
from app.core.messages import Image, Message, Text, Thinking, ToolResult, ToolUse, user

KEY = "sk-ant-probe-0000"
MASK = OwnKeys((KEY,))
PICTURE = Image({"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo="}})


def test_texts_calls_and_results_are_masked_and_ids_stay() -> None:
    call = ToolUse("toolu_01", "bash", {"command": f"echo {KEY}", "env": [{"A": KEY}], "n": 3})
    result = ToolResult("toolu_01", (Text(f"was {KEY}"), PICTURE))
    plain = ToolResult("toolu_02", f"{KEY}\n{KEY}", is_error=True)
    for role, blocks in (("assistant", (Text(KEY), call)), ("user", (result, plain))):
        masked = masked_message(Message(role, blocks), MASK)  # type: ignore[arg-type]
        assert KEY not in repr(masked)
        assert [type(b) for b in masked.content] == [type(b) for b in blocks]
        assert [u.id for u in masked.tool_uses] == [u.id for u in Message(role, blocks).tool_uses]  # type: ignore[arg-type]
    assert masked.tool_results[0].content[1] == PICTURE
    assert masked.tool_results[1].is_error


def test_a_message_without_a_secret_is_the_same_object() -> None:
    message = Message("assistant", (Text("hi"), ToolUse("t", "bash", {"command": "ls"})))
    assert masked_message(message, MASK) is message
    assert masked_results(user("hi"), MASK) == user("hi")


def test_thinking_with_a_secret_goes_as_a_whole_and_other_thinking_stays_signed() -> None:
    signed = Thinking({"type": "thinking", "thinking": "so", "signature": "sig"})
    leaky = Thinking({"type": "thinking", "thinking": f"it is {KEY}", "signature": "sig"})
    text = Text("done")
    assert masked_message(Message("assistant", (signed, text)), MASK).content == (signed, text)
    assert masked_message(Message("assistant", (signed, leaky, text)), MASK).content == (text,)


def test_only_results_are_masked_where_only_they_are_wanted() -> None:
    message = Message("user", (ToolResult("t", KEY), Text(KEY)))
    masked = masked_results(message, MASK)
    assert KEY not in masked.tool_results[0].text and masked.text == KEY


def test_json_keeps_its_shape() -> None:
    value = {"a": [1, None, True, f"x{KEY}"], KEY: (2.5, "y")}
    masked = masked_json(value, MASK)
    assert KEY not in repr(masked)
    assert masked["a"][:3] == [1, None, True]
    assert list(masked.values())[1] == (2.5, "y")
