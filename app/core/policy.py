"""The numbers of the layers: what each keeps, when it runs, how much it may take. All are settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class MicroRule(StrEnum):
    """When layer 1 clears."""

    EVERY_TURN = "every-turn"
    PAYBACK = "payback"
    """When the clearing earns more than the cache it rewrites costs."""
    AUTO = "auto"
    """`PAYBACK` once the endpoint shows cache reads, else `EVERY_TURN`."""
    OFF = "off"


class AfterCompact(StrEnum):
    """What the loop does after the model's ``compact`` tool."""

    CONTINUE = "continue"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class EntryPolicy:
    """Layer 0: what a tool result may bring in. Sizes in tokens; shares are fractions of the threshold."""

    enabled: bool = True
    max_tokens: int = 8_000
    max_share: float = 0.16
    shown_tokens: int = 2_000
    """How much of a larger result enters, 3/4 from its head and 1/4 from its tail."""
    step_share: float = 0.4
    """What all results of one step may bring in together."""
    read_tokens: int = 12_000
    """Page size of ``read_file``."""
    paged_tools: frozenset[str] = frozenset({"read_file", "recall"})
    """Tools that page by themselves: exempt from the single cap, and never cut in the middle."""


@dataclass(frozen=True, slots=True)
class MicroPolicy:
    """Layer 1: which old results become a line, and when."""

    rule: MicroRule = MicroRule.AUTO
    keep_recent: int = 3
    min_chars: int = 100
    preserve_tools: frozenset[str] = frozenset({"read_file"})
    preserve_tokens: int | None = 20_000
    """Most that results of ``preserve_tools`` may hold, in tokens; None keeps them all."""
    preserve_share: float = 0.25
    batch_tokens: int = 8_000
    """Least that one clearing under `MicroRule.PAYBACK` takes."""
    due_share: float = 0.7
    """Where layer 2 is due, a clearing stands in for it if it gets below this share of the threshold."""
    horizon: int = 15
    """Requests within which a clearing must pay for itself."""
    read_price: float = 0.10
    """Price of a cached input token, as a share of an uncached one."""
    write_price: float = 1.25
    cache_seconds: float = 300.0
    """Life of the cache; longer idle means it is cold."""
    bare_stubs: bool = False
    """Whether a stub names only the tool: ``[Previous: used read_file]``."""


@dataclass(frozen=True, slots=True)
class AutoPolicy:
    """Layer 2: when the history is summarised and what the new view holds. Shares are fractions of the threshold."""

    enabled: bool = True
    threshold: int = 50_000
    """Tokens of the next request above which it runs."""
    threshold_share: float | None = None
    """The threshold as a fraction of the window instead; None when it is given in tokens."""
    target_share: float = 0.4
    accept_share: float = 0.5
    summary_aim: int = 2_000
    summary_cap: int = 4_000
    summary_max_output: int = 8_000
    words_tokens: int = 20_000
    words_share: float = 0.16
    words_oldest_share: float = 0.1
    """Part of the words' room that goes to the oldest of them."""
    files_share: float = 0.23
    file_share: float = 0.05
    tail_share: float = 0.03
    summary_instructions: str = ""
    min_gain: float = 0.2
    """A compaction that saves a smaller fraction counts as one without progress."""

    @property
    def wanted(self) -> tuple[int, float | None]:
        """What the user set as the threshold: tokens, and a fraction that goes before them."""
        return self.threshold, self.threshold_share

    def threshold_for(self, window: int) -> int:
        """Return the threshold in tokens for a window."""
        if self.threshold_share is None:
            return self.threshold
        return max(1, round(self.threshold_share * window))


@dataclass(frozen=True, slots=True)
class ManualPolicy:
    """Layer 3: compaction on request."""

    enabled: bool = True
    focus_share: float = 0.1
    """Room for exchanges that match the focus, as a fraction of the threshold."""
    after_compact: AfterCompact = AfterCompact.CONTINUE
    notes_at: tuple[float, ...] = (0.5, 0.75)
    """Shares of the threshold at which the model is told, once, how full the context is."""


@dataclass(frozen=True, slots=True)
class CompactionPolicy:
    """All layers."""

    entry: EntryPolicy = field(default_factory=EntryPolicy)
    micro: MicroPolicy = field(default_factory=MicroPolicy)
    auto: AutoPolicy = field(default_factory=AutoPolicy)
    manual: ManualPolicy = field(default_factory=ManualPolicy)
