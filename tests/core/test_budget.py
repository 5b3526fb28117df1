"""The meter."""

from __future__ import annotations

from app.core.budget import Budget, Meter, Usage, Zone


def test_what_came_since_a_usage_is_feared_to_be_more_than_estimated() -> None:
    meter = Meter(floor=1_000.0)
    assert meter.reach(9_000.0) == meter.used(9_000.0) == 10_000
    meter = meter.measure(Usage(input=10_000), sent=9_000.0, now=9_000.0)
    assert meter.reach(9_000.0) == 10_000
    assert (meter.used(13_000.0), meter.reach(13_000.0)) == (14_000, 15_000)
    assert meter.restart().reach(13_000.0) == 14_000


def test_the_gauge_says_over_when_layer_2_comes_next() -> None:
    def zone(*, auto: bool) -> Zone:
        budget = Budget(48_000, False, 49_000, 49_500, "table", auto=auto, estimated=8_000)
        return budget.zone

    assert zone(auto=True) is Zone.OVER
    assert zone(auto=False) is Zone.NEAR
