from app.agent.ledger import Ledger, Run
from app.core.budget import Usage
from app.core.prices import Price
from app.core.requests import Purpose

PRICE = Price(3, 15, 0.3, 3.75)


def test_what_layers_took_out_stands_beside_each_request():
    ledger = Ledger()
    ledger.bill(Usage(input=100), Purpose.TURN, "m", 0.1, PRICE)
    ledger.took(5, 40)
    ledger.bill(Usage(input=60), Purpose.TURN, "m", 0.1, PRICE)
    ledger.took(9, -40)
    ledger.bill(Usage(input=110), Purpose.TURN, "m", 0.1, PRICE)
    found = ledger.account.savings(200_000)
    assert (found.sent, found.whole) == (270, 310)


def test_going_back_brings_the_account_of_that_moment_back():
    ledger = Ledger()
    ledger.took(5, 40)
    ledger.took(9, 500)
    ledger.went_back(12, before=7)
    assert ledger.removed == 40
    ledger.went_back(15, before=12)
    assert ledger.removed == 540
    ledger.went_back(18, before=2)
    assert ledger.removed == 0


def test_an_unknown_price_makes_the_whole_cost_unknown():
    ledger = Ledger()
    ledger.bill(Usage(input=100), Purpose.TURN, "m", 0.1, PRICE)
    ledger.bill(Usage(input=100), Purpose.SUMMARY, "m", None, None)
    assert ledger.account.cost is None and list(ledger.contexts) == [100]


def test_runs_and_turns_know_where_they_began():
    ledger = Ledger()
    ledger.spoken()
    ledger.bill(Usage(input=100), Purpose.TURN, "m", 0.1, PRICE)
    ledger.begin_run("2026-11-29T12:00:00Z")
    ledger.spoken()
    assert list(ledger.turns) == [0, 1] and ledger.runs == [Run("2026-11-29T12:00:00Z", 1)]
