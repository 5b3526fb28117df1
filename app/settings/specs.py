"""The one table of settings.

Environment names, ``--set``, both TOML files, ``/settings`` and the documentation all come from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from app.core.permission import Mode
from app.core.policy import AfterCompact, MicroRule
from app.settings import parsers as read
from app.settings.base_url import ALLOWED as URL_ALLOWED
from app.settings.base_url import clean_base_url
from app.settings.parsers import Parser
from app.settings.spec import Kind, SettingSpec


def _setting(name: str, parser: Parser, help: str, place: str = "", **more: Any) -> SettingSpec:
    env = more.pop("env", (f"PAL_{name.upper()}",))
    return SettingSpec(name, parser, help, tuple((place or name).split(".")), env=env, **more)


_CREDENTIAL: Mapping[str, Any] = {"kind": Kind.POWER, "live": False, "secret": True}

SPECS: tuple[SettingSpec, ...] = (
    _setting(
        "api_key", read.secret(), "Key of the endpoint.", env=("ANTHROPIC_API_KEY",), **_CREDENTIAL
    ),
    _setting(
        "auth_token",
        read.secret(),
        "Bearer token, used when there is no key.",
        env=("ANTHROPIC_AUTH_TOKEN",),
        **_CREDENTIAL,
    ),
    _setting(
        "base_url",
        Parser(URL_ALLOWED, clean_base_url),
        "Address of the endpoint.",
        env=("ANTHROPIC_BASE_URL",),
        kind=Kind.POWER,
        live=False,
    ),
    _setting("model", read.word(), "Model that answers.", env=("MODEL_ID", "ANTHROPIC_MODEL")),
    _setting(
        "context_window",
        read.whole_or_none(1_000, "what the endpoint says"),
        "Tokens the model accepts, over what endpoint and table say.",
    ),
    _setting("price", read.price(), "Price of the model, over the table."),
    _setting(
        "max_output_tokens", read.whole(1, 1_000_000), "Tokens of one answer; also the reserve."
    ),
    _setting(
        "request_timeout",
        read.seconds_or_auto(),
        "Longest silence of the endpoint; auto: 120 s, or 600 s on this machine, where a long prompt takes minutes.",
        live=False,
    ),
    _setting("attempts", read.whole(1, 20), "How often a failed call is tried in all.", live=False),
    # Layer 0
    _setting(
        "entry", read.switch(), "Layer 0: shorten large results on entry.", "policy.entry.enabled"
    ),
    _setting(
        "entry_max_tokens",
        read.whole(100),
        "Largest result that enters whole, in tokens.",
        "policy.entry.max_tokens",
    ),
    _setting(
        "entry_max_share",
        read.share(),
        "The same as a share of the threshold; the smaller counts.",
        "policy.entry.max_share",
    ),
    _setting(
        "entry_shown_tokens",
        read.whole(0),
        "Tokens of a larger result that enter.",
        "policy.entry.shown_tokens",
    ),
    _setting(
        "entry_step_share",
        read.share(0.01),
        "Share of the threshold for all results of one step.",
        "policy.entry.step_share",
    ),
    _setting(
        "read_tokens",
        read.whole(200),
        "Page size of read_file, in tokens.",
        "policy.entry.read_tokens",
    ),
    # Layer 1
    _setting(
        "paged_tools",
        read.names(),
        "Tools that page by themselves, whose results are never cut in the middle.",
        "policy.entry.paged_tools",
        takes_empty=True,
    ),
    _setting(
        "micro_policy",
        read.choice(MicroRule),
        "Layer 1: when old results become one line.",
        "policy.micro.rule",
    ),
    _setting(
        "keep_recent", read.whole(0), "Newest results never cleared.", "policy.micro.keep_recent"
    ),
    _setting(
        "min_chars",
        read.whole(0),
        "Results up to this many characters are not cleared.",
        "policy.micro.min_chars",
    ),
    _setting(
        "preserve_tools",
        read.names(),
        "Tools whose results stay as long as there is room.",
        "policy.micro.preserve_tools",
        takes_empty=True,
    ),
    _setting(
        "preserve_budget",
        read.whole_or_none(0, "no limit"),
        "Tokens that results of these tools may hold.",
        "policy.micro.preserve_tokens",
    ),
    _setting(
        "preserve_share",
        read.share(),
        "The same as a share of the threshold; the smaller counts.",
        "policy.micro.preserve_share",
    ),
    _setting(
        "micro_batch_tokens",
        read.whole(0),
        "Least that one clearing takes under payback, in tokens.",
        "policy.micro.batch_tokens",
    ),
    _setting(
        "micro_due_share",
        read.share(),
        "Share of the threshold that a clearing must get below to stand in for layer 2.",
        "policy.micro.due_share",
    ),
    _setting(
        "micro_horizon",
        read.whole(1),
        "Requests within which a clearing must pay for itself.",
        "policy.micro.horizon",
    ),
    _setting(
        "cache_read_price",
        read.decimal(0, 1),
        "Price of a cached input token against an uncached one.",
        "policy.micro.read_price",
    ),
    _setting(
        "cache_write_price",
        read.decimal(0, 10),
        "Price of writing a token to the cache against an uncached one.",
        "policy.micro.write_price",
    ),
    _setting(
        "cache_seconds", read.seconds(), "Life of the prompt cache.", "policy.micro.cache_seconds"
    ),
    _setting(
        "bare_stubs",
        read.switch(),
        "Name only the tool in a cleared result's line.",
        "policy.micro.bare_stubs",
    ),
    # Layer 2
    _setting(
        "auto_compact",
        read.switch(),
        "Layer 2: compact by itself at the threshold.",
        "policy.auto.enabled",
    ),
    _setting(
        "threshold",
        read.tokens_or_share(),
        "Size of the next request at which layer 2 compacts.",
        "policy.auto.threshold",
    ),
    _setting(
        "target_share",
        read.share(0.01),
        "Size aimed at after a compaction.",
        "policy.auto.target_share",
    ),
    _setting(
        "accept_share",
        read.share(0.01),
        "Largest size accepted after a compaction.",
        "policy.auto.accept_share",
    ),
    _setting(
        "summary_aim",
        read.whole(100),
        "Tokens the summary should have.",
        "policy.auto.summary_aim",
    ),
    _setting("summary_cap", read.whole(100), "Tokens it may have.", "policy.auto.summary_cap"),
    _setting(
        "summary_max_output",
        read.whole(500),
        "max_tokens of the summary call; thinking counts.",
        "policy.auto.summary_max_output",
    ),
    _setting(
        "words_tokens",
        read.whole(0),
        "Tokens for the user's own words.",
        "policy.auto.words_tokens",
    ),
    _setting(
        "words_share",
        read.share(),
        "The same as a share of the threshold; the smaller counts.",
        "policy.auto.words_share",
    ),
    _setting(
        "words_oldest_share",
        read.share(),
        "Part of it for the oldest words.",
        "policy.auto.words_oldest_share",
    ),
    _setting("files_share", read.share(), "Room for the working files.", "policy.auto.files_share"),
    _setting("file_share", read.share(), "Room for one of them.", "policy.auto.file_share"),
    _setting(
        "tail_share",
        read.share(),
        "Room for the newest exchanges, verbatim.",
        "policy.auto.tail_share",
    ),
    _setting(
        "summary_instructions",
        read.words(),
        "What the summary should mind, in your words.",
        "policy.auto.summary_instructions",
    ),
    _setting(
        "min_gain",
        read.share(),
        "A compaction that saves less counts as one without progress.",
        "policy.auto.min_gain",
    ),
    # Layer 3
    _setting(
        "manual_compact",
        read.switch(),
        "Layer 3: the model's compact tool.",
        "policy.manual.enabled",
    ),
    _setting(
        "focus_share",
        read.share(),
        "Room for exchanges that match the focus.",
        "policy.manual.focus_share",
    ),
    _setting(
        "after_compact",
        read.choice(AfterCompact),
        "What the loop does after the model compacted.",
        "policy.manual.after_compact",
    ),
    _setting(
        "notes_at",
        read.shares(),
        "Shares of the threshold at which the model is told how full it is.",
        "policy.manual.notes_at",
    ),
    # The record
    _setting(
        "transcript_dir",
        read.path(),
        "Where sessions are written.",
        kind=Kind.POWER,
        live=False,
    ),
    _setting(
        "commit_transcripts",
        read.switch(),
        "Let git see the transcripts; they may hold secrets.",
        kind=Kind.POWER,
        live=False,
    ),
    _setting(
        "mask_secrets",
        read.choice(("off", "record", "view")),
        "Mask keys and passwords of known formats from now on: off; record, in all that is written to disk, while the "
        "running session keeps the text (recall, undo and a resume bring back masks); view, in tool results too.",
        kind=Kind.NARROWING,
        live=False,
    ),
    # Permission
    _setting("mode", read.choice(Mode), "How much runs without a question.", kind=Kind.NARROWING),
    _setting(
        "sandbox",
        read.choice(("auto", "require", "off")),
        "Run commands in a sandbox: where it works, always, never.",
        kind=Kind.NARROWING,
        live=False,
    ),
    _setting(
        "bash_timeout", read.seconds(), "Seconds after which a command is stopped.", live=False
    ),
    _setting(
        "bash_max_timeout", read.seconds(), "Most seconds that the model may ask for.", live=False
    ),
    # The screen
    _setting("theme", read.word(), "Colours; auto follows the terminal."),
    _setting(
        "notify",
        read.choice(("auto", "bell", "desktop", "off")),
        "How you are called when a turn ends or asks while the terminal has not the focus.",
    ),
    _setting("title", read.switch(), "Show the state in the terminal's title."),
    _setting("keymap", read.keys(), "Other keys for actions.", live=False),
    _setting("show_thinking", read.switch(), "Show the model's thinking."),
    _setting("demo", read.switch(), "Let the embedded model answer.", live=False),
    _setting("textbook", read.switch(), "Run the layers in their literal form.", live=False),
    _setting(
        "env_file_wins",
        read.switch(),
        "Let .env win over the environment.",
        kind=Kind.POWER,
        live=False,
    ),
)

BY_NAME: Mapping[str, SettingSpec] = MappingProxyType({spec.name: spec for spec in SPECS})
BY_ENV: Mapping[str, SettingSpec] = MappingProxyType(
    {variable: spec for spec in SPECS for variable in spec.env}
)
TABLES = ("compaction", "entry", "micro", "auto", "manual")
"""TOML tables in which settings may be grouped; ``[auto]`` with ``threshold`` is ``threshold``."""
RULE_NAMES = ("allow", "ask", "deny")
"""Lists of rules: in the TOML files, and as ``PAL_ALLOW`` and so on, one rule a line."""
RULE_ENV: Mapping[str, str] = MappingProxyType({f"PAL_{n.upper()}": n for n in RULE_NAMES})

TEXTBOOK: Mapping[str, str] = MappingProxyType(
    {
        "micro_policy": "every-turn",
        "preserve_tools": "read_file",
        "preserve_budget": "none",
        "bare_stubs": "on",
        "after_compact": "wait",
    }
)
"""What ``--textbook`` sets."""


def find_spec(name: str) -> SettingSpec | None:
    """Return the setting of a name as people write it: ``keep-recent``, ``micro.keep_recent``, ``PAL_KEEP_RECENT``."""
    if name in BY_ENV:
        return BY_ENV[name]
    flat = name.strip().lower().replace("-", "_").replace(".", "_")
    if flat in BY_NAME:
        return BY_NAME[flat]
    table, _, last = name.strip().lower().replace("-", "_").partition(".")
    return BY_NAME.get(last) if table in TABLES else None


def nearest_name(name: str, *, env: bool = False) -> str:
    """Return the known name that looks most like this one, or ""."""
    import difflib

    known = [*BY_ENV, *RULE_ENV] if env else [*BY_NAME, *RULE_NAMES]
    found = difflib.get_close_matches(name.upper() if env else name.lower(), known, n=1)
    return found[0] if found else ""
