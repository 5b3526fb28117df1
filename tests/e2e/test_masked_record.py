"""A project full of keys, worked on with `mask_secrets`: nothing on the disk holds them, and the session goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.desk import Desk, ask, environment, opened
from tests.e2e.endpoint import Body, Endpoint, Sent, calls, says
from tests.fakes.secret_samples import SAMPLES

pytestmark = pytest.mark.slow

SECRETS = {name: secret for name, (_, secret) in SAMPLES.items()}


@pytest.fixture
def keys(desk: Desk) -> Desk:
    """A desk whose project has every sample in one file, and a long file with one of them in the middle."""
    lines = [f"# {name}\n{text}\n" for name, (text, _) in SAMPLES.items()]
    (desk.project / "keys.env").write_text("".join(lines))
    long = [f"line {n}\n" for n in range(8_000)]
    long[4_000] = f"{SAMPLES['github personal'][0]}\n"
    (desk.project / "long.log").write_text("".join(long))
    return desk


def brain(body: Body):
    """Print both files, say one of the secrets, and then whatever is asked."""
    results = str(body["messages"]).count("tool_result")
    if results == 0:
        return calls("bash", "toolu_1", command="cat keys.env")
    if results == 1:
        return calls("bash", "toolu_2", command="cat long.log")
    return says(f"The token is {SECRETS['github personal']}.")


def leaks(root: Path) -> list[str]:
    """Which secrets are in which files that the program wrote."""
    written = [
        path
        for path in root.rglob("*")
        if path.is_file() and path.name not in ("keys.env", "long.log")
    ]
    texts = {path: path.read_text(errors="replace") for path in written}
    return [
        f"{name} in {path.name}"
        for path, text in texts.items()
        for name, s in SECRETS.items()
        if s in text
    ]


def run(desk: Desk, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        cwd=desk.project,
        env=environment(desk.home, **desk.env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def seen(sent: Sent) -> list[str]:
    return [
        name for name, secret in SECRETS.items() if any(secret in text for text in sent.results)
    ]


def test_the_record_holds_none_and_a_resume_goes_on_with_masks(keys: Desk) -> None:
    with Endpoint(brain) as endpoint:
        keys.use(endpoint, PAL_MASK_SECRETS="record")
        run(keys, "-p", f"read it; mine is {SECRETS['stripe live']}", "--allow", "bash: cat *")
        first = endpoint.sent[-1]
        assert "github personal" in seen(first), "the running session keeps the text"
        run(keys, "-p", "go on", "--continue")
        resumed = endpoint.sent[-1]
        assert seen(resumed) == []
        assert not [s for s in SECRETS.values() if s in resumed.text]
        assert "[masked github token " in resumed.text and "# github personal" in resumed.text
        assert endpoint.invalid == []
        run(keys, "sessions", "export", "--format", "jsonl", "--output", "out.jsonl")
        run(keys, "sessions", "export", "--output", "out.md")
    assert (keys.project / "out.jsonl").stat().st_size > 1_000
    assert leaks(keys.project) == [] and leaks(keys.home) == []
    outputs = list(keys.session().glob("outputs/*"))
    assert outputs and any("[masked github token " in p.read_text() for p in outputs)


def test_in_the_view_the_model_sees_masks_from_the_start(keys: Desk) -> None:
    with Endpoint(brain) as endpoint:
        keys.use(endpoint, PAL_MASK_SECRETS="view")
        with opened(keys.pal("--set", "allow=bash: cat *")) as pal:
            ask(pal, "read it")
            pal.wait_for("The token is")
            ask(pal, "/export out.md")
            ask(pal, "/compact")
            ask(pal, "and now?")
        assert [seen(sent) for sent in endpoint.sent] == [[]] * len(endpoint.sent)
        assert any("[masked github token " in sent.text for sent in endpoint.sent)
        assert endpoint.invalid == []
    assert leaks(keys.project) == [] and leaks(keys.home) == []
