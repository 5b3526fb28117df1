"""Where the cache breakpoints stand."""

from __future__ import annotations

from app.compaction.breakpoints import cache_points, end_of
from app.core.conversation import Conversation
from app.core.messages import Text, Thinking
from app.core.requests import CachePoint
from tests.fakes.history import Story, bash


def told(steps: int, **more) -> Story:
    story = Story()
    story.say("go")
    for n in range(steps):
        story.step(bash(f"a{n}"), **more)
    return story


def points(
    conversation: Conversation, previous=None, frontier=None, edited=None
) -> tuple[CachePoint, ...]:
    return cache_points(
        conversation.view(), previous_end=previous, frontier=frontier, edited=edited
    )


def test_the_first_request_marks_its_end() -> None:
    assert points(told(0).conversation) == (CachePoint(0, 0),)


def test_normally_frontier_previous_end_and_end_are_marked() -> None:
    story = told(3)
    assert points(story.conversation, previous=(4, 0), frontier="r1") == (
        CachePoint(1, 0),
        CachePoint(4, 0),
        CachePoint(6, 0),
    )


def test_after_an_edit_the_first_cleared_result_and_the_new_frontier_are_marked() -> None:
    story = told(4)
    assert points(story.conversation, previous=(6, 0), frontier="r3", edited="r2") == (
        CachePoint(3, 0),
        CachePoint(5, 0),
        CachePoint(8, 0),
    )


def test_no_breakpoint_stands_on_thinking() -> None:
    story = told(2, thinking="hm")
    story.say("and?")
    view = story.conversation.view()
    for previous in ((1, 0), (3, 0), (2, 0)):
        for point in cache_points(view, previous_end=previous, frontier="r2", edited=None):
            assert not isinstance(view.messages[point.message].content[point.block], Thinking)


def test_a_place_that_is_not_there_any_more_is_left_out() -> None:
    assert points(told(1).conversation, previous=(40, 2), frontier="r99") == (CachePoint(2, 0),)


def test_results_of_one_step_are_marked_inside_their_message() -> None:
    story = told(0)
    story.step(bash("a"), bash("b"), bash("c"))
    assert points(story.conversation, frontier="r3") == (CachePoint(2, 1), CachePoint(2, 2))


def test_an_empty_view_has_no_end() -> None:
    assert end_of(Conversation().view()) is None
    view = told(1).conversation.view()
    assert isinstance(view.messages[0].content[0], Text)
    assert end_of(view) == (2, 0)
