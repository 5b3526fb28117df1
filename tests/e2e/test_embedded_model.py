"""The same work with the embedded model, at its own pace: what a user sees who has no key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.desk import ROW, Desk, answer_question, ask, chat, finish, opened, send, used
from tests.e2e.project import make_project

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_a_whole_session_with_the_embedded_model(desk: Desk) -> None:
    make_project(desk.project.parent / "large")
    desk.project = desk.project.parent / "large"
    (desk.project / "raise_limit.sh").write_text("sed -i s/500/600/ config.yaml\necho done\n")
    with opened(desk.pal("--demo")) as pal:
        send(pal, "run sh raise_limit.sh")
        answer_question(pal, "y")
        finish(pal)
        assert "limit: 600" in (desk.project / "config.yaml").read_text()

        ask(pal, "Keep reading until compaction triggers", seconds=150)
        (report,) = desk.reports("auto")
        assert report["outcome"] == "applied"
        assert f"[auto_compact triggered] {report['before']} -> {report['after']}" in pal.text
        assert "Compaction has triggered" in chat(pal)
        assert used(pal) < 20_000
        assert (report["before"] - report["after"]) / (report["before"] - 2_600) >= 0.8

        ask(pal, "我们刚才读过哪些文件？当前改到哪一步了？")
        assert "config.yaml" in pal.text

        ask(pal, "我们刚才完成了第一个功能，现在开始做第二个功能吧")
        (manual,) = desk.reports("manual")
        assert manual["outcome"] == "applied"
        assert manual["focus"]

        ask(pal, "/compact")
        ask(pal, "/compact")
        assert "nothing new since the last compaction" in chat(pal)
        before = used(pal)
        ask(pal, "/undo")
        assert used(pal) > before
    segments = desk.segments()
    assert all("[Conversation compressed." in json.dumps(lines[0]) for lines in segments[1:])
    numbers = [line["number"] for lines in segments for line in lines if "number" in line]
    assert numbers == list(range(1, len(numbers) + 1))  # each message once, none lost


def test_the_tour_shows_all_three_layers_and_changes_no_file(desk: Desk) -> None:
    files = {path: path.read_bytes() for path in desk.project.rglob("*") if _is_own(path)}
    with opened(desk.pal("--demo")) as pal:
        ask(pal, "/tour", seconds=90)
        layers = {(r["layer"], r["outcome"]) for r in desk.reports()}
        assert {("micro", "applied"), ("auto", "applied"), ("manual", "applied")} <= layers
        assert ROW.search(pal.text)
        assert "/ 50,000" in pal.text  # the tour's own small threshold is gone again
    assert {path: path.read_bytes() for path in desk.project.rglob("*") if _is_own(path)} == files


def _is_own(path: Path) -> bool:
    text = str(path)
    return not any(part in text for part in ("/.git", "/.transcripts")) and path.is_file()
