"""The running sizes of a conversation count what is sent, and nothing else."""

from __future__ import annotations

import pytest

from app.core.conversation import Conversation
from app.core.history import Bared, Entry
from app.core.messages import Message, Text, Thinking
from app.core.tokens import estimate_message

HM = Thinking({"type": "thinking", "thinking": "hm " * 500, "signature": "s" * 400})


def test_thinking_that_was_cut_off_is_not_sent_and_not_counted() -> None:
    cut = Entry(1, 1, "t", Message("assistant", (HM,)))
    conversation = Conversation().append(cut)
    assert conversation.view().messages == ()
    assert conversation.sizes.total < 10
    assert conversation.apply(Bared(2, (cut.id,))).sizes.total == conversation.sizes.total


def test_removed_thinking_is_counted_no_more() -> None:
    answer = Entry(1, 1, "t", Message("assistant", (HM, Text("Done."), HM)))
    conversation = Conversation().append(answer)
    shown = conversation.view().messages[-1]
    assert conversation.sizes.total == pytest.approx(estimate_message(shown))
    conversation = conversation.apply(Bared(2, (answer.id,)))
    shown = conversation.view().messages[-1]
    assert conversation.sizes.total == pytest.approx(estimate_message(shown))
