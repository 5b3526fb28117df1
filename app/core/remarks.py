"""The kinds of `Remark` in the record and the shape of their data."""

from __future__ import annotations

USAGE = "usage"
"""One billed request: ``{"input", "cache_read", "cache_write", "output", "purpose", "model", "sent", "cost"}``.
``sent`` is the raw estimate of the conversation that the request carried; ``"estimated": true`` where the endpoint gave
no figures."""
RUN = "run"
"""Another run of the program goes on with the session, and its first request is about to leave: ``{}``, or
``{"printed": true}`` where the session was only ever used without a screen, by ``pal -p``."""
PROMPT = "prompt"
"""System prompt and tools in force from here on: ``{"system": str, "tools": [{name, description, input_schema}]}``."""
REPORT = "report"
"""One run of a layer: the fields of `CompactionReport`."""
APPROVAL = "approval"
"""A question and its answer: ``{"tool", "title", "detail", "answer", "words", "edited", "rule"}``."""
QUEUED = "queued"
"""A typed-ahead message waits: ``{"id": str, "text": str}``, and ``"pictures"``: image blocks that go with it."""
DELIVERING = "delivering"
"""The next message with the words of this typed-ahead one is its delivery: ``{"id": str}``."""
UNQUEUED = "unqueued"
"""A typed-ahead message was delivered or taken back: ``{"id": str}``."""
RESULT = "result"
"""One of several parallel results finished: ``{"tool_use_id", "result": tool_result block, "effects": {...}}``."""
TODO = "todo"
"""The whole todo list: ``{"items": [{"text", "state"}]}``."""
MODEL = "model"
"""The model in force from here on: ``{"model": str}``."""
WINDOW = "window"
"""A refusal taught how much a model takes: ``{"model": str, "window": int}``, in tokens."""
MUTED = "muted"
"""Layer 2 waits until the view passes this many tokens: ``{"until": int, "wanted": [int, float | None]}``; 0 ends it.

``wanted`` is the threshold that the user had set then, in tokens and as a fraction: another one ends the wait."""
NOTE = "note"
"""A note went to the model once: ``{"mark": float}``, a share of the threshold."""
FILES = "files"
"""Files were changed, or are about to be: ``{"changes": [...], "more": int, "folders": [...]}``, see
`core.file_states`; ``more`` were too many to keep, ``folders`` were made with them."""
ERROR = "error"
"""Something failed: ``{"message": str, "hint": str}``."""
RENAMED = "renamed"
"""The user named the session: ``{"name": str}``."""
OWN_COMMAND = "own_command"
"""The user ran a command of their own: ``{"command", "outcome", "text", "share", "ok"}``. With ``share`` the model is
told with the user's next message; ``ok`` is whether it came to its own end."""
BROUGHT_BACK = "brought_back"
"""The user brings a result back: ``{"result": str, "note": str}``; the note goes to the model with the next message."""
PARTIAL = "partial"
"""Text of an answer that was cancelled or cut, kept for the reader: ``{"text": str}``."""
DIFF = "diff"
"""What a call changed in a file, kept for the reader: ``{"tool_use_id": str, "diff": unified diff}``."""
