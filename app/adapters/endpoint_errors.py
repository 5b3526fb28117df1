"""What an endpoint's refusal means, in plain words: status and body to an error of our tree and a hint.

Status codes decide first, then the error's type, then phrases: their wording differs from server to server.
"""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from app.adapters.endpoint import Endpoint
from app.adapters.pictures import PicturesRefused, about_pictures
from app.adapters.refusal import Refusal, html_title, looks_like_html, read_refusal
from app.adapters.too_long import is_too_long, sizes
from app.core.masking import LEAST_CHARS
from app.errors import (
    Busy,
    ContextOverflow,
    ModelError,
    NotMessagesApi,
    Rejected,
    SignatureRejected,
)

_MESSAGE_CHARS = 300
_TYPE_STATUS = {
    "invalid_request_error": 400,
    "exceed_context_size_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_SIGNATURE = re.compile(
    r"signature.{0,40}thinking|thinking.{0,60}signature|bound to a different conversation"
    r"|thinking.{0,80}cannot be modified",
    re.IGNORECASE | re.DOTALL,
)
_NO_MODEL = re.compile(
    "not found|not exist|no such|unknown|invalid model|not a valid model|not available",
    re.IGNORECASE,
)
_REFUSED_FIELD = re.compile(
    "unknown|unsupported|not support|not permitted|not allowed|unexpected|unrecogni[sz]ed|extra"
    "|invalid|forbidden|does not match|should match|should be|additional propert",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Call:
    """The call that an error belongs to, for its words."""

    endpoint: Endpoint
    model: str
    secrets: tuple[str, ...] = ()
    """Keys and tokens, which never appear in a message."""
    pictures: bool = False
    """Whether the request carries pictures."""
    mostly_pictures: bool = False
    """Whether they make up most of its body."""

    @property
    def url(self) -> str:
        """What was called."""
        return self.endpoint.messages_url

    def clean(self, text: str) -> str:
        """Return a server's words as one line of bearable length, without our keys."""
        for secret in self.secrets:
            stands = re.escape(secret)
            if len(secret) < LEAST_CHARS:  # a stand-in such as "x", for a server that wants any key
                stands = rf"(?<!\w){stands}(?!\w)"
            text = re.sub(stands, "[key]", text)
        line = " ".join(text.split())
        return line if len(line) <= _MESSAGE_CHARS else f"{line[:_MESSAGE_CHARS]}…"


def status_error(status: int, headers: Mapping[str, str], body: Any, call: Call) -> ModelError:
    """Return the error that a response with a status other than 2xx stands for."""
    refusal = read_refusal(body)
    said = call.clean(refusal.message)
    if status >= 400 and (special := _about_the_conversation(status, refusal, said, call)):
        return special
    if 300 <= status < 400:
        return _redirect(status, headers.get("location", ""), call)
    if status in (408, 409, 429) or status >= 500:
        return _busy(status, headers, said, call)
    message, hint = _refused(status, refusal, said, call)
    return Rejected(message, hint=hint, status=status, url=call.url)


def stream_error(body: Mapping[str, Any], call: Call) -> ModelError:
    """Return the error that an ``error`` event, or an error object with status 200, stands for."""
    refusal = read_refusal(body)
    code = refusal.raw.get("error") if refusal.raw else None
    number = code.get("code") if isinstance(code, Mapping) else None
    status = _TYPE_STATUS.get(refusal.type) or (
        number if isinstance(number, int) and 400 <= number < 600 else 500
    )
    return status_error(status, {}, body, call)


def not_messages_api(text: str, call: Call) -> NotMessagesApi:
    """Return the error for a 200 whose body is a web page or something else that is no answer."""
    base = (
        "Check ANTHROPIC_BASE_URL: it must lead to a server that offers the Anthropic Messages API"
    )
    if looks_like_html(text):
        title = call.clean(html_title(text))
        what = f"a web page{f' ({title})' if title else ''}"
        hint = f"{base}; a login page of the network or a proxy may also stand in between."
    else:
        what = f"something that is no answer: {call.clean(text[:120])!r}"
        hint = f"{base}."
    return NotMessagesApi(f"{call.url} answered with {what}.", hint=hint, status=200, url=call.url)


def openai_format(call: Call) -> NotMessagesApi:
    """Return the error for an answer in OpenAI's format."""
    return NotMessagesApi(
        f"{call.url} answers in OpenAI's format, with choices.",
        hint="Set ANTHROPIC_BASE_URL to the server's Anthropic-compatible address, or put a gateway "
        "that translates, such as LiteLLM, in front of it.",
        status=200,
        url=call.url,
    )


def refused_field(status: int, body: Any, optional: frozenset[str]) -> str:
    """Return which optional field of the request the endpoint does not accept; "" for none.

    Args:
        status: HTTP status of the refusal.
        body: Its body.
        optional: Fields that were sent and could be left out.
    """
    refusal = read_refusal(body)
    if status not in (400, 404, 422) or _SIGNATURE.search(refusal.message):
        return ""
    error = (refusal.raw or {}).get("error")
    named = str(error.get("param") or "") if isinstance(error, Mapping) else ""
    if not named and not _REFUSED_FIELD.search(refusal.message):
        return ""
    text = f"{named} {refusal.message}".lower()
    return next((name for name in sorted(optional) if name in text), "")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the headers ask to wait, or None."""
    for name, scale in (("retry-after-ms", 1_000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / scale
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        date = email.utils.parsedate_tz(headers.get("retry-after", ""))
        return max(0.0, email.utils.mktime_tz(date) - time.time()) if date else None
    except (ValueError, OverflowError):  # a day that no calendar has
        return None


def _about_the_conversation(
    status: int, refusal: Refusal, said: str, call: Call
) -> ModelError | None:
    """Refusals that a change of the conversation can repair."""
    text = f"{refusal.type} {refusal.message}"
    if call.pictures and (error := about_pictures(status, refusal, said, call.url)):
        return error
    if status == 413 and call.mostly_pictures:
        return PicturesRefused(
            f"{call.url} refused the request for its size, most of which is pictures: {said}",
            hint="Send fewer or smaller ones.",
            status=status,
            url=call.url,
        )
    if status == 400 and _SIGNATURE.search(text):
        return SignatureRejected(
            f"{call.url} refused signed thinking in the conversation: {said}",
            hint="It can be sent again without the thinking.",
            status=status,
            url=call.url,
        )
    too_large = status == 413 or (status in (400, 422, 500) and is_too_long(refusal))
    if not too_large or "max_tokens:" in refusal.message.split(">")[0]:
        return None
    sent, window = sizes(refusal)
    return ContextOverflow(
        f"The conversation is too long for {call.model} at {call.url}: {said or 'body too large'}",
        hint="Shorten it with /compact, or start anew with /clear; `context_window` sets what the model takes.",
        sent=sent,
        window=window,
        status=status,
        url=call.url,
    )


def _busy(status: int, headers: Mapping[str, str], said: str, call: Call) -> ModelError:
    what = {
        408: "The request timed out at the server",
        409: "The server is in the middle of a change",
        429: "Too many requests or tokens for this key's limits",
        529: "The API is overloaded",
    }.get(status, f"The server failed with status {status}")
    message = f"{what} ({call.url}){f': {said}' if said else '.'}"
    if headers.get("x-should-retry") == "false":
        hint = "The server says that trying again does not help; look at your limits and its status page."
        return Rejected(message, hint=hint, status=status, url=call.url)
    return Busy(
        message,
        retry_after=retry_after(headers),
        hint="Try again in a while, or choose another model or endpoint.",
        status=status,
        url=call.url,
    )


def _redirect(status: int, location: str, call: Call) -> ModelError:
    return Rejected(
        f"{call.url} redirects to {call.clean(_host_of(location)) or 'another address'}; redirects are not followed, "
        "so that key and conversation stay with the host you chose.",
        hint="If that address is right, set ANTHROPIC_BASE_URL to it.",
        status=status,
        url=call.url,
    )


def _host_of(location: str) -> str:
    """Return where a redirect leads, without a name, a password or a path."""
    try:
        target = urlsplit(location)
    except ValueError:
        return ""
    return f"{target.scheme}://{target.netloc.rpartition('@')[2]}" if target.netloc else location


def _refused(status: int, refusal: Refusal, said: str, call: Call) -> tuple[str, str]:
    text, low = f": {said}" if said else ".", refusal.message.lower()
    doctor = "`pal doctor` shows where key, endpoint and model come from."
    if status in (400, 422) and call.model.lower() in low and _NO_MODEL.search(low):
        return _no_such_model(text, call)
    if "credit balance" in low or "spend limit" in low or status == 402:
        return (
            f"The account behind the key has no credit left or reached its limit ({call.url}){text}",
            "Add credit or raise the limit at the provider, or use another key.",
        )
    match status:
        case 401:
            return (
                f"{call.url} does not accept the key (401){text}",
                "The key may be wrong, disabled, expired or used up: check ANTHROPIC_API_KEY or "
                f"ANTHROPIC_AUTH_TOKEN. {doctor}",
            )
        case 403:
            return (
                f"{call.url} forbids this call (403){text}",
                "The key may lack access to this model or workspace, or the network or country is blocked.",
            )
        case 404 | 405:
            return _not_found(status, refusal, text, call)
        case _ if "max_tokens" in low:
            return (
                f"{call.model} does not write answers of that length{text}",
                "Lower max_output_tokens to what the message names.",
            )
        case _ if "tool" in low and "support" in low:
            return (
                f"{call.model} cannot use tools at {call.url}{text}",
                "Choose a model that can: /model, or MODEL_ID.",
            )
        case _:
            return f"{call.url} refused the request ({status}){text}", doctor


def _not_found(status: int, refusal: Refusal, text: str, call: Call) -> tuple[str, str]:
    low = refusal.message.lower()
    names_model = call.model.lower() in low or re.search(r"\bmodels?\b", low)
    if call.model and names_model and "url" not in low:
        return _no_such_model(text, call)
    spoken = " It speaks OpenAI's format." if refusal.openai else ""
    return (
        f"There is no Messages API at {call.url} ({status}){text}{spoken}",
        "Check ANTHROPIC_BASE_URL: /v1/messages is appended to it, so it ends before /v1; some servers "
        "want a path such as /anthropic.",
    )


def _no_such_model(text: str, call: Call) -> tuple[str, str]:
    return (
        f"{call.url} does not know the model {call.model!r}{text}",
        "Choose another with /model, or set MODEL_ID; `pal doctor` lists what the endpoint offers.",
    )
