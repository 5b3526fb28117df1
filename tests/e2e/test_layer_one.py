"""Layer 1 as a user sees it: old results become one line on the screen, in the log and in the request."""

from __future__ import annotations

import json

import pytest

from tests.e2e.desk import ROW, Desk, ask, finish, opened, used
from tests.e2e.endpoint import Body, Endpoint, Pause
from tests.e2e.project import make_project

STUB = "[Previous: used "


def test_the_fourth_read_makes_the_first_a_line_in_the_request_that_is_really_sent(
    desk: Desk,
) -> None:
    accounts_cleared = Pause(lambda body: "[Previous: used read_file: shop/accounts" in _text(body))
    with Endpoint(accounts_cleared.brain) as endpoint:
        desk.use(endpoint, PAL_MICRO_POLICY="every-turn", PAL_PRESERVE_TOOLS="")
        with opened(desk.pal()) as pal:
            pal.say("Read every Python file in the shop folder one by one")
            pal.until(accounts_cleared.reached.is_set, "the request without shop/accounts.py")
            pal.wait_for("[micro_compact]")
            newest = desk.reports("micro")[-1]
            pal.until(lambda: used(pal) == newest["after"], f"a gauge of {newest['after']}")
            row = ROW.search(pal.text)
            assert row is not None
            assert (int(row[2]), int(row[3])) == (newest["before"], newest["after"])
            assert newest["after"] < newest["before"]
            accounts_cleared.go_on()
            pal.wait_for("I have read 6 of 6 files")
            finish(pal)
    by_count = {len(sent.results): sent.results for sent in endpoint.turns}
    four_reads = by_count[5][
        1:
    ]  # after the listing; the first file holds one line, too short to clear
    assert [text.startswith(STUB) for text in four_reads] == [False] * 4
    five_reads = by_count[6][1:]
    assert five_reads[1].startswith("[Previous: used read_file: shop/accounts.py -> ")
    assert [text.startswith(STUB) for text in five_reads] == [False, True, False, False, False]
    assert endpoint.invalid == []


@pytest.mark.slow
def test_reads_stay_up_to_their_budget_while_old_command_results_are_cleared(
    desk: Desk, endpoint: Endpoint
) -> None:
    make_project(desk.project.parent / "large", modules=16)
    desk.project = desk.project.parent / "large"
    desk.use(endpoint)
    with opened(desk.pal()) as pal:
        ask(pal, "run ls -la shop")
        for name in ("accounts", "audit", "billing"):
            ask(pal, f"read shop/{name}.py")
        few = endpoint.turns[-1].results
        assert few[0].startswith("[Previous: used bash: ls -la shop -> exit 0")
        assert not any(text.startswith(STUB) for text in few[1:])
        assert "[micro_compact]" in pal.text

        ask(pal, "Read every Python file in the shop folder one by one")
    many = endpoint.turns[-1].results
    cleared = [text for text in many if text.startswith("[Previous: used read_file")]
    whole = [text for text in many if text.startswith("shop/") or "def " in text]
    budget = 15_000  # 0.3 of the threshold of 50,000
    newest_three = 3 * 2_500
    assert cleared
    assert len(whole) > 3
    assert sum(len(text) for text in whole) / 3 < budget + newest_three
    assert endpoint.invalid == []


def _text(body: Body) -> str:
    return json.dumps(body["messages"])
