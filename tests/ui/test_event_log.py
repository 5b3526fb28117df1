"""The rows of the compaction log: the newest at first, older ones as one goes up."""

from dataclasses import replace

from textual.app import App

from app.agent.ledger import Run
from app.ui.widgets.event_log import OLDER, PAGE, SLACK, EventLog, ReportList
from tests.ui.fake_session import HELD, MICRO


class LogApp(App[None]):
    def __init__(self):
        super().__init__()
        self.opened = []

    def compose(self):
        yield EventLog()

    def on_event_log_opened(self, event):
        self.opened.append(event.report.before)

    @property
    def log_pane(self) -> EventLog:
        return self.query_one(EventLog)

    @property
    def rows(self) -> ReportList:
        return self.query_one(ReportList)

    @property
    def ids(self) -> list[str | None]:
        return [option.id for option in self.rows.options]


def reports(count):
    times = (f"2026-11-29T{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}.000Z" for n in range(count))
    return [replace(MICRO, before=n, time=time) for n, time in enumerate(times)]


async def test_every_older_event_is_reached_by_going_up():
    app, count = LogApp(), 2 * PAGE + 50
    async with app.run_test() as pilot:
        app.log_pane.show_reports(reports(count))
        app.log_pane.focus_rows()
        assert app.ids == [OLDER, *map(str, range(count - PAGE, count))]
        for first in (50, 0):
            await pilot.press("home")
            await pilot.pause()
            stood = str(first + PAGE) if first else "50"
            assert app.rows.highlighted_option.id == stood
            assert next(id for id in app.ids if id != OLDER) == str(first)
        assert app.ids == list(map(str, range(count)))


async def test_an_older_event_opens_as_itself():
    app = LogApp()
    async with app.run_test() as pilot:
        app.log_pane.show_reports(reports(PAGE + 7))
        app.log_pane.focus_rows()
        await pilot.press("home")
        await pilot.pause()
        await pilot.press("home", "enter")
        await pilot.pause()
        assert app.opened == [0]


async def test_a_run_is_named_once_also_when_it_began_before_the_first_row():
    app, all_of_them = LogApp(), reports(PAGE + 100)
    runs = [Run(all_of_them[at].time, at) for at in (0, 20, 40, PAGE)]
    async with app.run_test():
        app.log_pane.show_reports(all_of_them, runs)
        lines = [str(o.prompt) for o in app.rows.options if o.id is None]
        assert [line.split("·")[0] for line in lines] == ["── run 3 ", "── run 4 "]
        assert app.ids[:3] == [OLDER, None, "100"]


async def test_a_long_session_keeps_the_list_short_while_it_follows():
    app = LogApp()
    async with app.run_test():
        app.log_pane.show_reports(reports(PAGE))
        for report in reports(SLACK + 2):
            app.log_pane.add_report(report)
        assert app.rows.option_count <= PAGE + SLACK
        assert app.ids[0] == OLDER and app.ids[-1] == str(PAGE + SLACK + 1)
        assert app.rows.highlighted == app.rows.option_count - 1


async def test_a_filter_reaches_the_events_that_are_not_listed():
    app = LogApp()
    async with app.run_test():
        app.log_pane.show_reports([HELD, *reports(PAGE + 5)])
        while "held" not in str(app.log_pane.border_title):
            app.log_pane.action_filter()
        assert app.ids == ["0"]
