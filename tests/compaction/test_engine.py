"""Layers 2 and 3 from the reason to the draft."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from app.compaction.engine import compact, summarize, with_summary
from app.compaction.facts import ledger
from app.compaction.summary import HEADINGS
from app.core.arriving import Charge
from app.core.budget import Meter, Usage
from app.core.messages import Image, Message, Text, Thinking, message_to_json, user
from app.core.policy import AutoPolicy, CompactionPolicy, ManualPolicy
from app.core.reports import Layer, Outcome
from app.core.requests import Purpose
from app.core.tokens import estimate_message
from app.errors import Busy, ContextOverflow, Rejected, SignatureRejected, Unreachable
from tests.fakes.history import Call, Story, bash, edit, lines, read
from tests.fakes.message_rules import problems
from tests.fakes.model import ScriptedModel, says
from tests.fakes.summaries import GOOD, MISBEHAVIOURS, no_files, run, situation

REQUEST = "please fix the parser: 直接改 `app/parser.py` 😀\n\n  keep   the comments"


def told(steps: int = 30, *, thinking: str = "") -> Story:
    story = Story()
    story.say(REQUEST)
    for n in range(steps):
        story.step(bash(f"cat f{n}.py", lines(40)), text=f"step {n}", thinking=thinking)
    return story


def sent(story: Story) -> tuple[Message, ...]:
    messages = story.conversation.view().messages
    return messages if messages[-1].role == "user" else (*messages, user("go on"))


def test_a_summary_is_read_from_the_cache_of_the_last_request() -> None:
    story = told()
    done, (request,) = run(situation(story.conversation), says(GOOD))
    state = situation(story.conversation)
    last_request = story.conversation.view().messages[:-2]
    assert request.messages[:-1] == last_request[:-1]
    assert request.messages[-1].content[:-1] == last_request[-1].content
    assert request.messages[-1].text.startswith("The conversation is about to be compressed")
    assert (request.system, request.tools) == (state.request.system, state.request.tools)
    assert (request.purpose, request.no_tools) == (Purpose.SUMMARY, False)
    point = request.cache_points[-1]
    assert (point.message, point.block) == (
        len(last_request) - 1,
        len(last_request[-1].content) - 1,
    )
    assert done.report.method == "summary"


def test_an_answer_is_not_written_to_the_cache_by_the_summary_call() -> None:
    story = Story()
    story.say("go")
    story.step(bash("ls", lines(900)))
    story.answer("a " * 2_000)
    story.say("and now?")
    _, (request,) = run(situation(story.conversation), says(GOOD))
    (point,) = request.cache_points
    assert request.messages[point.message].tool_results
    assert request.messages[point.message + 1].text.startswith("a a")


def test_an_answer_too_long_for_the_summary_call_is_cut_in_its_middle() -> None:
    story = Story()
    story.say("go")
    story.step(bash("ls", lines(900)))
    story.answer("begin " + "word " * 30_000 + "end", thinking="hm")
    story.say("and now?")
    before = story.conversation.view().messages[:-2]
    _, (request,) = run(situation(story.conversation, threshold=20_000), says(GOOD))
    assert request.messages[:-2] == before, "what the cache holds stays"
    answer = request.messages[-2]
    assert answer.text.startswith("begin word")
    assert "characters left out" in answer.text
    assert answer.text.endswith("end")
    assert sum(map(estimate_message, request.messages[:-1])) + 100 < 20_000


def test_the_new_view_goes_on_in_the_middle_of_a_tool_loop() -> None:
    story = told(thinking="hm")
    unseen = story.conversation.entries[-2:]
    done, _ = run(situation(story.conversation), says(GOOD))
    before = story.conversation.sizes.total
    story.commit(done.draft)
    view = story.conversation.view().messages
    assert problems(view) == ()
    assert view[-1] == unseen[1].message
    assert view[-2].content == unseen[0].message.content[1:]
    assert not any(isinstance(block, Thinking) for message in view for block in message.content)
    assert story.conversation.sizes.total < before / 2


def test_the_head_names_the_transcript_and_marks_the_summary_as_notes() -> None:
    story = told()
    done, _ = run(situation(story.conversation), says(GOOD))
    story.commit(done.draft)
    head = story.conversation.view().messages[0].text
    assert head.startswith(
        "[Conversation compressed. Transcript: .transcripts/s/transcript_0001.jsonl]\n\n"
    )
    assert "notes and not instructions" in head
    assert GOOD in head
    assert done.report.summary == head
    assert REQUEST in head
    assert "- cat f29.py -> exit 0" in head


def test_figures_before_and_after_are_one_measure() -> None:
    story = told()
    raw = story.conversation.sizes.total
    meter = Meter(floor=500.0, factor=1.5, billed=round(1.5 * raw) + 900, billed_raw=raw)
    done, _ = run(situation(story.conversation, meter=meter), says(GOOD))
    assert done.report.before == meter.billed
    story.commit(done.draft)
    assert done.report.after == meter.used(story.conversation.sizes.total)
    assert done.report.messages + done.report.kept == 61


def test_a_new_request_is_kept_word_for_word_and_not_sent() -> None:
    story = told()
    story.answer("The parser is fixed.")
    story.say("MARKER-77 and now the lexer")
    done, (request,) = run(situation(story.conversation), says(GOOD))
    assert "MARKER-77" not in json.dumps([message_to_json(m) for m in request.messages])
    story.commit(done.draft)
    view = story.conversation.view().messages
    assert view[-1] == user("MARKER-77 and now the lexer")
    assert view[-2].text == "The parser is fixed."


def test_at_idle_the_question_and_its_answer_stay() -> None:
    story = told()
    story.answer("Fixed.")
    story.say("thanks, why did it fail?")
    story.answer("A missing bracket.")
    done, _ = run(situation(story.conversation), says(GOOD), layer=Layer.MANUAL)
    story.commit(done.draft)
    view = story.conversation.view().messages
    assert [m.text for m in view[-1:]] == ["A missing bracket."]
    assert "why did it fail?" in view[-2].text
    assert problems(sent(story)) == ()


def test_a_huge_last_answer_is_left_to_the_summary_so_that_the_next_request_fits() -> None:
    story = told(steps=5)
    story.answer(lines(1_200))
    story.say("go on with the second part")
    state = situation(story.conversation)
    assert story.conversation.sizes.total > state.threshold
    done, _ = run(state, says(GOOD))
    story.commit(done.draft)
    (message,) = story.conversation.view().messages
    assert message.text.endswith("go on with the second part")
    assert done.report.after < state.threshold / 2


@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_a_first_failure_is_repaired_by_a_later_rung(name: str) -> None:
    story = told()
    done, requests = run(situation(story.conversation), MISBEHAVIOURS[name](), says(GOOD))
    assert done.report.outcome is Outcome.APPLIED
    assert len(requests) == 2
    assert requests[1].no_tools
    assert problems(requests[1].messages) == ()
    too_long = name.startswith("finds")
    assert done.report.method == ("stubs" if too_long else "retry")
    assert ("could not be used" in requests[1].messages[-1].text) is not too_long


@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_a_model_that_never_answers_well_leaves_a_digest_by_code(name: str) -> None:
    story = told()
    make = MISBEHAVIOURS[name]
    done, requests = run(situation(story.conversation), *(make() for _ in range(4)))
    assert len(requests) == (3 if name.startswith("finds") else 4)
    assert all(problems(request.messages) == () for request in requests)
    assert (done.report.method, done.report.outcome) == ("digest", Outcome.APPLIED)
    assert done.draft.summary == ""
    story.commit(done.draft)
    assert problems(sent(story)) == ()
    assert REQUEST in story.conversation.view().messages[0].text


def test_each_rung_sends_less() -> None:
    story = told()
    overflow = ContextOverflow("prompt is too long", sent=300_000, window=123_000)
    done, requests = run(situation(story.conversation), overflow, overflow, overflow)
    sizes = [len(json.dumps([message_to_json(m) for m in r.messages])) for r in requests]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[1] < sizes[0] / 3
    assert sizes[2] < sizes[1] * 0.7
    assert done.window == 123_000


def test_a_rejected_signature_is_answered_with_a_copy_without_thinking() -> None:
    story = told(thinking="hm")
    done, requests = run(situation(story.conversation), SignatureRejected("bound"), says(GOOD))
    blocks = [block for message in requests[1].messages for block in message.content]
    assert not any(isinstance(block, Thinking) for block in blocks)
    assert done.report.method == "stubs"


@pytest.mark.parametrize(
    "error",
    [
        Rejected("invalid x-api-key", status=401),
        Unreachable("refused"),
        Busy("overloaded", status=529),
    ],
)
def test_an_endpoint_that_cannot_be_used_changes_nothing(error: Exception) -> None:
    done, requests = run(situation(told().conversation), error)
    assert len(requests) == 1
    assert done.draft is None
    assert (done.report.outcome, done.report.reason) == (Outcome.FAILED, str(error))
    assert done.report.before == done.report.after


def test_what_failed_calls_cost_is_known() -> None:
    usage = Usage(input=1_000, output=10)
    done, _ = run(
        situation(told().conversation), says("bad", usage=usage), Rejected("no", status=401)
    )
    assert done.charges == (Charge(usage),)


def test_cancelling_goes_through() -> None:
    async def cancelled() -> None:
        hold = asyncio.Event()
        model = ScriptedModel([says(GOOD)], hold=hold)
        streaming = asyncio.Event()
        task = asyncio.create_task(
            compact(
                situation(told().conversation),
                layer=Layer.AUTO,
                reason="",
                focus="",
                model=model,
                read_file=no_files,
                tell=lambda event: streaming.set(),
            )
        )
        await streaming.wait()
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def test_a_short_conversation_is_refused_without_asking_anyone() -> None:
    story = Story()
    story.say("hi")
    story.answer("hello")
    story.say("how are you")
    story.answer("fine")
    for conversation in (story.conversation, Story().conversation):
        done, requests = run(situation(conversation), layer=Layer.MANUAL)
        assert (done.report.outcome, done.draft, requests) == (Outcome.REFUSED, None, [])


def test_a_digest_that_would_not_shrink_is_refused() -> None:
    story = Story()
    story.say("x " * 60)
    for n in range(6):
        story.step(bash(f"c{n}", "ok"), text="I run it. " * 3)
    done, _ = run(situation(story.conversation, threshold=800), *[says("no headings")] * 4)
    assert done.report.outcome is Outcome.REFUSED
    assert "would not be smaller" in done.report.reason
    assert done.draft is None


def test_max_tokens_is_sane_and_never_above_the_models_own() -> None:
    for wanted, own, asked in (
        (8_000, None, 8_000),
        (99_000, None, 16_000),
        (100, None, 8_000),
        (8_000, 4_096, 4_096),
    ):
        policy = CompactionPolicy(auto=AutoPolicy(summary_max_output=wanted))
        state = situation(told().conversation, policy=policy, max_output=own)
        _, (request,) = run(state, says(GOOD))
        assert request.max_tokens == asked


def test_huge_unseen_results_stay_whole_and_take_the_room_of_all_else() -> None:
    story = told(10)
    story.step(edit("app/parser.py"))
    story.answer("It is edited. " * 40)
    story.say("go on")
    story.step(bash("cat huge", lines(420)))

    async def disk(path: str, first: int, last: int) -> str | None:
        return lines(30)

    done, _ = run(situation(story.conversation, threshold=16_000), says(GOOD), read_file=disk)
    story.commit(done.draft)
    assert sent(story)[-1].tool_results[0].text == lines(420)
    assert len(sent(story)) == 3
    assert "Working files" not in done.report.summary
    assert "go on" in done.report.summary
    assert GOOD in done.report.summary


def test_pictures_are_left_out_of_the_copy() -> None:
    story = told()
    picture = Image({"type": "image", "source": {"type": "base64", "data": "AAAA"}})
    story.append(Message("user", (picture, Text("look"))), spoken=(1,))
    story.answer("I see.")
    _, requests = run(situation(story.conversation), ContextOverflow("x"), says(GOOD))
    assert "AAAA" in json.dumps([message_to_json(m) for m in requests[0].messages])
    assert "AAAA" not in json.dumps([message_to_json(m) for m in requests[1].messages])


def test_a_focus_keeps_matching_exchanges_as_real_pairs_in_front_of_the_tail() -> None:
    story = told(4)
    story.step(bash("grep invoice app/billing.py", "def make_invoice(): ..."), text="billing")
    for n in range(30):
        story.step(bash(f"cat g{n}.py", lines(40)))
    done, (request,) = run(
        situation(story.conversation), says(GOOD), focus="billing", layer=Layer.MANUAL
    )
    assert "What comes next is about: billing" in request.messages[-1].text
    story.commit(done.draft)
    view = story.conversation.view().messages
    assert view[1].tool_uses[0].input == {"command": "grep invoice app/billing.py"}
    assert view[2].tool_results[0].text == "def make_invoice(): ..."
    assert "wording" not in done.report.reason
    assert problems(view) == ()


def test_a_focus_that_matches_nothing_says_so() -> None:
    done, _ = run(
        situation(told().conversation), says(GOOD), focus="quaternions", layer=Layer.MANUAL
    )
    assert done.report.reason.endswith("nothing matches the focus, only the wording was steered")


def test_working_files_are_read_from_disk_and_keep_to_their_room() -> None:
    story = told()
    story.step(edit("app/parser.py"))

    async def disk(path: str, first: int, last: int) -> str | None:
        return "now = 1\n" if path == "app/parser.py" else None

    done, _ = run(situation(story.conversation), says(GOOD), read_file=disk)
    assert "## app/parser.py\n```\nnow = 1\n```" in done.report.summary


def test_a_second_compaction_updates_the_first_summary_and_keeps_all_facts() -> None:
    story = told()
    story.step(edit("app/first.py"))
    done, _ = run(situation(story.conversation), says(GOOD.replace("Something", "Alpha")))
    story.commit(done.draft)
    for n in range(30):
        story.step(bash(f"cat h{n}.py", lines(40)))
    done, (request,) = run(situation(story.conversation), says(GOOD.replace("Something", "Beta")))
    assert "Alpha about it." in request.messages[0].text
    story.commit(done.draft)
    head = story.conversation.view().messages[0].text
    assert "Beta about it." in head
    assert "Alpha" not in head
    assert "app/first.py" in head
    assert REQUEST in head


def test_what_stays_verbatim_is_not_counted_twice() -> None:
    story = told()
    story.step(bash("make", "done"), words="and the docs")
    done, _ = run(situation(story.conversation), says(GOOD))
    story.commit(done.draft)
    assert "make" in json.dumps(
        [message_to_json(m) for m in story.conversation.view().messages[1:]]
    )
    story.step(bash("ls", "x"))
    known = ledger(story.conversation)
    assert [c.times for c in known.commands if c.text == "make"] == [1]
    assert [w.text for w in known.words] == [REQUEST, "and the docs"]


def test_a_digest_carries_the_last_summary_along() -> None:
    story = told()
    done, _ = run(situation(story.conversation), says(GOOD.replace("Something", "Alpha")))
    story.commit(done.draft)
    for n in range(30):
        story.step(bash(f"cat h{n}.py", lines(40)))
    done, _ = run(situation(story.conversation), *[says("no")] * 4)
    assert "Alpha about it." in done.report.summary


def test_cleared_results_stay_cleared_in_the_tail() -> None:
    story = told()
    story.clear({"r29": "[Previous: used bash; recall r29]"})
    story.step(read("x.py", "short"))
    wide = CompactionPolicy(auto=AutoPolicy(tail_share=0.5))
    done, _ = run(situation(story.conversation, policy=wide), says(GOOD))
    assert done.draft.stubs["r29"] == "[Previous: used bash; recall r29]"
    story.commit(done.draft)
    assert "[Previous: used bash; recall r29]" in json.dumps(
        [message_to_json(m) for m in sent(story)]
    )


def test_a_preview_changes_nothing_and_an_edited_summary_can_be_applied() -> None:
    story = told()
    state = situation(story.conversation)
    summary = asyncio.run(
        summarize(state, focus="", model=ScriptedModel([says(GOOD)]), tell=lambda e: None)
    )
    assert summary.text == GOOD
    edited = GOOD.replace("Something", "What I say")
    done = asyncio.run(with_summary(state, edited, reason="edited", focus="", read_file=no_files))
    assert (done.report.layer, done.report.method) == (Layer.MANUAL, "edited")
    assert "What I say about it." in done.report.summary
    empty = asyncio.run(with_summary(state, " ", reason="edited", focus="", read_file=no_files))
    assert empty.report.outcome is Outcome.REFUSED


def test_ten_chained_compactions_by_a_bad_model_lose_no_modified_path_and_no_request() -> None:
    story, paths = Story(), []
    script = [make for _, make in sorted(MISBEHAVIOURS.items())]
    for round_ in range(10):
        request = f"ROUND-{round_}: do part {round_}, and never touch the lock file"
        story.say(request)
        for n in range(14):
            path = f"app/part{round_}/file{n}.py"
            paths.append(path)
            story.step(
                edit(path),
                bash(f"make {round_} {n}", lines(30), modified=(f"build/{round_}_{n}.o",)),
            )
            paths.append(f"build/{round_}_{n}.o")
        answers = [script[(round_ + k) % len(script)]() for k in range(4)]
        done, _ = run(situation(story.conversation, threshold=16_000), *answers)
        assert done.draft is not None, done.report.reason
        story.commit(done.draft)
        view = sent(story)
        assert problems(view) == ()
        text = "\n".join(m.text for m in view)
        assert request in text
        known = story.conversation.facts["modified"]
        assert set(paths) == set(known)
    assert "ROUND-0" in text
    assert all(path.rsplit("/", 1)[1] in text for path in paths)


def test_compacting_the_same_conversation_twice_gives_the_same_bytes() -> None:
    story = told()
    first, _ = run(situation(story.conversation), *[says("no")] * 4)
    second, _ = run(situation(story.conversation), *[says("no")] * 4)
    assert replace(first.report, seconds=0) == replace(second.report, seconds=0)
    assert first.draft.head("x") == second.draft.head("x")
    assert first.draft.facts == second.draft.facts


def test_without_focus_room_nothing_is_kept_for_it() -> None:
    policy = CompactionPolicy(manual=ManualPolicy(focus_share=0.0))
    done, _ = run(situation(told().conversation, policy=policy), says(GOOD), focus="f3")
    assert "only the wording" in done.report.reason


def test_a_tool_that_never_answered_in_words_does_not_matter() -> None:
    story = told()
    story.step(Call("mystery", {}, "x"))
    done, _ = run(situation(story.conversation), says("\n".join(f"**{h}**\nx" for h in HEADINGS)))
    assert done.report.outcome is Outcome.APPLIED
