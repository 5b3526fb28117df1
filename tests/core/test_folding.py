"""Folding a record in one go gives what its items give one after another, at the cost of each item alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.core.conversation import Conversation, in_force, replay
from app.core.folding import Fold
from app.core.history import Cleared
from app.core.messages import user
from app.core.ports import CommitDraft
from app.core.reports import Layer
from tests.fakes.history import Story, bash, lines, stories


@given(stories(), st.data())
def test_a_fold_is_the_conversation_after_each_item(story: Story, data: st.DataObject) -> None:
    results = [ref.id for ref in story.conversation.results]
    cleared = data.draw(st.lists(st.sampled_from(results), unique=True)) if results else []
    story.clear({id_: "[Previous: used bash]" for id_ in cleared}, bare=("m2", "m4", "odd"))
    ids = [entry.id for entry in story.conversation.entries]
    kept = tuple(ids[data.draw(st.integers(0, len(ids))) :])
    story.commit(CommitDraft(Layer.AUTO, lambda path: user("head"), (ids[0], ids[-1]), kept))
    story.say("and on")
    stepwise = Conversation()
    for item in in_force(story.items):
        stepwise = stepwise.apply(item)
    assert replay(story.items) == stepwise == story.conversation


def test_a_clear_after_every_result_touches_only_that_result() -> None:
    story = Story()
    for number in range(1, 40):
        story.step(bash("ls", lines(20)))
        story.items.append(Cleared(story.seq, {f"r{number}": "[Previous: used bash]"}))
    fold = Fold()
    seen = []
    for item in story.items:
        before = (fold.entries, fold.results, fold.stubs)
        fold.apply(item)
        seen.append(
            all(
                a is b
                for a, b in zip(before, (fold.entries, fold.results, fold.stubs), strict=True)
            )
        )
    assert all(seen), "nothing is copied"
    assert len(fold.stubs) == 39 and not fold.live
