import json

import anthropic
import pytest

from app.adapters.demo import DEMO_BASE_URL, DEMO_MODEL_ID
from app.adapters.demo.transport import DemoTransport

SYSTEM = "You pair-program. " * 300
TOOLS = [
    {
        "name": name,
        "description": f"the tool {name}",
        "input_schema": {"type": "object", "properties": {}},
    }
    for name in ("bash", "read_file", "list_files")
]
MARK = {"type": "ephemeral"}


def client(**options):
    transport = DemoTransport(delay=0, **options)
    http = anthropic.DefaultAsyncHttpxClient(transport=transport)
    return anthropic.AsyncAnthropic(
        api_key="k", base_url=DEMO_BASE_URL, max_retries=0, http_client=http
    )


def ask(*messages, **fields):
    return {
        "model": DEMO_MODEL_ID,
        "max_tokens": 1_000,
        "system": [{"type": "text", "text": SYSTEM, "cache_control": MARK}],
        "tools": TOOLS,
        "messages": list(messages),
        **fields,
    }


def said(text, *, marked=False):
    block = {"type": "text", "text": text}
    return {"role": "user", "content": [{**block, "cache_control": MARK} if marked else block]}


def called(id_="toolu_1", name="read_file", arguments=None):
    block = {"type": "tool_use", "id": id_, "name": name, "input": arguments or {"path": "a.py"}}
    return {"role": "assistant", "content": [block]}


def answered(id_="toolu_1", text="1│x = 1"):
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": id_, "content": text}],
    }


async def stream(api, body):
    async with api.messages.stream(**body) as events:
        kinds = [event.type async for event in events]
        return kinds, await events.get_final_message()


async def test_an_answer_streams_in_small_pieces_and_ends_with_its_stop_event():
    async with client() as api:
        kinds, message = await stream(api, ask(said("who are you?")))
    assert kinds.count("text") > 20
    assert kinds[-1] == "message_stop"
    assert message.stop_reason == "end_turn"
    assert "script" in message.content[0].text


async def test_a_tool_call_streams_its_input_and_stops_for_the_tool():
    async with client() as api:
        kinds, message = await stream(api, ask(said("read a.py")))
    assert "input_json" in kinds
    assert message.stop_reason == "tool_use"
    call = message.content[-1]
    assert (call.name, call.input) == ("read_file", {"path": "a.py"})


async def test_an_answer_without_streaming_is_the_same():
    async with client() as api:
        _, streamed = await stream(api, ask(said("read a.py")))
        whole = await api.messages.create(**ask(said("read a.py")))
    assert whole.content[-1].input == streamed.content[-1].input
    assert whole.content[-1].id == streamed.content[-1].id


async def test_the_models_list_tells_the_window():
    async with client() as api:
        page = await api.models.list()
        one = await api.models.retrieve(DEMO_MODEL_ID)
        with pytest.raises(anthropic.NotFoundError):
            await api.models.retrieve("claude-x")
    assert [model.id for model in page.data] == [DEMO_MODEL_ID]
    assert one.max_input_tokens == 200_000


async def test_counting_tokens_agrees_with_the_bill():
    async with client() as api:
        body = ask(said("hello there"))
        counted = await api.messages.count_tokens(
            **{key: value for key, value in body.items() if key != "max_tokens"}
        )
        usage = (await api.messages.create(**body)).usage
    billed = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
    assert counted.input_tokens == billed


async def usages(api, *bodies):
    return [(await api.messages.create(**body)).usage for body in bodies]


async def test_a_second_request_reads_what_the_first_one_wrote():
    long = "word " * 3_000
    first = ask(said(long, marked=True))
    second = ask(said(long, marked=True), called(), answered(), stream=False)
    async with client() as api:
        one, two = await usages(api, first, second)
    assert one.cache_read_input_tokens == 0
    assert one.cache_creation_input_tokens > 3_000
    assert two.cache_read_input_tokens == one.cache_creation_input_tokens
    assert two.input_tokens > 0


async def test_a_changed_message_is_read_only_up_to_the_breakpoint_before_it():
    long = "word " * 3_000
    async with client() as api:
        one, two = await usages(
            api, ask(said(long, marked=True)), ask(said(long + "!", marked=True))
        )
    assert 0 < two.cache_read_input_tokens < one.cache_creation_input_tokens
    assert two.cache_creation_input_tokens > 3_000


async def test_without_breakpoints_nothing_is_cached():
    body = ask(said("word " * 3_000), system=SYSTEM)
    async with client() as api:
        _, two = await usages(api, body, body)
    assert (two.cache_read_input_tokens, two.cache_creation_input_tokens) == (0, 0)


async def test_a_cached_prefix_dies_five_minutes_after_its_last_use():
    time = [0.0]
    body = ask(said("word " * 3_000, marked=True))
    async with client(now=lambda: time[0]) as api:
        one = (await usages(api, body))[0]
        time[0] = 299.0
        two = (await usages(api, body))[0]
        time[0] = 299.0 + 301.0
        three = (await usages(api, body))[0]
    assert two.cache_read_input_tokens == one.cache_creation_input_tokens
    assert three.cache_read_input_tokens == 0


async def test_a_breakpoint_looks_back_twenty_blocks_and_no_further():
    def turns(count):
        blocks = [{"type": "text", "text": f"block {at} " * 40} for at in range(count)]
        blocks[-1] = {**blocks[-1], "cache_control": MARK}
        return ask({"role": "user", "content": blocks}, system=SYSTEM)

    async with client() as api:
        one, near = await usages(api, turns(5), turns(5 + 19))
    async with client() as api:
        _, far = await usages(api, turns(5), turns(5 + 20))
    assert near.cache_read_input_tokens == one.cache_creation_input_tokens
    assert far.cache_read_input_tokens == 0


async def test_a_short_prefix_is_not_cached():
    body = ask(said("hi", marked=True), system="short", tools=[])
    async with client() as api:
        _, two = await usages(api, body, body)
    assert two.cache_read_input_tokens == 0


REFUSED = {
    "no messages": (ask(), "at least one message"),
    "assistant first": (ask(called(), answered()), 'must use the "user" role'),
    "assistant last": (ask(said("a"), called()), "prefill"),
    "two users": (ask(said("a"), said("b")), "alternate"),
    "system role": (ask({"role": "system", "content": "x"}), "role"),
    "empty text": (ask(said("")), "non-empty"),
    "blank text": (ask(said(" \n")), "non-whitespace"),
    "no content": (ask({"role": "user", "content": []}), "non-empty content"),
    "unanswered call": (ask(said("a"), called(), said("b")), "without `tool_result`"),
    "result without a call": (
        ask(said("a"), called(), answered("toolu_2")),
        "unexpected `tool_use_id`",
    ),
    "result without any call": (ask(answered()), "unexpected `tool_use_id`"),
    "text before the result": (
        ask(
            said("a"),
            called(),
            {"role": "user", "content": said("b")["content"] + answered()["content"]},
        ),
        "without `tool_result`",
    ),
    "two results": (
        ask(said("a"), called(), {"role": "user", "content": answered()["content"] * 2}),
        "single result",
    ),
    "the same id twice": (ask(said("a"), called(), answered(), called(), answered()), "unique"),
    "unknown key": (ask({**said("a"), "id": "m1"}), "Extra inputs"),
    "unknown block key": (
        ask({"role": "user", "content": [{"type": "text", "text": "a", "caller": None}]}),
        "Extra inputs",
    ),
    "unknown field": (ask(said("a"), extra_body={"temperature": 0}), "temperature"),
    "five breakpoints": (
        ask({"role": "user", "content": said("a", marked=True)["content"] * 4}),
        "maximum of 4",
    ),
    "too much output": (ask(said("a"), max_tokens=1_000_000, stream=True), "maximum allowed"),
    "thinking without a signature": (
        ask(
            said("a"),
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]},
            said("b"),
        ),
        "signature",
    ),
    "tool name": (ask(said("a"), tools=[{**TOOLS[0], "name": "a b"}]), "name"),
    "tools twice": (ask(said("a"), tools=[TOOLS[0], TOOLS[0]]), "unique"),
}


@pytest.mark.parametrize("case", REFUSED, ids=str)
async def test_a_request_that_the_api_refuses_is_refused(case):
    body, words = REFUSED[case]
    async with client() as api:
        with pytest.raises(anthropic.BadRequestError) as refused:
            await api.messages.create(**body)
    assert words in str(refused.value)
    assert refused.value.type == "invalid_request_error"


async def test_a_request_over_the_window_is_refused_with_both_numbers():
    async with client(window=2_000) as api:
        with pytest.raises(anthropic.BadRequestError, match=r"too long: \d+ tokens > 2000 maximum"):
            await api.messages.create(**ask(said("word " * 3_000)))


async def test_another_model_is_not_found():
    async with client() as api:
        with pytest.raises(anthropic.NotFoundError):
            await api.messages.create(**ask(said("a"), model="claude-x"))


async def test_an_answer_longer_than_max_tokens_is_cut():
    async with client() as api:
        message = await api.messages.create(**ask(said("who are you?"), max_tokens=20))
    assert message.stop_reason == "max_tokens"
    assert message.usage.output_tokens <= 20


async def test_without_tools_the_answer_is_text():
    async with client() as api:
        message = await api.messages.create(**ask(said("read a.py"), tool_choice={"type": "none"}))
    assert [block.type for block in message.content] == ["text"]
    assert "not offered" in message.content[0].text


async def test_signed_thinking_goes_back_and_is_bound_to_what_stands_before_it():
    async with client(thinking=True) as api:
        first = ask(said("read a.py"))
        message = await api.messages.create(**first)
        assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
        turn = {"role": "assistant", "content": [block.to_dict() for block in message.content]}
        result = answered(message.content[-1].id)
        await api.messages.create(**ask(said("read a.py"), turn, result))
        with pytest.raises(anthropic.BadRequestError, match="Invalid `signature`"):
            await api.messages.create(**ask(said("read a.py "), turn, result))
        unsigned = {**turn, "content": turn["content"][1:]}
        await api.messages.create(**ask(said("read a.py "), unsigned, result))


async def test_the_answer_depends_on_the_messages_alone():
    async with client() as one, client() as two:
        body = ask(said("read a.py"), called(), answered())
        await one.messages.create(**ask(said("something else")))
        first = await one.messages.create(**body)
        second = await two.messages.create(**body)
    assert first.content == second.content


def test_importing_the_package_imports_no_client():
    import subprocess
    import sys

    code = "import sys, app.adapters.demo; print(json.dumps([m for m in ('anthropic', 'httpx2') if m in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", "import json\n" + code], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == []
