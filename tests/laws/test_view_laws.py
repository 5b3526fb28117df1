"""R4 to R7 over random histories, random policies and models that answer badly."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.compaction.micro import CacheState, plan_clearing
from app.core.conversation import Conversation, in_force, replay
from app.core.history import Commit, Entry, Rewound
from app.core.messages import Message, ToolUse, message_to_json, user
from app.core.reports import Outcome
from app.core.rewinds import live_items
from app.core.tokens import estimate_text
from tests.fakes.history import Story, policies, stories, tell_step, tell_turn
from tests.fakes.message_rules import problems
from tests.fakes.model import says
from tests.fakes.summaries import GOOD, MISBEHAVIOURS, run, situation

ACTS = ("turn", "step", "clear", "clear", "compact", "compact", "undo", "pin", "rewind")
LIVES = settings(max_examples=40, suppress_health_check=list(HealthCheck))


def sent(conversation: Conversation) -> tuple[Message, ...]:
    """The messages of the next request: whoever spoke last, the user speaks now."""
    messages = conversation.view().messages
    return messages if messages and messages[-1].role == "user" else (*messages, user("go on"))


def as_bytes(conversation: Conversation) -> str:
    return json.dumps([message_to_json(m) for m in conversation.view().messages])


def act(story: Story, draw: st.DrawFn) -> None:
    """Do one random thing to a story; what makes the view smaller must do so."""
    policy = draw(policies())
    before = story.conversation
    match draw(st.sampled_from(ACTS)):
        case "turn":
            if before.entries[-1].message.role == "assistant":
                tell_turn(story, draw)
        case "step":
            if before.entries[-1].message.role == "assistant":
                story.say("and now?")
            tell_step(story, draw)
        case "clear":
            plan = plan_clearing(
                before,
                policy.micro,
                threshold=policy.auto.threshold,
                factor=draw(st.sampled_from((0.7, 1.0, 2.0))),
                cache=CacheState(draw(st.booleans()), draw(st.booleans())),
                excess=draw(st.sampled_from((None, 0, 300, 20_000))),
                force=draw(st.booleans()),
            )
            if plan.stubs:
                story.clear(plan.stubs, plan.bare)
                assert story.conversation.sizes.total < before.sizes.total
        case "compact":
            answers = [make for _, make in sorted(MISBEHAVIOURS.items())]
            script = [draw(st.sampled_from((lambda: says(GOOD), *answers)))() for _ in range(4)]
            state = situation(before, threshold=policy.auto.threshold, policy=policy)
            focus = draw(st.sampled_from(("", "app/a.py pytest")))
            done, requests = run(state, *script, focus=focus)
            for request in requests:
                assert problems(request.messages) == ()
            if done.draft is not None:
                story.commit(done.draft)
                assert done.report.outcome is Outcome.APPLIED
                assert story.conversation.sizes.total < before.sizes.total
        case "undo":
            alive = [i.number for i in in_force(story.items) if isinstance(i, Commit)]
            if alive:
                story.undo(alive[-1])
        case "rewind":
            story.rewind(draw(st.sampled_from(moments(story))))
        case "pin":
            story.pin(f"r{draw(st.integers(1, max(1, story.result)))}")


def moments(story: Story) -> list[int]:
    """Where one can go back to without losing all that was said: before later words, or an earlier rewind."""
    entries = (i for i in live_items(story.items) if isinstance(i, Entry) and i.spoken)
    said = [entry.seq for entry in entries if not entry.message.tool_results]
    rewinds = [i.seq for i in live_items(story.items) if isinstance(i, Rewound)]
    return [*said[1:], *rewinds, story.seq + 1]


@st.composite
def lives(draw: st.DrawFn) -> Story:
    story = draw(stories(max_turns=2))
    for _ in range(draw(st.integers(1, 10))):
        act(story, draw)
    return story


@LIVES
@given(lives())
def test_every_request_is_valid_whatever_happened_before(story: Story) -> None:
    assert problems(sent(story.conversation)) == ()


@LIVES
@given(lives())
def test_the_latest_request_is_always_there_word_for_word(story: Story) -> None:
    spoken = [e.words for e in live_items(story.items) if getattr(e, "spoken", ())]
    view = "\n".join(m.text for m in story.conversation.view().messages if m.role == "user")
    assert spoken[-1].replace("\n\n", "\n") in view.replace("\n\n", "\n")


@LIVES
@given(lives())
def test_calls_are_never_altered(story: Story) -> None:
    entries = [item for item in story.items if isinstance(item, Entry)]
    original = {u.id: u for e in entries for u in e.message.tool_uses}
    for message in story.conversation.view().messages:
        for block in message.content:
            if isinstance(block, ToolUse):
                assert block == original[block.id]


@LIVES
@given(lives())
def test_replaying_the_record_gives_the_same_bytes(story: Story) -> None:
    assert as_bytes(replay(story.items)) == as_bytes(story.conversation)


@LIVES
@given(lives())
def test_no_stub_is_as_large_as_its_result_and_sizes_stay_true(story: Story) -> None:
    conversation = story.conversation
    for ref in conversation.results:
        line = conversation.stubs.get(ref.id)
        assert line is None or estimate_text(line) < ref.tokens
    live = {ref.id for ref in conversation.live}
    assert live == {ref.id for ref in conversation.results} - set(conversation.stubs)
    rebuilt = Conversation(head=conversation.head)
    for entry in conversation.entries:
        rebuilt = rebuilt.append(entry)
    assert abs(rebuilt.sizes.words - conversation.sizes.words) < 0.01


@LIVES
@given(lives(), st.data())
def test_a_rewind_gives_the_view_of_that_moment_and_can_be_taken_back(
    story: Story, data: st.DataObject
) -> None:
    before = data.draw(st.sampled_from(moments(story)))
    then = replay(item for item in story.items if item.seq < before)
    now = as_bytes(story.conversation)
    story.rewind(before)
    mark = story.seq
    assert as_bytes(story.conversation) == as_bytes(then)
    act(story, data.draw)
    story.rewind(mark)
    assert as_bytes(story.conversation) == now
