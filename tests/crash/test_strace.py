"""The kernel's second opinion: `strace` kills the program, or fails its calls, where the layer of these tests cannot lie."""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys

import pytest

from tests.crash.work import FLAGS, Outcome, Place

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@functools.cache
def can_trace() -> bool:
    strace = shutil.which("strace")
    probe = [strace or "", "-f", "-qq", "-o", "/dev/null", "true"]
    return strace is not None and subprocess.run(probe, capture_output=True).returncode == 0


def run_traced(place: Place, inject: str) -> Outcome:
    """Run one turn of `pal -p` on the newest session, with one kind of call struck."""
    if not can_trace():
        pytest.skip("strace is not here, or may not trace")
    out, call = place.folder / "traced.out", inject.split(":", maxsplit=1)[0]
    trace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}"]
    program = [sys.executable, "-m", "app", "-p", place.text(), "--continue"]
    with out.open("w") as file:
        done = subprocess.run(
            [*trace, "-e", f"inject={inject}", *program, "--output", "stream-json", *FLAGS],
            cwd=place.project,
            env=place.env,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    return Outcome(done.returncode, place.ledger.hear(out), errors=done.stderr)


@pytest.mark.parametrize(
    "inject",
    ["fdatasync:signal=KILL:when=9", "fsync:signal=KILL:when=3", "rename:signal=KILL:when=1"],
)
def test_a_kill_at_a_call_of_the_kernel_loses_nothing(place: Place, inject: str) -> None:
    outcome = run_traced(place, inject)
    assert outcome.code == -9, outcome.errors
    assert place.look(resumed=False).problems == []
    resumed = place.print(place.tagged("what have we read so far?"))
    assert (resumed.code, resumed.invalid) == (0, [])
    assert place.look(resumed=True).problems == []


def test_calls_that_a_signal_interrupts_are_made_again(place: Place) -> None:
    outcome = run_traced(place, "write:error=EINTR:when=30+3")
    assert outcome.code == 0, outcome.errors
    assert place.look(resumed=True).problems == []


def test_a_sync_that_fails_stops_the_turn_with_a_word(place: Place) -> None:
    outcome = run_traced(place, "fdatasync:error=EIO:when=8")
    assert outcome.code == 1
    assert "Input/output error" in outcome.last["error"]
    assert place.look(resumed=False).problems == []
    assert place.print(place.tagged("what have we read so far?")).code == 0
    assert place.look(resumed=True).problems == []
