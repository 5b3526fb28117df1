"""Runs the real app with the embedded model in a folder of its own, lets it work, and saves what it shows."""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from pathlib import Path

from app.launch import Launch, screen

HERE = Path(__file__).resolve().parent
MODULE = '''"""Module {n} of the example project."""


def step_{n}(items: list[int]) -> int:
    """Return the weighted sum of the items."""
    total = 0
{lines}
    return total
'''


def make_project(folder: Path) -> None:
    """Write a small project with a test."""
    (folder / "shop").mkdir()
    for n in range(12):
        lines = "\n".join(
            f"    total += sum(items) * {n} + {i}  # weight {i}" for i in range(60 + 25 * (n % 4))
        )
        (folder / "shop" / f"module_{n:02}.py").write_text(
            MODULE.format(n=n, lines=lines), encoding="utf-8"
        )
    (folder / "AGENTS.md").write_text(
        "Keep functions small. Run the tests after a change.\n", encoding="utf-8"
    )


async def draw(name: str, size: tuple[int, int], theme: str, texts: list[str]) -> None:
    """Run the app, type the texts, and save the screen as SVG."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "shop-api"
        folder.mkdir()
        make_project(folder)
        os.environ["HOME"] = place
        os.chdir(folder)
        flags = {
            "--demo": "true",
            "threshold": "14k",
            "micro_policy": "every-turn",
            "preserve_tools": "",
            "theme": theme,
        }
        app, opening = screen(Launch(folder, flags))
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.pair is not None and app.pair.session is not None)
            for text in texts:
                await pilot.press(*("space" if c == " " else c for c in text), "enter")
                await pilot.pause(1.0)
                await until(pilot, lambda: not app.pair.session.busy)
            await pilot.pause(0.5)
            await pilot.pause()
            (HERE / f"{name}.svg").write_text(app.export_screenshot(title="pal"), encoding="utf-8")
        await opening.aclose()


async def until(pilot, done) -> None:
    while not done():
        await pilot.pause(0.1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default="128x36")
    parser.add_argument("--theme", default="auto")
    parser.add_argument("--name", default="screen")
    parser.add_argument("texts", nargs="*", default=["/tour"])
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    asyncio.run(draw(options.name, (width, height), options.theme, options.texts))
