"""Checks configuration, endpoint, model and folder in that order, and says for each what it saw and what to do."""

from __future__ import annotations

import asyncio
import difflib
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from app.adapters.model_table import window_of
from app.agent.dialogue import highest_threshold
from app.core.addresses import is_loopback
from app.core.messages import user
from app.core.ports import Model
from app.core.requests import Answer, FieldDropped, ModelInfo, ModelRequest
from app.core.visible_text import escaped, json_line
from app.errors import ConfigError, ContextOverflow, ModelError, Rejected
from app.settings import Settings, is_plain_http, mask

QUESTION = "Reply with the two letters OK and nothing else."
PATIENCE = 60.0
"""Seconds for one short answer; a model that is loaded first may need most of them."""
ANSWER_TOKENS = 512
"""Room for the answer; thinking counts."""
LEAST_ROOM = 10_000
"""Tokens below which a conversation cannot be held."""
_REPAIR = (
    "On Linux install the package bubblewrap (apt, dnf, pacman, apk and zypper all call it so); where it is there and "
    "does not work, allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or an AppArmor profile for "
    "bwrap). macOS has sandbox-exec."
)
LEAST_DISK = 200_000_000
"""Free bytes below which the record is at risk."""
SHOWN_MODELS = 8
_SET_KEY = (
    "For a real model set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) and MODEL_ID in the environment or in the "
    "folder's .env; `pal -p` needs them, or --demo."
)


class State(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    NOT_SET = "not set"
    """No key or model: the embedded demo model answers instead, which is no failure."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One check."""

    name: str
    state: State
    saw: str
    todo: str = ""


async def run_doctor(
    settings: Settings,
    *,
    model: Model,
    errors: Sequence[ConfigError] = (),
    sandbox: str = "",
    why_no_sandbox: str = "",
    patience: float = PATIENCE,
    as_json: bool = False,
    write: Callable[[str], object] = print,
) -> int:
    """Run all checks, print them, and close the model.

    Args:
        settings: What is in force.
        model: What answers, with a single attempt a call.
        errors: Settings that cannot be used.
        sandbox: Name of the working sandbox, or "".
        why_no_sandbox: Why there is none, where that is known.
        patience: Seconds that the endpoint gets for an answer.
        as_json: Print one JSON object at the end instead of text as the checks come.
        write: Takes each line.

    Returns:
        Exit code: 0, or 1 when a check failed.
    """
    checks: list[Check] = []
    try:
        found = examine(
            settings,
            model=model,
            errors=errors,
            sandbox=sandbox,
            why_no_sandbox=why_no_sandbox,
            patience=patience,
        )
        async for check in found:
            checks.append(check)
            if not as_json:
                write(_as_text(check))
    finally:
        await model.close()
    failed = any(check.state is State.FAILED for check in checks)
    if as_json:
        listed = [asdict(check) for check in checks]
        write(json_line({"v": 1, "ok": not failed, "checks": listed}))
    else:
        write(_verdict(checks))
    return 1 if failed else 0


async def examine(
    settings: Settings,
    *,
    model: Model,
    errors: Sequence[ConfigError] = (),
    sandbox: str = "",
    why_no_sandbox: str = "",
    patience: float = PATIENCE,
) -> AsyncIterator[Check]:
    """Yield each check when its result is known."""
    able = True
    for check in _configuration(settings, errors):
        able = able and check.state is not State.FAILED
        yield check
    name, info = settings.model, None
    if able and settings.embedded and not settings.demo:
        yield Check(
            "request",
            State.NOT_SET,
            "not tried: there is no key",
            "`pal doctor --set demo=true` asks the demo model.",
        )
    elif not able:
        yield Check("request", State.FAILED, "not tried", "Settle what failed above first.")
        if not settings.model and not settings.needs_key:
            yield await _offer(model)
    else:
        if settings.demo:
            name = next((listed.id for listed in await model.models()), name)
        yield await _request(name, model, patience)
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                info = await model.info(name)
    if name:
        yield _window(settings, name, info)
    yield await asyncio.to_thread(_transcripts, settings.transcripts)
    yield _sandbox(settings, sandbox, why_no_sandbox)


def _configuration(settings: Settings, errors: Sequence[ConfigError]) -> Iterator[Check]:
    for error in errors:
        yield Check("settings", State.FAILED, str(error), error.hint or "Correct or remove it.")
    for problem in settings.problems:
        yield Check("settings", State.WARNING, problem)
    yield _endpoint(settings)
    yield _key(settings)
    yield _model(settings)
    for conflict in settings.conflicts:
        wins = "PAL_ENV_FILE_WINS=1 turns .env and environment round."
        yield Check("conflict", State.WARNING, str(conflict), f"Remove one of the two. {wins}")


def _endpoint(settings: Settings) -> Check:
    if settings.demo:
        return Check("base URL", State.OK, "none: the embedded demo model answers in this process")
    saw = f"{settings.base_url} ({settings.source('base_url')})"
    if is_plain_http(settings.base_url):
        todo = "Key and conversation can be read on the way: use https://, or a tunnel."
        return Check("base URL", State.WARNING, saw, todo)
    return Check("base URL", State.OK, saw)


def _key(settings: Settings) -> Check:
    name = settings.credential
    if settings.demo:
        return Check("key", State.OK, "not needed: the embedded demo model answers")
    if not name:
        if is_loopback(settings.base_url):
            return Check("key", State.OK, "none; an endpoint on this machine needs none")
        return Check("key", State.NOT_SET, "none: the embedded demo model answers", _SET_KEY)
    secret = settings.api_key if name == "api_key" else settings.auth_token
    saw = f"{mask(secret)} ({name} from {settings.source(name)})"
    return Check("key", State.OK, saw)


def _model(settings: Settings) -> Check:
    if settings.demo:
        return Check("model", State.OK, "the embedded demo model")
    if not settings.model and settings.needs_key:
        return Check(
            "model", State.NOT_SET, "the embedded demo model, as there is no key", _SET_KEY
        )
    if not settings.model:
        todo = "Set MODEL_ID in the environment or in the folder's .env, or choose with /model."
        return Check("model", State.FAILED, "none chosen; there is no silent default", todo)
    return Check("model", State.OK, f"{settings.model} ({settings.source('model')})")


async def _request(name: str, model: Model, patience: float) -> Check:
    request = ModelRequest(name, "You are being tested.", (), (user(QUESTION),), ANSWER_TOKENS)
    started = time.monotonic()
    dropped: list[str] = []
    answer: Answer | None = None
    try:
        async with asyncio.timeout(patience), aclosing(model.stream(request)) as events:
            async for event in events:
                if isinstance(event, FieldDropped):
                    dropped.append(event.field)
                elif isinstance(event, Answer):
                    answer = event
    except TimeoutError:
        saw = f"the endpoint took the question and gave no answer within {patience:.0f} s"
        todo = "Is the model still being loaded, or does a proxy in between hold the answer back?"
        return Check("request", State.FAILED, saw, todo)
    except ModelError as error:
        return await _failure(error, name, model)
    if answer is None:
        return Check("request", State.FAILED, "the stream ended without an answer")
    return _answered(answer, dropped, time.monotonic() - started)


def _answered(answer: Answer, dropped: list[str], seconds: float) -> Check:
    usage = answer.usage
    billed = f"{usage.prompt} tokens in, {usage.output} out" if usage else "no token counts"
    said = " ".join(answer.message.text.split())[:40]
    saw = f"{answer.model or 'the model'} answered {said!r} in {seconds:.1f} s ({billed})"
    todo: list[str] = []
    if usage is None or not usage.prompt:
        todo.append("It reports no input tokens, so the budget stays an estimate (~).")
    if dropped:
        todo.append(f"It does not know {', '.join(dropped)}; that is left out.")
    return Check("request", State.WARNING if todo else State.OK, saw, " ".join(todo))


async def _failure(error: ModelError, name: str, model: Model) -> Check:
    todo = error.hint
    if isinstance(error, ContextOverflow):
        todo = "Even a short question is too long: choose a model with a larger window."
    if isinstance(error, Rejected) and error.status == 404:
        todo = " ".join(filter(None, (todo, _listed(name, await model.models()))))
    return Check("request", State.FAILED, str(error), todo)


async def _offer(model: Model) -> Check:
    offered = _listed("", await model.models())
    if not offered:
        todo = "Look up the model's name at your provider."
        return Check("models", State.WARNING, "no list of models came from the endpoint", todo)
    return Check("models", State.OK, offered, "Set MODEL_ID to one of them.")


def _listed(wanted: str, models: Iterable[ModelInfo]) -> str:
    names = [info.id for info in models]
    near = difflib.get_close_matches(wanted, names, SHOWN_MODELS)
    shown = (near + [name for name in names if name not in near])[:SHOWN_MODELS]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"The endpoint offers {', '.join(shown)}{more}." if shown else ""


def _window(settings: Settings, name: str, info: ModelInfo | None) -> Check:
    window, source = window_of(name, info, settings.context_window, official=settings.official)
    policy = settings.policy_for(window)
    answers, wanted = settings.max_output_tokens, policy.auto.threshold
    room = highest_threshold(window, window, answers)
    threshold = min(wanted, room)
    saw = f"window {window:,} ({source}), threshold {threshold:,}, answers up to {answers:,}"
    if room < LEAST_ROOM:
        left = f"Only {room:,} tokens are left for the conversation"
        todo = f"{left}: lower max_output_tokens, or take a model with a larger window."
        return Check("compaction", State.FAILED, saw, todo)
    if info is not None and info.max_output and settings.max_output_tokens > info.max_output:
        todo = f"The model writes {info.max_output:,} tokens at most: lower max_output_tokens."
        return Check("compaction", State.WARNING, saw, todo)
    if not policy.auto.enabled:
        todo = "Layer 2 is switched off: the session ends at the window."
        return Check("compaction", State.WARNING, saw, todo)
    if wanted > room:
        todo = f"The threshold of {wanted:,} lies above what fits; compaction comes at {room:,} tokens."
        return Check("compaction", State.WARNING, saw, todo)
    if source == "assumed":
        todo = "Nobody says how large the window is: set PAL_CONTEXT_WINDOW."
        return Check("compaction", State.WARNING, saw, todo)
    return Check("compaction", State.OK, saw)


def _transcripts(folder: Path) -> Check:
    """Whether the record can be written; nothing is left behind."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        todo = f"{place} is a file: move it away, or set PAL_TRANSCRIPT_DIR."
        return Check("transcripts", State.FAILED, f"{folder} is no folder", todo)
    try:
        with tempfile.TemporaryFile(dir=place) as probe:
            probe.write(b"x")
        free = shutil.disk_usage(place).free
    except OSError as error:
        todo = (
            "Give yourself the right to write there, or set PAL_TRANSCRIPT_DIR to another folder."
        )
        return Check("transcripts", State.FAILED, f"{folder}: {error.strerror or error}", todo)
    if free < LEAST_DISK:
        todo = "Make room: without it the record cannot go on."
        return Check("transcripts", State.WARNING, f"{folder}: {free // 10**6} MB free", todo)
    return Check("transcripts", State.OK, f"{folder} can be written")


def _sandbox(settings: Settings, name: str, why: str) -> Check:
    if settings.sandbox == "off":
        return Check("sandbox", State.OK, "switched off; commands run with your rights")
    if name:
        saw = f"{name} works: in mode auto, commands write only in the project, without network"
        return Check("sandbox", State.OK, saw)
    saw = f"none works here{f': {why}' if why else ''}"
    if settings.sandbox == "require":
        return Check(
            "sandbox",
            State.FAILED,
            f"{saw}; and it is required",
            f"{_REPAIR} Or set sandbox to auto.",
        )
    todo = f"{_REPAIR} Until then mode auto is not available; commands that change something ask first."
    return Check("sandbox", State.WARNING, saw, todo)


def _as_text(check: Check) -> str:
    lines = [f"{check.state:<8} {check.name:<12} {escaped(check.saw)}"]
    if check.todo:
        lines.append(f"{'':21} -> {escaped(check.todo)}")
    return "\n".join(lines)


def _verdict(checks: Sequence[Check]) -> str:
    failed = sum(check.state is State.FAILED for check in checks)
    warned = sum(check.state is State.WARNING for check in checks)
    if failed:
        return f"\n{failed} failed: `pal` cannot answer yet."
    if any(check.state is State.NOT_SET for check in checks):
        return "\nReady without a key: `pal` answers with the embedded demo model."
    return f"\nReady{f', with {warned} warning' + ('s' if warned > 1 else '') if warned else ''}."
