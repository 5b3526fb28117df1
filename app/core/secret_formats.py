"""The formats of well-known keys and tokens, and where in a text they stand.

Each format is what its issuer documents: a prefix that nothing else has, an alphabet, a length. Beside them stand
assignments to names such as ``DB_PASSWORD``, passwords in addresses, and private keys in PEM. Nothing is guessed from
randomness alone, so hashes, UUIDs, lock files and pictures in base64 stay as they are.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

_B64 = r"[A-Za-z0-9+/]"
_IN_WORD = re.compile(r"[A-Za-z0-9_]")


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text, by its place."""

    start: int
    end: int
    kind: str


_TOKENS: tuple[tuple[str, str, str], ...] = (
    # Endpoints of models
    ("anthropic key", "sk-ant-", r"sk-ant-[\w-]{8,}"),
    ("openrouter key", "sk-or-v1-", r"sk-or-v1-[0-9a-f]{40,80}"),
    ("openai key", "sk-", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,}"),
    ("model key", "sk-", r"sk-(?=[A-Za-z0-9]*\d)(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{32,64}"),
    ("groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,64}"),
    ("xai key", "xai-", r"xai-[A-Za-z0-9]{60,}"),
    ("perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,64}"),
    ("replicate token", "r8_", r"r8_[A-Za-z0-9]{37,40}"),
    ("hugging face token", "hf_", r"hf_[A-Za-z0-9]{30,40}"),
    # Clouds
    ("aws key id", "A", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}"),
    ("google key", "AIza", r"AIza[\w-]{33,39}"),
    ("google secret", "GOCSPX-", r"GOCSPX-[\w-]{28}"),
    ("google token", "ya29.", r"ya29\.[\w-]{30,}"),
    ("digitalocean token", "_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    ("databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    ("vault token", "hv", r"hv[sb]\.[\w-]{24,}"),
    ("terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}"),
    ("planetscale token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,64}"),
    ("heroku token", "HRKU-", r"HRKU-[\w-]{36,60}"),
    ("fly token", "fm", r"fm[12][ar]?_[A-Za-z0-9+/=_-]{60,}"),
    # Code and packages
    ("github token", "gh", r"gh[pousr]_[A-Za-z0-9]{30,}"),
    ("github token", "github_pat_", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    (
        "gitlab token",
        "gl",
        r"gl(?:pat|ptt|rt|rtr|dt|ft|cbt|soat|agent|imt|oas|ffct|wt)-[\w.-]{16,}",
    ),
    ("npm token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    ("pypi token", "pypi-AgE", r"pypi-AgE[\w-]{50,}"),
    ("rubygems key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    ("crates token", "cio", r"cio[A-Za-z0-9]{32}"),
    ("docker token", "dckr_", r"dckr_(?:pat|oat)_[\w-]{24,60}"),
    ("sentry token", "sntry", r"sntry[us]_[A-Za-z0-9+/=_]{40,}"),
    ("postman key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("pulumi token", "pul-", r"pul-[0-9a-f]{40}"),
    ("doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,80}"),
    # Services
    ("slack token", "xox", r"xox[abeoprs]-[\w-]{10,}"),
    ("slack token", "xapp-", r"xapp-\d-[A-Z0-9]+-\d+-[0-9a-f]{32,80}"),
    (
        "slack webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows)/T[A-Z0-9]+/[A-Z0-9]+/[\w/]{16,80}",
    ),
    (
        "discord webhook",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/\d{17,20}/[\w-]{60,80}",
    ),
    ("discord token", ".", r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}"),
    ("telegram token", ":AA", r"\d{8,10}:AA[\w-]{33}"),
    ("stripe key", "k_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("stripe secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,64}"),
    ("square token", "sq0", r"sq0(?:atp|csp|idp)-[\w-]{22,43}"),
    ("square token", "EAAA", r"EAAA[\w-]{60}"),
    (
        "paypal token",
        "access_token$",
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    ("shopify token", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("sendgrid key", "SG.", r"SG\.[\w-]{22}\.[\w-]{43}"),
    ("mailgun key", "key-", r"key-[0-9a-f]{32}"),
    ("mailchimp key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    ("twilio key", "SK", r"SK[0-9a-f]{32}"),
    ("new relic key", "NR", r"NR(?:AK|JS|II|IQ|RA|SP)-[A-Z0-9a-f]{19,40}"),
    ("grafana token", "gl", r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}"),
    ("datadog key", "ddp_", r"ddp_[A-Za-z0-9]{30,64}"),
    ("linear key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    ("notion token", "ntn_", r"ntn_[A-Za-z0-9]{40,50}"),
    ("figma token", "fig", r"fig[dou][a-z]?_[\w-]{40,64}"),
    ("airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("atlassian token", "ATATT3", r"ATATT3[\w=-]{60,}"),
    ("dropbox token", "sl.", r"sl\.[A-Za-z0-9][\w-]{80,}"),
    ("supabase key", "sb", r"sb[ps]?_(?:secret_)?[A-Za-z0-9_-]{30,64}"),
    ("1password token", "ops_eyJ", r"ops_eyJ[\w+/=-]{60,}"),
    ("age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    ("azure key", "AccountKey=", rf"(?<=AccountKey=){_B64}{{86}}=="),
    ("azure signature", "sig=", r"(?<=[?&]sig=)[A-Za-z0-9%]{43,80}(?:%3D|=)?"),
    ("json web token", "eyJ", r"eyJ[\w-]{12,4000}\.eyJ[\w-]{12,8000}(?:\.[\w-]{16,2000})?"),
)
"""What it is, a mark without which there is none in a text, and its form. No form begins or ends inside a word."""

_PEM = re.compile(r"-----BEGIN (?:[A-Z0-9]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END (?:[A-Z0-9]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_MOST = 20_000
_PIECE = 200_000
_LONGEST = _PEM_MOST + 500
"""How far behind a piece is looked for the end of what begins in it."""
_PEM_BODY = re.compile(rf"{_B64}{{32,}}={{0,2}}")
_PEM_LINES = re.compile(
    rf"(?:(?:\s|\\[nr]|[\"',+])*(?:\d{{1,6}}[^\w\s/+]\s?)?(?:{_B64}{{16,}}={{0,2}}))+"
)

_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@?#\"'<>]{0,100}:([^\s@/\"'<>]{3,200})@[\w\[]", re.I
)
_HEADER = re.compile(
    r"\b(?:authorization|proxy-authorization)[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+([\w.~+/=-]{12,})",
    re.I,
)
_ASSIGNED = re.compile(
    r"""(?:passw(?:or)?d|passphrase|pwd|pw|secret|token|credentials?|key)
        (?:[_.-]?(?:\d{1,2}|base64|b64|value|secret|prod|dev|staging|test))?
        ["']?\s{0,4}(?::=|=>|[:=])\s{0,4}
        (?:(?P<quote>["'`])(?P<quoted>[^"'`\r\n]{6,400})(?P=quote)
         |(?P<bare>[^\s"'`,;()\[\]{}<>]{6,400})(?=[\s,;"'\\)\]}]|$))""",
    re.X | re.I,
)
_NAME = re.compile(r"[A-Za-z][\w.-]*$")
_NAME_MOST = 60
_SECRET_NAME = re.compile(
    r"(?:^|[_.-]|(?<=[a-z])(?=[A-Z]))"
    r"(?:(?P<password>pass(?:word|wd|phrase)?|pwd|pw)"
    r"|(?:(?:api|access|secret|private|auth|encryption|signing|master|account|storage|shared|session|client|app|"
    r"service|license|deploy|webhook|admin|root|hmac|jwt|bot|consumer|subscription|license)[_.-]?)+key"
    r"|secret|token|credentials?)(?:[_.-]?(?:\d{1,2}|base64|b64|value|secret|prod|dev|staging|test))?$",
    re.I,
)
_PLACEHOLDER = re.compile(
    r"x{5,}|\*{3,}|\.{3}|…|^\W*$|^[<\[{$%@]|\$[({]|\{\{|%\(|"
    r"^(?:none|null|nil|true|false|undefined|string|secret|pass|pwd|passwd|password\d?|token|required|optional|default|unset)$",
    re.I,
)
_STAND_IN = re.compile(
    r"example|change[-_]?me|placeholder|redacted|dummy|your[-_]|my[-_]|insert|replace|todo", re.I
)
"""Words of values that only show where a secret goes; in a long random one they are chance."""
_CODE = re.compile(
    r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|[()\[\]]|^[~.]{0,2}/[a-z.][\w.-]*(?:/|$)|^[a-z]+://|::|->"
)
_ENTROPY_LEAST = 3.0
"""Bits a character of a value in code; words and names stay below, random ones of 16 characters above."""


@cache
def _expression(form: str) -> re.Pattern[str]:
    """Compiled at first use: most forms are never looked for."""
    return re.compile(rf"{form}(?![A-Za-z0-9_])")


def find_secrets(text: str) -> list[Found]:
    """Return the secrets in a text, in order and apart from each other; where two overlap, the first and longest.

    A long text is looked at piece by piece, so that other threads get their turn.
    """
    apart: list[Found] = []
    end = 0
    for first in range(0, len(text), _PIECE):
        left = max(0, first - _NAME_MOST)
        piece = text[left : first + _PIECE + _LONGEST]
        last = first + _PIECE - left
        for found in sorted(_every(piece), key=lambda found: (found.start, -found.end)):
            if found.start < last and found.start + left >= end:
                end = found.end + left
                apart.append(Found(found.start + left, end, found.kind))
    return apart


def _every(text: str) -> Iterator[Found]:
    for kind, mark, form in _TOKENS:
        if mark in text:
            for match in _expression(form).finditer(text):
                if not match.start() or not _IN_WORD.match(text, match.start() - 1):
                    yield Found(*match.span(), kind)
    yield from _private_keys(text)
    if "://" in text:
        for match in _ADDRESS.finditer(text):
            if not _is_stand_in(match[1]):
                yield Found(*match.span(1), "password")
    for match in _HEADER.finditer(text):
        if not _is_stand_in(match[1]):
            yield Found(*match.span(1), "credential")
    yield from _named(text)


def _private_keys(text: str) -> Iterator[Found]:
    """Yield what stands between the marks of private keys, also of one that is cut off or quoted in code."""
    for begin in _PEM.finditer(text):
        start = begin.end()
        end = _PEM_END.search(text, start, start + _PEM_MOST)
        if end and _PEM_BODY.search(text, start, end.start()):
            yield Found(start, end.start(), "private key")
        elif end is None and (lines := _PEM_LINES.match(text, start)):
            yield Found(start, lines.end(), "private key")


def _named(text: str) -> Iterator[Found]:
    """Yield values that are given to names of secrets."""
    for match in _ASSIGNED.finditer(text):
        group = "quoted" if match["quoted"] else "bare"
        value = match[group]
        if _is_stand_in(value) or _CODE.search(value):
            continue
        name = _name_before(text, match)
        known = _SECRET_NAME.search(name)
        if known is None:
            continue
        in_environment = name.isupper() and group == "bare"
        if _is_random(value) or (known["password"] and (in_environment or _is_mixed(value))):
            yield Found(*match.span(group), "password" if known["password"] else "secret")


def _name_before(text: str, match: re.Match[str]) -> str:
    """Return the whole name whose last word an assignment's match begins with."""
    head = re.split(r"[\"'\s:=]", match[0], maxsplit=1)[0]
    before = _NAME.search(text, max(0, match.start() - _NAME_MOST), match.start())
    return (before[0] if before else "") + head


def _is_stand_in(value: str) -> bool:
    """Whether a value only shows where a secret goes."""
    if _PLACEHOLDER.search(value):
        return True
    return bool(_STAND_IN.search(value)) and not (len(value) >= 32 and _entropy(value) >= 4.2)


def _is_mixed(value: str) -> bool:
    """Whether a value has letters and other characters as passwords have, without blanks as sentences have."""
    return " " not in value and any(c.isalpha() for c in value) and any(c.isdigit() for c in value)


def _is_random(value: str) -> bool:
    return len(value) >= 12 and _is_mixed(value) and _entropy(value) >= _ENTROPY_LEAST


def _entropy(value: str) -> float:
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())
