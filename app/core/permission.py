"""Permission as values: what is asked, what may be answered, the modes and rules."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.core.visible_text import one_line, revealed_text

OWN_NAMES = (".transcripts", "palimpsest.toml")
"""This program's own record and settings in a project's folder: no tool and no command may write them."""


class Mode(StrEnum):
    """How much runs without a question."""

    ASK = "ask"
    ACCEPT_EDITS = "accept-edits"
    READ_ONLY = "read-only"
    AUTO = "auto"
    """Only inside a working sandbox."""


def usable_modes(*, confined: bool) -> tuple[Mode, ...]:
    """Return the modes that may be put in force.

    Args:
        confined: Whether commands can be run in a working sandbox; `Mode.AUTO` exists only then.
    """
    return tuple(mode for mode in Mode if confined or mode is not Mode.AUTO)


class Verdict(StrEnum):
    """What the rules say about a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Rule:
    """``tool`` or ``tool: pattern``; deny beats ask beats allow."""

    verdict: Verdict
    tool: str
    pattern: str = ""
    """A command prefix such as ``git status *``, or a path glob such as ``src/**``; "" for every call of the tool."""
    source: str = ""
    """Where the rule stands, for the list of rules."""

    def __str__(self) -> str:
        return f"{self.tool}: {self.pattern}" if self.pattern else self.tool


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reason."""

    verdict: Verdict
    reason: str
    """One sentence: which rule or check decided."""
    proposal: Rule | None = None
    """The narrow rule that "always for this" would add; None when nothing may be allowed for good."""
    wider: tuple[Rule, ...] = ()
    """Wider rules that the user may choose instead, each wider than the one before."""

    @property
    def offers(self) -> tuple[Rule, ...]:
        """The rules that "always" offers, the narrowest first."""
        return (self.proposal, *self.wider) if self.proposal is not None else ()


def explained(judgement: Judgement) -> tuple[str, ...]:
    """Return as lines what would become of a call, why, and which rules would let it run."""
    lines = [f"{judgement.verdict}: {revealed_text(judgement.reason)}"]
    if judgement.offers:
        named = ", then ".join(one_line(str(rule)) for rule in judgement.offers)
        lines.append(f"“always” would offer: {named}")
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A question to the user about one call."""

    call_id: str
    tool: str
    title: str
    """One line: what will happen, such as ``edit src/a.py`` or ``run pytest -q``."""
    detail: str
    """The command in full, or the unified diff."""
    is_diff: bool
    reason: str
    """Why it is asked."""
    proposal: Rule | None = None
    wider: tuple[Rule, ...] = ()
    """Wider rules that may be chosen instead of the proposal, each wider than the one before."""
    editable: bool = False
    """Whether the user may change ``detail`` (commands)."""


class Answered(StrEnum):
    """What the user said."""

    YES = "yes"
    NO = "no"
    ALWAYS = "always"
    """Yes, and add the proposed rule, or a wider one that was offered."""


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """The user's answer."""

    answered: Answered
    words: str = ""
    """What the user says to the model with a no."""
    edited: str | None = None
    """The command as the user changed it."""
    rule: Rule | None = None
    """The rule that "always" adds, one of those offered; None for the proposal."""
    by_user: bool = True
    """Whether a person answered; without one the words are the program's own."""
