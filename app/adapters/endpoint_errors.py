"""What an endpoint's refusal means, in plain words: status and body to an error of our tree and a hint.

Status codes decide first, then the error's type, then phrases: their wording differs from server to server.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from app.adapters.endpoint import Endpoint
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
_OVERFLOW = re.compile(
    "prompt is too long|context.?length|context.?window|context.?size|too many tokens|maximum context"
    "|request_too_large|exceeds? the (?:available )?context|input is too long|token limit exceeded",
    re.IGNORECASE,
)
_SIGNATURE = re.compile(
    r"signature.{0,40}thinking|thinking.{0,60}signature|bound to a different conversation"
    r"|thinking.{0,80}cannot be modified",
    re.IGNORECASE | re.DOTALL,
)
_SENT_AND_WINDOW = re.compile(r"(\d[\d,]*)\s*tokens?\s*>\s*(\d[\d,]*)")
_SENT = re.compile(
    r"(\d[\d,]*) (?:tokens )?in the messages|requested (\d[\d,]*) tokens|\((\d[\d,]*) tokens\)"
    r"|contains? (?:at least )?(\d[\d,]*) (?:input )?tokens",
    re.IGNORECASE,
)
_WINDOW = re.compile(
    r"(?:context length|context window|context size|maximum context)[^\d]{0,40}?(\d[\d,]*)",
    re.IGNORECASE,
)
_REFUSED_FIELD = re.compile(
    "unknown|unsupported|not support|not permitted|not allowed|unexpected|unrecogni[sz]ed|extra"
    "|invalid|forbidden|does not match|should match",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Call:
    """The call that an error belongs to, for its words."""

    endpoint: Endpoint
    model: str
    secrets: tuple[str, ...] = ()
    """Keys and tokens, which never appear in a message."""

    @property
    def url(self) -> str:
        """What was called."""
        return self.endpoint.messages_url

    def clean(self, text: str) -> str:
        """Return a server's words as one line of bearable length, without our keys."""
        for secret in self.secrets:
            text = text.replace(secret, "[key]")
        line = " ".join(text.split())
        return line if len(line) <= _MESSAGE_CHARS else f"{line[:_MESSAGE_CHARS]}…"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error body, read."""

    message: str
    type: str = ""
    raw: Mapping[str, Any] | None = None

    @property
    def openai(self) -> bool:
        """Whether it has the shape of OpenAI's errors."""
        error = (self.raw or {}).get("error")
        return isinstance(error, Mapping) and "param" in error and "code" in error


def read_refusal(body: Any) -> Refusal:
    """Return the message and type in an error body: JSON of several shapes, HTML or text."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        try:
            parsed = json.loads(body)
        except ValueError:
            return Refusal(html_title(body) if looks_like_html(body) else body.strip())
        body = parsed
    if not isinstance(body, Mapping):
        return Refusal(str(body) if body else "")
    inner = body.get("error")
    source = inner if isinstance(inner, Mapping) else body
    message = source.get("message") or source.get("msg") or body.get("detail") or inner or ""
    if isinstance(message, list):
        message = "; ".join(_detail(part) for part in message)
    kind = source.get("type")
    return Refusal(str(message), kind if isinstance(kind, str) else "", body)


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
    if status not in (400, 404, 422):
        return ""
    text = json.dumps(body, ensure_ascii=False, default=str) if not isinstance(body, str) else body
    if _SIGNATURE.search(text) or not _REFUSED_FIELD.search(text):
        return ""
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
    date = email.utils.parsedate_tz(headers.get("retry-after", ""))
    return max(0.0, email.utils.mktime_tz(date) - time.time()) if date else None


def looks_like_html(text: str) -> bool:
    """Whether a body is a web page."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def html_title(text: str) -> str:
    """Return the title of a web page, or "" ."""
    match = re.search(r"<title[^>]*>(.{0,500}?)</title", text, re.IGNORECASE | re.DOTALL)
    return unescape(match[1]).strip() if match else ""


def _about_the_conversation(
    status: int, refusal: Refusal, said: str, call: Call
) -> ModelError | None:
    """Refusals that a change of the conversation can repair."""
    text = f"{refusal.type} {refusal.message}"
    if status == 400 and _SIGNATURE.search(text):
        return SignatureRejected(
            f"{call.url} refused signed thinking in the conversation: {said}",
            hint="It can be sent again without the thinking.",
            status=status,
            url=call.url,
        )
    too_large = status == 413 or (status in (400, 422, 500) and _OVERFLOW.search(text))
    if not too_large or "max_tokens:" in refusal.message.split(">")[0]:
        return None
    sent, window = _sizes(refusal)
    return ContextOverflow(
        f"The conversation is too long for {call.model} at {call.url}: {said or 'body too large'}",
        sent=sent,
        window=window,
        status=status,
        url=call.url,
    )


def _sizes(refusal: Refusal) -> tuple[int | None, int | None]:
    error = (refusal.raw or {}).get("error")
    if isinstance(error, Mapping) and isinstance(error.get("n_ctx"), int):
        prompt = error.get("n_prompt_tokens")
        return (prompt if isinstance(prompt, int) else None), error["n_ctx"]
    if match := _SENT_AND_WINDOW.search(refusal.message):
        return _number(match[1]), _number(match[2])
    sent, window = _SENT.search(refusal.message), _WINDOW.search(refusal.message)
    return (
        _number(next(group for group in sent.groups() if group)) if sent else None,
        _number(window[1]) if window else None,
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
    target = urlsplit(location)
    place = f"{target.scheme}://{target.netloc.rpartition('@')[2]}" if target.netloc else location
    return Rejected(
        f"{call.url} redirects to {call.clean(place) or 'another address'}; redirects are not followed, "
        "so that key and conversation stay with the host you chose.",
        hint="If that address is right, set ANTHROPIC_BASE_URL to it.",
        status=status,
        url=call.url,
    )


def _refused(status: int, refusal: Refusal, said: str, call: Call) -> tuple[str, str]:
    text, low = f": {said}" if said else ".", refusal.message.lower()
    doctor = "`pal doctor` shows where key, endpoint and model come from."
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
        return (
            f"{call.url} does not know the model {call.model!r}{text}",
            "Choose another with /model, or set MODEL_ID; `pal doctor` lists what the endpoint offers.",
        )
    spoken = " It speaks OpenAI's format." if refusal.openai else ""
    return (
        f"There is no Messages API at {call.url} ({status}){text}{spoken}",
        "Check ANTHROPIC_BASE_URL: /v1/messages is appended to it, so it ends before /v1; some servers "
        "want a path such as /anthropic.",
    )


def _detail(part: Any) -> str:
    if not isinstance(part, Mapping):
        return str(part)
    where = part.get("loc")
    place = ".".join(str(step) for step in where) if isinstance(where, list) else ""
    return f"{place}: {part.get('msg', '')}" if place else str(part.get("msg", part))


def _number(digits: str) -> int:
    return int(digits.replace(",", ""))
