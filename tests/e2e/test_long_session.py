"""One long session on a real-looking project: a feature, compaction in the middle of a loop, and the next feature.

The session is played once; each test looks at one thing in what it left: screens, requests that were sent, record.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.e2e.desk import Desk, answer_question, ask, chat_of, finish, opened, send, used
from tests.e2e.endpoint import Body, Endpoint, Pause, Sent
from tests.e2e.project import count_lines, make_project
from tests.e2e.terminal import Terminal

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("long session")]

HEAD = "[Conversation compressed. Transcript: "
READ_ON = "Keep reading until compaction triggers"
WHAT_DID_WE = "Which files have we read, and what did we change?"
SECOND = "The first feature is done, let us start the second"


@dataclass
class Story:
    """What the session left behind."""

    desk: Desk
    endpoint: Endpoint
    screens: dict[str, str] = field(default_factory=dict)
    """The screen after each step."""
    until: dict[str, int] = field(default_factory=dict)
    """Requests sent when a step was over."""
    gauge_after_compaction: int = 0
    """What the gauge showed while the first request after the compaction was under way."""

    def note(self, step: str, pal: Terminal) -> None:
        self.screens[step] = pal.text
        self.until[step] = len(self.endpoint.sent)

    def during(self, step: str) -> list[Sent]:
        """The requests of one step."""
        steps = list(self.until)
        at = steps.index(step)
        first = self.until[steps[at - 1]] if at else 0
        return self.endpoint.sent[first : self.until[step]]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    folder = tmp_path_factory.mktemp("long")
    project = make_project(folder / "shop-project")
    (project / "raise_limit.sh").write_text("sed -i s/500/600/ config.yaml\necho done\n")
    desk = Desk(project, folder / "home")
    compacted = Pause(
        lambda body: HEAD in json.dumps(body["messages"][0]) and not _asks_summary(body)
    )
    with Endpoint(compacted.brain, caches=True) as endpoint:
        desk.use(endpoint)
        story = Story(desk, endpoint)
        with opened(desk.pal(rows=36)) as pal:
            _play(story, pal, compacted)
            yield story


def _play(story: Story, pal: Terminal, compacted: Pause) -> None:
    send(pal, "run sh raise_limit.sh")
    answer_question(pal, "y")
    finish(pal)
    story.note("command", pal)

    send(pal, READ_ON)
    pal.until(compacted.reached.is_set, "the request after the compaction", seconds=60)
    after = story.desk.reports("auto")[-1]["after"]
    pal.until(lambda: used(pal) == after, f"a gauge of {after}", seconds=5)
    story.gauge_after_compaction = used(pal)
    compacted.go_on()
    finish(pal)
    story.note("read on", pal)

    ask(pal, WHAT_DID_WE)
    story.note("what did we", pal)

    for path in ("config.yaml", "shop/accounts.py", "shop/audit.py"):
        ask(pal, f"read {path}")
    story.note("first feature", pal)
    ask(pal, SECOND)
    story.note("second feature", pal)

    ask(pal, "read shop/fees.py")
    story.note("before /compact", pal)
    ask(pal, "/compact")
    story.note("/compact", pal)
    ask(pal, "/compact")
    story.note("/compact again", pal)
    ask(pal, "/undo")
    story.note("/undo", pal)
    ask(pal, "read shop/exports.py")
    story.note("after /undo", pal)


def test_the_project_has_some_thousand_lines(story: Story) -> None:
    assert count_lines(story.desk.project) > 4_000


def test_layer_two_fires_by_itself_in_the_middle_of_the_loop(story: Story) -> None:
    (report,) = story.desk.reports("auto")
    assert report["outcome"] == "applied"
    screen = story.screens["read on"]
    assert f"[auto_compact triggered] {report['before']} -> {report['after']}" in screen
    assert "[transcript saved: .transcripts/" in screen
    assert "Compaction has triggered" in screen  # the model's words after the loop went on
    requests = story.during("read on")
    (summary,) = [sent for sent in requests if sent.is_summary_call]
    assert requests.index(summary) == len(requests) - 2


def test_the_transcript_is_on_disk_before_the_summary_request_arrives(story: Story) -> None:
    (summary,) = [sent for sent in story.during("read on") if sent.is_summary_call]
    calls = [
        block["id"]
        for message in summary.body["messages"]
        for block in message["content"]
        if isinstance(block, dict) and block["type"] == "tool_use"
    ]
    assert len(calls) > 20
    assert all(call in summary.stored for call in calls)
    assert "transcript_0002.jsonl" not in summary.on_disk
    segments = story.desk.segments()
    assert len(segments[0]) == summary.on_disk["transcript_0001.jsonl"]
    assert HEAD in json.dumps(segments[1][0])


def test_at_least_four_fifths_of_what_is_above_the_floor_is_saved(story: Story) -> None:
    (report,) = story.desk.reports("auto")
    first = story.endpoint.turns[0]
    floor = first.tokens - 20
    assert (report["before"] - report["after"]) / (report["before"] - floor) >= 0.8


def test_the_gauge_shows_the_new_figure_while_the_next_request_is_under_way(story: Story) -> None:
    (report,) = story.desk.reports("auto")
    assert story.gauge_after_compaction == report["after"]
    sent = next(s for s in story.endpoint.turns if HEAD in s.text)
    assert abs(sent.tokens - report["after"]) < 0.1 * report["after"]


def test_the_new_view_knows_what_was_read_and_what_a_command_changed(story: Story) -> None:
    asked = story.during("what did we")[0]
    head = asked.user_texts()[0]
    assert head.startswith(HEAD)
    changed = head[head.index("odified") :]
    assert "config.yaml" in changed.split("\n\n")[0]
    assert "shop/" in head and "sh raise_limit.sh" in head
    screen = story.screens["what did we"]
    assert "changed" in screen and "config.yaml" in screen


def test_the_second_feature_begins_with_a_compaction_that_keeps_what_matches(story: Story) -> None:
    report = next(r for r in story.desk.reports("manual") if r["focus"])
    assert report["outcome"] == "applied"
    requests = story.during("second feature")
    at = next(i for i, sent in enumerate(requests) if sent.is_summary_call)
    assert report["focus"] in requests[at].text
    kept = [text for text in requests[at + 1].results if not text.startswith("[Previous:")]
    source = (story.desk.project / "shop/audit.py").read_text().splitlines()
    assert any(all(line in text for line in source[:40] if line.strip()) for text in kept)
    assert len(requests) > at + 2  # it went on without another word
    assert "second feature is under way" in chat_of(story.screens["second feature"])
    assert "[manual compact]" in story.screens["second feature"]


def test_a_second_compact_in_a_row_is_refused_with_the_reason(story: Story) -> None:
    assert "[manual compact]" in story.screens["/compact"]
    said = chat_of(story.screens["/compact again"])
    assert "nothing new since the last compaction" in said
    assert story.until["/compact again"] == story.until["/compact"]  # and no request was sent
    outcomes = [report["outcome"] for report in story.desk.reports("manual")]
    assert outcomes == ["applied", "applied", "refused", "undone"]


def test_undo_brings_the_old_view_back(story: Story) -> None:
    before = _bare(story.during("before /compact")[-1].body["messages"])
    after = _bare(story.during("after /undo")[0].body["messages"])
    assert after[: len(before)] == before
    assert HEAD in json.dumps(before[0])  # the compaction before that one is still in force
    assert "[undo manual]" in story.screens["/undo"]


def test_the_last_words_before_each_compaction_are_in_the_next_request_verbatim(
    story: Story,
) -> None:
    for step, words in (("read on", READ_ON), ("second feature", SECOND)):
        requests = story.during(step)
        at = next(i for i, sent in enumerate(requests) if sent.is_summary_call)
        assert any(words in text for text in requests[at + 1].user_texts())
    following = story.during("/compact")[-1]
    assert following.is_summary_call
    assert "read shop/fees.py" in json.dumps(story.desk.segments()[-1][0])


def test_every_request_of_the_session_was_valid(story: Story) -> None:
    assert story.endpoint.invalid == []
    assert len(story.endpoint.sent) > 40


def _asks_summary(body: Body) -> bool:
    return "The conversation is about to be compressed" in json.dumps(body["messages"][-1])


def _bare(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages without cache marks."""
    bare = copy.deepcopy(messages)
    for message in bare:
        for block in message["content"]:
            if isinstance(block, dict):
                block.pop("cache_control", None)
    return bare
