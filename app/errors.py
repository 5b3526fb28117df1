"""The error tree.

PalError
├── ConfigError            a setting is wrong: its name, its source, what is allowed
├── ModelError             the model call failed; `hint` says what to do
│   ├── Unreachable        no connection, or it broke before an answer began
│   ├── Busy               429, 5xx, 529: worth another try after a while
│   ├── Rejected           a final "no": 400, 401, 402, 403, 404, 413, 422
│   │   ├── ContextOverflow    the request is larger than the window
│   │   └── SignatureRejected  signed thinking no longer fits what stands before it
│   ├── StreamBroken       the answer began and did not end
│   └── NotMessagesApi     the endpoint speaks something else (HTML, OpenAI's format, broken events)
├── RecordError            the record on disk cannot be used
│   ├── RecordUnwritable   disk full, read-only folder, a file where the folder should be
│   ├── SessionBusy        another process holds the session
│   ├── SessionNotFound    no session of that name
│   └── FormatTooNew       written by a newer version
├── ToolError              a tool refused or failed: becomes an `is_error` result
│   └── OutsideFolder      a path leads out of the project
└── CompactionRefused      compacting now would not help; the reason is the message
"""

from __future__ import annotations


class PalError(Exception):
    """Anything that is told to a person instead of shown as a traceback.

    Attributes:
        hint: What to do about it, one sentence; "" when the message says it already.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ConfigError(PalError):
    """A setting cannot be used.

    Attributes:
        name: The setting, as the user writes it.
        source: Where the value stands, for example ".env" or "environment".
    """

    def __init__(self, name: str, problem: str, *, source: str = "", hint: str = "") -> None:
        where = f" (from {source})" if source else ""
        super().__init__(f"{name}{where}: {problem}", hint=hint)
        self.name = name
        self.source = source


class ModelError(PalError):
    """A model call failed.

    Attributes:
        status: HTTP status, or None when there was none.
        url: What was called; "" when unknown.
    """

    def __init__(
        self, message: str, *, hint: str = "", status: int | None = None, url: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.url = url


class Unreachable(ModelError):
    """No connection, or it broke before the first byte of the answer."""


class Busy(ModelError):
    """The endpoint asks to come back later.

    Attributes:
        retry_after: Seconds the server asked for, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        hint: str = "",
        status: int | None = None,
        url: str = "",
    ) -> None:
        super().__init__(message, hint=hint, status=status, url=url)
        self.retry_after = retry_after


class Rejected(ModelError):
    """The endpoint said no; asking again the same way is useless."""


class ContextOverflow(Rejected):
    """The request was larger than the window.

    Attributes:
        sent: Tokens in the refused request, or None when the server did not say.
        window: Tokens the model accepts, or None when the server did not say.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        sent: int | None = None,
        window: int | None = None,
        status: int | None = None,
        url: str = "",
    ) -> None:
        super().__init__(message, hint=hint, status=status, url=url)
        self.sent = sent
        self.window = window


class SignatureRejected(Rejected):
    """A signed thinking block does not fit the messages before it."""


class StreamBroken(ModelError):
    """The answer began and ended without its final stop event."""


class NotMessagesApi(ModelError):
    """The endpoint answered in another language than the Messages API."""


class RecordError(PalError):
    """The record on disk cannot be used."""


class RecordUnwritable(RecordError):
    """Nothing more can be written: full disk, read-only folder, or no folder."""


class SessionBusy(RecordError):
    """Another process holds the session."""


class SessionNotFound(RecordError):
    """There is no such session."""


class FormatTooNew(RecordError):
    """The session was written by a newer version."""


class ToolError(PalError):
    """A tool refused or failed; the message becomes an ``is_error`` result for the model."""


class OutsideFolder(ToolError):
    """A path leads out of the project folder."""


class CompactionRefused(PalError):
    """Compacting now would not help; the message says why."""
