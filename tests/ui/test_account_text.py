from dataclasses import replace

from app.core.budget import Usage
from app.core.reports import Outcome
from app.core.savings import Savings
from app.ui.account_text import Account, compaction_lines, cost_text, growth, saved_line, until_line
from app.ui.context_text import explain
from tests.ui.fake_session import AUTO, BUDGET, HELD, MANUAL, MICRO

SAVINGS = Savings(sent=80_000, whole=210_000, cost=0.123, whole_cost=0.311)
ACCOUNT = Account(
    budget=BUDGET,
    usage=Usage(input=20_000, cache_read=60_000, output=3_000),
    requests=7,
    contexts=(10_000, 12_000, 14_000, 16_000, 9_000, 11_000),
    turn_starts=(0, 2, 4),
    reports=(MICRO, HELD, AUTO, MANUAL),
    savings=SAVINGS,
)


def panel(account, width=100):
    return "\n".join("".join(text for text, _ in line) for line in explain(account, width).lines)


def test_the_way_to_layer_two_is_told_in_requests_and_turns():
    assert growth(ACCOUNT) == 2_000
    assert (
        until_line(ACCOUNT)
        == "31,760 tokens: about 15 requests, 8 turns, at 2,000 tokens a request"
    )
    assert until_line(replace(ACCOUNT, contexts=())) == "31,760 tokens"


def test_each_compaction_has_its_cost_and_one_taken_back_says_so():
    undone = replace(AUTO, outcome=Outcome.UNDONE)
    lines = compaction_lines((AUTO, MANUAL, undone))
    assert lines[0] == "2 compactions took $0.033 of it:"
    assert "$0.021" in lines[1] and "taken back" in lines[1]
    assert "$0.012" in lines[2] and "taken back" not in lines[2]


def test_a_compaction_of_unknown_price_makes_the_sum_unknown():
    assert "took $? of it" in compaction_lines((AUTO, replace(MANUAL, cost=None)))[0]


def test_what_was_saved_is_named_as_an_estimate_and_how_it_is_reckoned():
    said = saved_line(SAVINGS)
    assert "about $0.31" in said and "$0.19 (60%) saved" in said and "summaries" in said


def test_a_loss_is_called_a_loss():
    said = saved_line(replace(SAVINGS, whole_cost=0.1))
    assert "more so far" in said and "saved" not in said


def test_without_a_price_tokens_are_compared():
    said = saved_line(replace(SAVINGS, cost=None, whole_cost=None))
    assert "130,000 fewer" in said and "$" not in said


def test_where_nothing_is_billed_tokens_are_compared():
    said = saved_line(replace(SAVINGS, cost=0.0, whole_cost=0.0))
    assert "130,000 fewer" in said and "$" not in said


def test_a_session_that_would_have_burst_the_window_says_where():
    assert "From request 21 on" in saved_line(replace(SAVINGS, beyond=21))


def test_cost_and_panel_say_the_same():
    for line in cost_text(ACCOUNT).split("\n")[:3]:
        assert line.strip() in panel(ACCOUNT)


def test_the_panel_says_how_sure_the_figure_is():
    assert "as the endpoint counts" in panel(ACCOUNT)
    half = replace(ACCOUNT, budget=replace(BUDGET, estimated=1_240))
    assert "17,000 as the endpoint counted, 1,240 estimated" in panel(half)
    none = replace(ACCOUNT, budget=replace(BUDGET, estimated=BUDGET.used))
    assert "all estimated" in panel(none)


def test_no_line_of_the_panel_is_wider_than_it_may_be():
    for width in (70, 80, 120):
        assert max(map(len, panel(ACCOUNT, width).split("\n"))) <= width
