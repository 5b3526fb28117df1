from hypothesis import given
from hypothesis import strategies as st

from app.core.budget import Usage
from app.core.prices import Price
from app.core.requests import Purpose
from app.core.savings import Account, Bill

PRICE = Price(input=1_000_000, output=5_000_000, cache_read=100_000, cache_write=1_250_000)
"""One dollar an uncached token."""


def price(model):
    return PRICE


def sending_everything(bills, price_of, window):
    account = Account()
    for bill in bills:
        account.add(bill, price_of(bill.model))
    return account.savings(window)


def turn(usage, removed=0, model="m"):
    return Bill(Purpose.TURN, model, usage, PRICE.of(usage), removed)


def summary(usage):
    return Bill(Purpose.SUMMARY, "m", usage, PRICE.of(usage))


def growing(sizes, step=0):
    """Warm requests, each of which reads all of the one before."""
    bills, before = [], 0
    for size in sizes:
        bills.append(turn(Usage(cache_read=before, cache_write=size - before, output=10)))
        before = size + step
    return bills


@given(st.lists(st.integers(1, 1_000), max_size=20))
def test_where_nothing_was_taken_out_nothing_was_saved(steps):
    sizes = [sum(steps[: n + 1]) + 10 * n for n in range(len(steps))]
    found = sending_everything(growing(sizes, step=10), price, 10**9)
    assert found.tokens == 0 and abs(found.dollars) < 1e-3


def test_what_was_taken_out_would_have_been_read_from_the_cache_as_the_rest_was():
    bills = [
        turn(Usage(cache_write=10_000, output=0)),
        turn(Usage(cache_read=1_000, cache_write=1_000), removed=8_000),
        turn(Usage(cache_read=2_000, cache_write=500), removed=8_000),
    ]
    found = sending_everything(bills, price, 200_000)
    assert found.whole == 10_000 + 10_000 + 10_500
    assert found.whole_cost == 12_500 + 1_000 + (1_000 + 625)
    assert found.dollars == found.whole_cost - (12_500 + 1_350 + 825)


def test_the_summaries_own_cost_is_counted_against_the_saving():
    bills = [turn(Usage(input=1_000)), summary(Usage(input=1_000, output=100))]
    found = sending_everything(bills, price, 200_000)
    assert found.dollars == -1_500 and found.tokens == -1_000


def test_an_endpoint_that_caches_nothing_would_have_billed_everything_each_time():
    bills = [turn(Usage(input=500), removed=0), turn(Usage(input=600), removed=400)]
    assert sending_everything(bills, price, 200_000).whole_cost == 1_500


def test_a_cold_cache_would_have_been_written_anew():
    bills = [
        turn(Usage(cache_write=1_000)),
        turn(Usage(cache_write=1_000)),
        turn(Usage(cache_read=900, cache_write=100), model="other"),
    ]
    assert sending_everything(bills, price, 200_000).whole_cost == 3 * 1_250


def test_the_first_request_that_would_not_have_fitted_is_named():
    bills = [turn(Usage(input=500), 0), turn(Usage(input=600), 500), turn(Usage(input=700), 500)]
    assert sending_everything(bills, price, 1_000).beyond == 2


def test_without_a_price_the_tokens_are_still_known():
    bills = [Bill(Purpose.TURN, "m", Usage(input=500), None, 300)]
    found = sending_everything(bills, lambda model: None, 1_000)
    assert (found.tokens, found.dollars) == (300, None)
