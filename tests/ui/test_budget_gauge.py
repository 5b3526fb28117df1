from dataclasses import replace

from textual.app import App

from app.ui.widgets.budget_gauge import BudgetGauge
from tests.ui.fake_session import BUDGET

MEASURED = replace(BUDGET, measured=True, factor=1.5)


class GaugeApp(App):
    def compose(self):
        yield BudgetGauge()


async def test_what_streams_is_added_in_the_models_own_tokens_to_the_last_piece():
    app = GaugeApp()
    async with app.run_test() as pilot:
        gauge = app.query_one(BudgetGauge)
        gauge.show(MEASURED)
        for _ in range(100):
            gauge.grow(2.0)
        while gauge.budget.used != MEASURED.used + 300:
            await pilot.pause(0.01)
        assert not gauge.budget.measured and gauge.budget.estimated == 300
        assert gauge.budget.parts.total == MEASURED.parts.total + 300


async def test_the_endpoints_figure_takes_the_place_of_what_was_added():
    app = GaugeApp()
    async with app.run_test() as pilot:
        gauge = app.query_one(BudgetGauge)
        gauge.show(MEASURED)
        gauge.grow(50.0)
        gauge.grow(50.0)
        gauge.show(replace(MEASURED, used=18_300))
        await pilot.pause(0.15)
        assert gauge.budget.used == 18_300 and gauge.budget.measured


async def test_no_timer_is_left_when_the_stream_is_over():
    app = GaugeApp()
    async with app.run_test() as pilot:
        gauge = app.query_one(BudgetGauge)
        gauge.show(MEASURED)
        gauge.grow(50.0)
        while gauge._pause is not None:
            await pilot.pause(0.01)
        assert gauge.budget.used == MEASURED.used + 75
