"""The benchmarks run, and their figures can be true."""

from __future__ import annotations

import json
import math
import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from app.core.messages import ToolUse
from tests.benchmarks import __main__ as command
from tests.benchmarks import peer_endpoint, peers, soak, textbook
from tests.benchmarks.desk import desk
from tests.benchmarks.figures import Figure, table
from tests.benchmarks.sessions import generated, markdown
from tests.fakes.message_rules import problems


def by_name(figures: list[Figure]) -> dict[str, Figure]:
    return {figure.what: figure for figure in figures}


def test_the_engine_and_the_layers_are_measured_from_generated_sessions(tmp_path, capsys) -> None:
    file = tmp_path / "figures.json"
    assert (
        command.main(["--short", "--only", "engine", "--only", "layers", "--json", str(file)]) == 0
    )
    found = {row["what"]: row for row in json.loads(file.read_text())}
    assert all(math.isfinite(row["ours"]) and row["ours"] >= 0 for row in found.values())
    assert found["results cleared unseen"]["ours"] == 0
    assert found["requests over the threshold"]["ours"] == 0
    assert found["cost, beside none"]["ours"] > 0
    assert "budget and layer 1, 1,000 messages" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="reads getrusage")
def test_going_on_with_a_long_session_is_measured() -> None:
    figures = by_name(command.measure(None, ("resume",), short=True))
    assert figures["open a record of 3 MB"].ratio > 0
    assert figures["memory when it is open"].ours > 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_screen_is_measured_in_a_terminal() -> None:
    with desk() as place:
        figures = by_name(
            command.measure(place, ("start", "first_character", "streaming"), short=True)
        )
    assert figures["prompt takes keys"].ours >= figures["prompt drawn"].ours > 0
    assert figures["CPU until then"].ratio is not None
    assert figures["Enter to first character, median"].ours > 0
    assert figures["CPU of an answer of 1,600 characters"].ours > 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_turns_cancels_compactions_and_new_sizes_leave_nothing_behind() -> None:
    with desk() as place:
        figures = by_name(command.measure(place, (soak.NAME,), short=True))
    turns = soak.SHORT_TURNS - soak.SHORT_TURNS // 4
    seldom = turns // max(soak.CANCELLED, soak.RESIZED)
    for what in (*soak.HELD, "descriptors"):
        figure = figures[f"{what} after {soak.SHORT_TURNS:,} turns"]
        assert figure.other and figure.ours - figure.other < seldom, what
    assert figures["invalid requests"].ours == 0


def test_generated_sessions_are_valid_and_the_same_for_a_seed() -> None:
    session = generated(3, 40)
    assert session == generated(3, 40) != generated(4, 40)
    assert problems(session.messages[:-1]) == ()
    calls = [c for m in session.messages for c in m.content if isinstance(c, ToolUse)]
    paths = [call.input["path"] for call in calls if call.name == "read_file"]
    assert len(set(paths)) < len(paths), "files are read again"
    assert len(markdown(1, 5_000)) == 5_000


def test_the_textbook_clears_all_but_the_newest_results_and_what_was_read() -> None:
    long = "x" * 500
    messages = [
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": str(n), "name": name}
                for n, name in enumerate(("bash", "read_file", *["bash"] * 3))
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": str(n), "content": long} for n in range(5)
            ],
        },
    ]
    textbook.clear_old_results(messages)
    texts = [block["content"] for block in messages[1]["content"]]
    assert texts == ["[Previous: used bash]", long, long, long, long]
    assert textbook.estimate(messages) == len(str(messages)) // 4


def test_a_table_shows_figures_beside_each_other() -> None:
    rows = table([Figure("start", "prompt", 300.0, "ms", 200.0, "bare")]).splitlines()
    assert rows[2].split("|")[3:6] == [" 300 ms ", " 200 bare ", " 1.5   "]


def test_the_endpoint_of_the_comparison_answers_in_each_format() -> None:
    body = {"stream": True, "tools": [{}], "messages": [{"role": "user", "content": "bench big 7"}]}
    pieces, gap = peer_endpoint.pieces_of(body)
    text = "".join(pieces)
    assert text.startswith("BEGIN7W ") and text.endswith("END7W\n") and gap == 0
    assert len(text) >= peer_endpoint.BIG_CHARS
    assert peer_endpoint.pieces_of({**body, "tools": []}) == (["ok"], 0.0)
    with peer_endpoint.PeerEndpoint() as endpoint:
        place = urlsplit(endpoint.url)
        for path in ("/v1/messages", "/v1/chat/completions", "/v1/responses"):
            link = HTTPConnection(str(place.hostname), place.port)
            link.request("POST", path, json.dumps(body))
            sent = link.getresponse().read().decode()
            link.close()
            assert text.split()[-2] in sent and "END7W" in sent, path


def test_programs_stand_beside_each_other_in_one_table() -> None:
    figures = [
        Figure("peers", "prompt, ours", 400.0, "ms", 400.0, "ours"),
        Figure("peers", "prompt, bare", 400.0, "ms", 300.0, "bare"),
        Figure("peers", "stream CPU, ours", 1.5, "s", 1.5, "ours"),
    ]
    rows = peers.table(figures).splitlines()
    assert rows[2].startswith("| ours | 400 |") and "1.50" in rows[2]
    assert rows[3].startswith("| bare | 300 |")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ours_and_the_literal_design_are_measured_side_by_side() -> None:
    with desk() as place, peer_endpoint.PeerEndpoint() as endpoint:
        ours, _, textbook_program = peers.own(place, endpoint.url)
        for program in (ours, textbook_program):
            values = peers.measured(place, program, short=True)
            assert set(values) == {what for what, _ in peers.COLUMNS} - {"prompt"}
            assert peers.start(place, program) > 0
            assert values["stream wall"] >= peer_endpoint.STREAM_CHARS / 8 * peer_endpoint.GAP
