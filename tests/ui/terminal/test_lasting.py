from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from app.ui.terminal.driver import Lasting


def test_a_terminal_that_went_away_stops_neither_the_writer_nor_who_writes() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        writer = WriterThread(Lasting(gone))  # type: ignore[arg-type]
        writer.start()

        def draw() -> None:
            for _ in range(4 * MAX_QUEUED_WRITES):
                writer.write("x" * 10_000)
            writer.stop()

        drawing = Thread(target=draw, daemon=True)
        drawing.start()
        drawing.join(30)
        assert not drawing.is_alive()
        with Path(os.devnull).open("w") as nowhere:  # so that closing can flush
            os.dup2(nowhere.fileno(), gone.fileno())
