"""The chat pane with ten thousand messages beside one with a hundred: drawing, scrolling, resizing, memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from app.ui.collecting import settle_memory
from app.ui.widgets.chat_pane import ChatPane
from tests.benchmarks.desk import Desk
from tests.benchmarks.figures import Figure, median
from tests.benchmarks.sessions import markdown
from tests.ui.chat_app import ChatApp

NAME = "chat"
ROUNDS = 9
PAGE = Path("/proc/self/statm")
PAGE_BYTES = 4096


def run(desk: Desk, *, short: bool) -> list[Figure]:
    few, many = (20, 200) if short else (100, 10_000)
    small = asyncio.run(costs(few))
    large = asyncio.run(costs(many))
    return [
        Figure(
            NAME, f"{what} with {many:,} messages", large[what], unit, small[what], f"with {few:,}"
        )
        for what, unit in (
            ("adding one", "ms"),
            ("scrolling a page", "ms"),
            ("jumping to the top", "ms"),
            ("resizing", "ms"),
        )
    ] + [
        Figure(
            NAME,
            f"memory of {many:,} messages",
            large["memory"],
            "MB",
            small["memory"],
            f"MB of {few:,}",
        )
    ]


async def costs(messages: int) -> dict[str, float]:
    """Median CPU milliseconds of each act, and the megabytes that the messages took."""
    app = ChatApp()
    async with app.run_test(size=(120, 40)) as pilot:
        before = _resident()
        for number in range(messages // 2):
            _say(app.pane, number)
            if number % 200 == 0:
                await pilot.pause()
        await pilot.pause()
        found = {"memory": _resident() - before}
        settle_memory()  # as the program does when a session is open

        async def act(work: Callable[[int], object]) -> float:
            taken = []
            for at in range(ROUNDS):
                begin = time.process_time()
                work(at)
                app.pane.draw_now()
                await pilot.pause()
                taken.append(time.process_time() - begin)
            return median(taken) * 1000

        found["adding one"] = await act(lambda at: _say(app.pane, at))
        found["scrolling a page"] = await act(
            lambda at: app.pane.scroll_relative(y=-30, animate=False)
        )
        found["jumping to the top"] = await act(
            lambda at: app.pane.scroll_to(y=0 if at % 2 else app.pane.max_scroll_y, animate=False)
        )
        resize: Callable[[int, int], Awaitable[None]] = pilot.resize_terminal
        taken = []
        for width in (80, 120, 100) * (ROUNDS // 3):
            begin = time.process_time()
            await resize(width, 40)
            await pilot.pause()
            taken.append(time.process_time() - begin)
        found["resizing"] = median(taken) * 1000
        return found


def _say(pane: ChatPane, number: int) -> None:
    """One message of the user and one of the model."""
    pane.add_user(f"question {number}")
    pane.begin_answer()
    pane.append_text(markdown(number % 20, 700))
    pane.finish_answer()


def _resident() -> float:
    return int(PAGE.read_text().split()[1]) * PAGE_BYTES / 1e6
