"""Keys and tokens of known formats are found, and nothing that only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.masking import HIDDEN
from app.core.secret_formats import find_secrets
from app.core.secret_masks import KnownSecrets
from tests.fakes.secret_samples import PLAIN, SAMPLES, alnum, pem

MASK = KnownSecrets(b"salt")
ROOT = Path(__file__).resolve().parents[2]

texts = st.lists(
    st.one_of(
        st.sampled_from([text for text, _ in SAMPLES.values()]),
        st.sampled_from(PLAIN),
        st.text(max_size=30),
    ),
    max_size=6,
).map("\n".join)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_secret_is_found_as_tools_print_it(name: str) -> None:
    text, secret = SAMPLES[name]
    assert secret in text
    assert secret not in MASK(text)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_secret_is_found_on_a_numbered_line_and_in_a_quoted_text(name: str) -> None:
    text, secret = SAMPLES[name]
    numbered = "\n".join(f"{at:>6}→{line}" for at, line in enumerate(text.split("\n"), 1))
    for shown in (numbered, f"before {text} after", f"- {text}\n+ {text}"):
        assert secret not in MASK(shown)


@pytest.mark.parametrize("text", PLAIN)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert MASK(text) == text


def test_this_projects_own_sources_hold_none() -> None:
    files = [*ROOT.glob("app/**/*.py"), *ROOT.glob("*.md")]
    found = {
        f"{p.name}: {p.read_text()[x.start : x.end]}"
        for p in files
        for x in find_secrets(p.read_text())
    }
    assert not found


def test_only_the_secret_goes_and_what_stands_around_it_stays() -> None:
    masked = MASK("DB_PASSWORD=hunter22 # for tests\nhost=db")
    assert masked.startswith("DB_PASSWORD=[masked password ")
    assert masked.endswith("] # for tests\nhost=db")


def test_a_private_key_loses_its_body_and_keeps_its_marks() -> None:
    masked = MASK(f"a\n{pem()}\nb")
    assert masked.startswith("a\n-----BEGIN RSA PRIVATE KEY-----[masked private key ")
    assert masked.endswith("-----END RSA PRIVATE KEY-----\nb")


def test_the_same_secret_has_the_same_mask_and_another_one_another() -> None:
    one, two = ("ghp_" + alnum(36, seed) for seed in (1, 2))
    first, again, other = MASK(f"{one} {one} {two}").split("] ")
    assert first == again != other.rstrip("]")


def test_another_salt_gives_another_mask() -> None:
    text = "ghp_" + alnum(36)
    assert KnownSecrets(b"a")(text) != KnownSecrets(b"b")(text)


def test_this_programs_own_key_is_hidden_under_a_name_of_its_own() -> None:
    key = "sk-ant-" + alnum(40)
    assert KnownSecrets(b"a", (key,))(f"x {key} y") == f"x {HIDDEN} y"


def test_a_secret_at_the_seam_of_two_pieces_is_found() -> None:
    secret = "ghp_" + alnum(36)
    for before in range(199_950, 200_010, 7):
        assert [f.start for f in find_secrets("." * before + " " + secret)] == [before + 1]


@given(texts)
def test_masking_twice_is_masking_once(text: str) -> None:
    masked = MASK(text)
    assert MASK(masked) == masked


@given(texts)
def test_what_is_found_is_in_order_and_apart(text: str) -> None:
    end = 0
    for found in find_secrets(text):
        assert end <= found.start < found.end <= len(text)
        end = found.end
