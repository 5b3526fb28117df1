"""All kinds of fault in one table."""

from __future__ import annotations

from tests.kinds.of_safety import COMMANDS, PATHS, SHOWN, TRUST
from tests.kinds.of_the_conversation import COMPACTION, COUNTING, ENDPOINT
from tests.kinds.of_the_machine import FILES, PROCESSES, RECORD, SCREEN, SECRETS

KINDS = (
    *COMPACTION,
    *COUNTING,
    *ENDPOINT,
    *RECORD,
    *SECRETS,
    *PROCESSES,
    *FILES,
    *SCREEN,
    *COMMANDS,
    *PATHS,
    *TRUST,
    *SHOWN,
)
