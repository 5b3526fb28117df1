"""The embedded model: a scripted pair programmer behind the real wire protocol, inside this process.

`transport` answers HTTP requests; `script` decides what to do next from the messages that were sent, and from
nothing else, so that it goes on after a compaction, a resume or a crash.
"""

from __future__ import annotations

DEMO_MODEL_ID = "palimpsest-demo"
"""The only model that the transport lists and answers for."""
DEMO_BASE_URL = "http://demo.invalid"
"""Base URL to give the client; the name can never resolve, so a request that misses the transport goes nowhere."""
DEMO_API_KEY = "demo"
"""What to give the client as its key; the transport does not look at it."""
DEMO_WINDOW = 200_000
"""Input tokens it accepts."""
DEMO_MAX_OUTPUT = 64_000
"""Output tokens it can be asked for."""
