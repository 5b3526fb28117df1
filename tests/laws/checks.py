"""The laws of a session at rest, each as a check of a stage."""

from __future__ import annotations

import json
from typing import Any

from app.adapters.journal_reading import SessionReader
from app.adapters.request_body import encode_request
from app.agent.session import Session
from app.core.conversation import replay
from app.core.messages import user
from app.core.tokens import MESSAGE_TOKENS, estimate_block
from tests.laws.stage import Stage
from tests.wire.api_rules import complaints

MANY = 10_000
"""More messages than any stage has."""
MERGED_TOKENS = 40
"""What the estimates may differ by, where parts of the view are joined or left out."""


def check_all(stage: Stage) -> None:
    """What holds after every step."""
    assert not stage.endpoint.faults, stage.endpoint.faults
    check_finished_work(stage)
    if not stage.session.busy:
        check_next_request(stage)
    check_replay(stage)
    check_latest_request(stage)
    check_budget(stage)


def check_finished_work(stage: Stage) -> None:
    """Work that is over told what it must, and nothing of it runs on."""
    for job in [job for job in stage.jobs if job.work.over]:
        stage.check_job(job)
        stage.jobs.remove(job)
    if not stage.session.busy:
        assert not stage.running and not stage.user.questions
        assert not stage.endpoint.open, "no request without its reader"


def check_next_request(stage: Stage) -> None:
    """R4: what the user says next can be sent."""
    if stage.session.conversation.open_calls:
        assert stage.unwritten, "an unanswered call at rest"
        return
    raw = next_request(stage.session)
    assert complaints(raw) == []
    assert stage.endpoint.thinking_faults(json.loads(raw)) == []


def check_replay(stage: Stage) -> None:
    """R7: the files give the same view as the memory."""
    folder = stage.root / stage.session.name
    if not folder.exists():
        return
    kept = replay(SessionReader(folder).history())
    live = stage.session.conversation
    assert kept.view().messages == live.view().messages
    assert (kept.pinned, kept.stubs, kept.base) == (live.pinned, live.stubs, live.base)


def check_latest_request(stage: Stage) -> None:
    """R5: the user's latest words stand in the view, word for word."""
    assert whole(stage.latest) in whole(text_of_the_user(stage.session))


def check_budget(stage: Stage) -> None:
    """The budget's parts add up, and the running sizes are those of the view."""
    budget, conversation = stage.session.budget, stage.session.conversation
    assert budget.used >= 1 and budget.threshold >= 1
    parts = budget.parts
    assert abs(parts.total - budget.used) <= 4
    assert min(parts.floor, parts.summary, parts.words, parts.results) >= 0
    counted = sum(estimate_block(b) for m in conversation.view().messages for b in m.content)
    counted += MESSAGE_TOKENS * (len(conversation.entries) + (conversation.head is not None))
    assert abs(conversation.sizes.total - counted) < MERGED_TOKENS, (conversation.sizes, counted)


def check_reach(stage: Stage) -> None:
    """What was said, answered and returned comes back byte for byte."""
    session = stage.session
    entries = stage.do(stage.journal.messages(range(1, MANY)))
    spoken = {entry.words for entry in entries if entry.spoken}
    for text in stage.said:
        assert text in spoken
    for result, text in stage.results.items():
        told = stage.do(session.recall(result))
        assert told.endswith(text) or (not text and told == "(no output)"), (result, text, told)
    for message in stage.answered:
        assert stage.do(session.recall(message)) is not None


def whole(text: str) -> str:
    """The text with halves of characters replaced, as it travels."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def text_of_the_user(session: Session) -> str:
    """What the view holds in messages of the user."""
    messages = session.conversation.view().messages
    return "\n".join(message.text for message in messages if message.role == "user")


def next_request(session: Session) -> bytes:
    """The request that would leave if the user said something now."""
    messages = session.conversation.view().messages
    if not messages or messages[-1].role == "assistant":
        messages = (*messages, user("go on"))
    return encode_request(session._dialogue.request(messages, ()), signed_only=True)[0]


def sent(session: Session) -> tuple[Any, ...]:
    """What the next request says, whatever the longest answer it allows."""
    body = json.loads(next_request(session))
    return body["system"], body["tools"], body["messages"]
