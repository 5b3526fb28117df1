"""The settings in force: plain values, and for each the place it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from app.core.addresses import OFFICIAL_URL, is_loopback, is_official
from app.core.permission import Mode, Rule
from app.core.policy import CompactionPolicy
from app.core.prices import Price

DEFAULT = "default"
"""Source of a value that nobody set."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sources that disagree on key, endpoint or model. Keys are masked."""

    name: str
    winner: str
    winner_source: str
    loser: str
    loser_source: str

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.winner} (from {self.winner_source}) is used, "
            f"not {self.loser} (from {self.loser_source})"
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. `sources` has the origin of each by the setting's name."""

    folder: Path = Path()
    """The project folder."""
    api_key: str | None = field(default=None, repr=False)
    auth_token: str | None = field(default=None, repr=False)
    """Used when there is no `api_key`."""
    base_url: str = OFFICIAL_URL
    model: str = ""
    """"" when none was chosen; there is no silent default."""
    context_window: int | None = None
    """Tokens the model accepts; None: what the endpoint or the table says."""
    price: Price | None = None
    """None: what the table says."""
    max_output_tokens: int = 8_000
    request_timeout: float | None = None
    """Seconds without a byte from the endpoint; None: what suits the endpoint."""
    attempts: int = 6
    """How often one model call is tried at most."""
    policy: CompactionPolicy = field(default_factory=CompactionPolicy)
    transcript_dir: str = ".transcripts"
    """Where sessions are written, relative to the folder or absolute."""
    commit_transcripts: bool = False
    """Whether the transcript folder is left visible to git."""
    mask_secrets: str = "off"
    """"off", "record": on the disk, "view": there and in the tool results that the model sees. Off by default: what
    was masked cannot be brought back, and the record is the only original of what was cleared or compacted."""
    mode: Mode = Mode.ASK
    rules: tuple[Rule, ...] = ()
    sandbox: str = "auto"
    """"auto": where it works, "require": no command without it, "off"."""
    bash_timeout: float = 120.0
    bash_max_timeout: float = 600.0
    """Seconds after which a command is stopped."""
    theme: str = "auto"
    """A theme's name, or "auto" for light or dark as the terminal is."""
    keymap: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Action to keys, such as ``{"cancel": "ctrl+g"}``."""
    notify: str = "auto"
    """"auto", "bell", "desktop" or "off"."""
    title: bool = True
    """Whether the terminal's title shows the state."""
    show_thinking: bool = False
    demo: bool = False
    """Whether the embedded model answers even if there is a key."""
    textbook: bool = False
    """Whether the layers run in their literal form."""
    env_file_wins: bool = False
    """Whether ``.env`` stands above the environment."""
    sources: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    conflicts: tuple[Conflict, ...] = ()
    problems: tuple[str, ...] = ()
    """What was ignored and why, one sentence each; to be shown, not to stop for."""

    def source(self, name: str) -> str:
        """Return where a value comes from; "default" when nobody set it."""
        return self.sources.get(name, DEFAULT)

    @property
    def credential(self) -> str:
        """Name of the credential in use: "api_key", "auth_token" or ""."""
        return "api_key" if self.api_key else "auth_token" if self.auth_token else ""

    @property
    def needs_key(self) -> bool:
        """Whether a model call would fail for want of a credential."""
        return not self.credential and not is_loopback(self.base_url)

    @property
    def embedded(self) -> bool:
        """Whether the embedded model answers: asked for, or nothing else can."""
        return self.demo or self.needs_key

    @property
    def official(self) -> bool:
        """Whether the endpoint is Anthropic's own."""
        return is_official(self.base_url)

    @property
    def transcripts(self) -> Path:
        """The folder of all sessions, absolute."""
        return self.folder / Path(self.transcript_dir).expanduser()

    def policy_for(self, window: int) -> CompactionPolicy:
        """Return the policy with a threshold given as a share resolved for this window, in tokens."""
        auto = self.policy.auto
        return replace(self.policy, auto=replace(auto, threshold=auto.threshold_for(window)))
