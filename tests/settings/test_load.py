"""Settings from all their sources: who wins, what is named, what is refused."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.permission import Mode, Verdict
from app.core.policy import AfterCompact, MicroRule
from app.errors import ConfigError
from app.settings import SPECS, UNTRUSTED, Settings, find_spec, read_settings, rows, set_value
from tests.settings.desk import KEY, OTHER_KEY, TRUSTED, Desk

CLAUDE = ".claude/settings.json"


def test_without_any_source_all_is_default(desk: Desk) -> None:
    settings = desk.load()
    assert settings == Settings(folder=desk.folder)
    assert settings.source("threshold") == "default"
    assert settings.model == ""
    assert settings.needs_key


def test_every_number_of_the_policy_is_a_setting() -> None:
    policy = Settings().policy
    places = {
        ("policy", layer.name, number.name)
        for layer in fields(policy)
        for number in fields(getattr(policy, layer.name))
    }
    both_ways = {("policy", "auto", "threshold_share")}  # set by "threshold" too
    assert places - both_ways <= {spec.place for spec in SPECS}


def test_every_setting_has_its_own_name_variable_help_and_words_for_what_is_allowed() -> None:
    variables = [variable for spec in SPECS for variable in spec.env]
    assert len({spec.name for spec in SPECS}) == len(SPECS)
    assert len(set(variables)) == len(variables)
    assert all(spec.help.endswith(".") and spec.parser.allowed for spec in SPECS)


def test_every_shown_value_can_be_typed_again(desk: Desk) -> None:
    for row in rows(desk.load()):
        spec = find_spec(row.name)
        assert spec is not None
        if spec.secret or row.value in ("", "from the table"):
            continue
        value = spec.value(desk.load())
        if value is not None or row.value == "none":
            assert spec.parser.read(row.value) == value


SOURCES = ["--set", "environment", ".env", "palimpsest.toml", CLAUDE, "~/" + CLAUDE, "user"]


def _fill(desk: Desk, names: list[str]) -> dict[str, str]:
    """Let each named source set another threshold; return the flags."""
    for at, name in enumerate(SOURCES):
        value = 1_000 * (at + 1)
        if name not in names or name == "--set":
            continue
        if name == "environment":
            desk.environ["PAL_THRESHOLD"] = str(value)
        elif name == ".env":
            desk.put(".env", f"PAL_THRESHOLD={value}\n")
        elif name == "palimpsest.toml":
            desk.put(name, f"threshold = {value}\n")
        elif name == CLAUDE:
            desk.put(name, f'{{"env": {{"PAL_THRESHOLD": "{value}"}}}}')
        elif name == "user":
            desk.put_user(f"[auto]\nthreshold = {value}\n")
        else:
            desk.put_home(CLAUDE, f'{{"env": {{"PAL_THRESHOLD": "{value}"}}}}')
    return {"threshold": "1000"} if "--set" in names else {}


@pytest.mark.parametrize("first", range(len(SOURCES)))
def test_the_highest_source_wins_and_is_named(desk: Desk, first: int) -> None:
    flags = _fill(desk, SOURCES[first:])
    settings = desk.load(flags)
    assert settings.policy.auto.threshold == 1_000 * (first + 1)
    shown = {"user": "~/.config/palimpsest/settings.toml"}.get(SOURCES[first], SOURCES[first])
    assert settings.source("threshold") == shown


def test_env_file_wins_turns_the_two_round(desk: Desk) -> None:
    desk.put(".env", "MODEL_ID=file\n")
    assert desk.load(MODEL_ID="environment").model == "environment"
    turned = desk.load(MODEL_ID="environment", PAL_ENV_FILE_WINS="1")
    assert turned.model == "file"
    assert turned.conflicts[0].winner_source == ".env"


def test_model_id_wins_over_anthropic_model_of_the_same_source(desk: Desk) -> None:
    settings = desk.load(MODEL_ID="one", ANTHROPIC_MODEL="two")
    assert settings.model == "one"
    assert str(settings.conflicts[0]) == (
        "MODEL_ID: one (from environment) is used, not two (from environment)"
    )
    assert desk.load(ANTHROPIC_MODEL="two").model == "two"


def test_two_keys_are_both_named_and_both_masked(desk: Desk) -> None:
    desk.put(".env", f"ANTHROPIC_API_KEY={KEY}\n")
    settings = desk.load(ANTHROPIC_API_KEY=OTHER_KEY)
    assert settings.api_key == OTHER_KEY
    told = str(settings.conflicts[0])
    assert "environment" in told
    assert ".env" in told
    assert "…ffff" in told
    assert "…cccc" in told
    assert KEY not in told + repr(settings)
    assert OTHER_KEY not in told + repr(settings) + str(rows(settings))


def test_equal_values_are_no_conflict(desk: Desk) -> None:
    desk.put(".env", f"ANTHROPIC_API_KEY={KEY}\nMODEL_ID=m\n")
    assert desk.load(ANTHROPIC_API_KEY=f" {KEY}\n", MODEL_ID="m").conflicts == ()


def test_a_key_wins_over_a_token_with_a_notice(desk: Desk) -> None:
    settings = desk.load(ANTHROPIC_API_KEY=KEY, ANTHROPIC_AUTH_TOKEN="token-1")
    assert settings.credential == "api_key"
    assert settings.auth_token is None
    assert any("token is not sent" in problem for problem in settings.problems)
    alone = desk.load(ANTHROPIC_AUTH_TOKEN="token-1", ANTHROPIC_API_KEY="")
    assert (alone.credential, alone.auth_token, alone.problems) == ("auth_token", "token-1", ())


@pytest.mark.parametrize("blank", ["", " ", "\n", "\t "])
def test_an_empty_variable_is_not_set(desk: Desk, blank: str) -> None:
    names = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "MODEL_ID", "PAL_THRESHOLD", "PAL_MODE")
    assert desk.load(**dict.fromkeys(names, blank)) == Settings(folder=desk.folder)


def test_an_empty_list_of_preserved_tools_is_a_list(desk: Desk) -> None:
    assert desk.load(PAL_PRESERVE_TOOLS="").policy.micro.preserve_tools == frozenset()


def test_a_key_is_stripped(desk: Desk) -> None:
    assert desk.load(ANTHROPIC_API_KEY=f" {KEY}\r\n").api_key == KEY


@pytest.mark.parametrize(
    "bad", ["sk ant", "sk-\u2013ant", "sk\nant", "'sk-ant'", "Bearer sk", "sk\x1bx"]
)
def test_a_damaged_key_is_named_and_never_shown(desk: Desk, bad: str) -> None:
    with pytest.raises(ConfigError) as error:
        desk.load(ANTHROPIC_API_KEY=bad)
    assert error.value.name == "ANTHROPIC_API_KEY"
    assert error.value.source == "environment"
    assert bad not in str(error.value)


def test_a_local_endpoint_needs_no_key(desk: Desk) -> None:
    settings = desk.load(ANTHROPIC_BASE_URL="http://localhost:11434/v1/", MODEL_ID="llama")
    assert settings.base_url == "http://localhost:11434"
    assert not settings.needs_key
    assert not settings.official


def test_an_unencrypted_address_elsewhere_is_refused_until_confirmed(desk: Desk) -> None:
    with pytest.raises(ConfigError, match="not encrypted") as error:
        desk.load(ANTHROPIC_BASE_URL="http://gateway.example")
    assert "https" in error.value.hint
    confirmed = type(TRUSTED)(plain_http=frozenset({"http://gateway.example"}))
    settings = desk.load(trust=confirmed, ANTHROPIC_BASE_URL="http://gateway.example")
    assert settings.base_url == "http://gateway.example"


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("threshold", "many", "50_000"),
        ("threshold", "0", "50_000"),
        ("threshold", "-1", "50_000"),
        ("threshold", "140%", "percentage"),
        ("keep_recent", "2.5", "whole number"),
        ("keep_recent", "-1", "whole number"),
        ("micro_policy", "sometimes", "every-turn, payback, auto, off"),
        ("preserve_tools", "read file!", "tool names"),
        ("preserve_budget", "x", '"none"'),
        ("mode", "yolo", "ask, accept-edits, read-only, auto"),
        ("entry", "maybe", "on or off"),
        ("bash_timeout", "0", "seconds"),
        ("bash_timeout", "nan", "seconds"),
        ("tail_share", "nan", "a share"),
        ("tail_share", "1.5", "a share"),
        ("base_url", "example.com", "https://"),
        ("model", "a b", "without blanks"),
        ("price", "1,2,3", "dollars"),
        ("notes_at", "0, 2", "shares"),
        ("keymap", "cancel", "actions and keys"),
        ("after_compact", "stop", "continue, wait"),
        ("sandbox", "maybe", "auto, require, off"),
    ],
)
def test_a_bad_value_names_the_setting_its_source_and_what_is_allowed(
    desk: Desk, name: str, text: str, allowed: str
) -> None:
    with pytest.raises(ConfigError) as error:
        desk.load({name: text})
    assert error.value.name == name
    assert error.value.source == "--set"
    assert allowed in str(error.value)
    spec = find_spec(name)
    assert spec is not None
    with pytest.raises(ConfigError, match="environment"):
        desk.load(**{spec.env[0]: text})


def test_all_bad_values_can_be_seen_at_once(desk: Desk) -> None:
    settings, errors = read_settings(
        desk.folder,
        environ={"PAL_THRESHOLD": "x", "PAL_MODE": "y", "PAL_KEEP_RECENT": "5"},
        home=desk.home,
    )
    assert {error.name for error in errors} == {"PAL_THRESHOLD", "PAL_MODE"}
    assert settings.policy.micro.keep_recent == 5


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("50_000", 50_000), ("50k", 50_000), ("50,000", 50_000), ("1.5k", 1_500), ("1m", 1_000_000)],
)
def test_tokens_are_read_as_people_write_them(desk: Desk, text: str, tokens: int) -> None:
    assert desk.load({"threshold": text}).policy.auto.threshold == tokens


def test_a_threshold_may_be_a_share_of_the_window(desk: Desk) -> None:
    open_ended = desk.load({"threshold": "40%"})
    assert open_ended.policy.auto.threshold == 50_000
    assert open_ended.policy_for(200_000).auto.threshold == 80_000
    known = desk.load({"threshold": "40%", "context_window": "100k"})
    assert known.policy.auto.threshold == 40_000
    fixed = set_value(known, "threshold", "30k")
    assert fixed.policy_for(200_000).auto.threshold == 30_000


@given(st.integers(1, 10**9))
def test_any_whole_number_reads_back_as_shown(number: int) -> None:
    spec = find_spec("threshold")
    assert spec is not None
    assert spec.parser.read(spec.shown(number)) == number


def test_the_textbook_sets_the_literal_design_and_yields_to_what_is_said_beside_it(
    desk: Desk,
) -> None:
    desk.put_user("micro_policy = 'off'\n")
    settings = desk.load({"--textbook": "on", "after_compact": "continue"})
    micro = settings.policy.micro
    assert micro.rule is MicroRule.EVERY_TURN
    assert micro.preserve_tools == {"read_file"}
    assert micro.preserve_tokens is None
    assert micro.bare_stubs
    assert settings.policy.manual.after_compact is AfterCompact.CONTINUE
    assert settings.source("micro_policy") == "--textbook"
    assert settings.source("textbook") == "--textbook"


def test_toml_values_may_be_typed_or_text_flat_or_in_tables(desk: Desk) -> None:
    desk.put_user(
        'model = "m"\nkeep-recent = 5\npreserve_tools = ["a", "b"]\nnotes_at = [0.5, "75%"]\n'
        "bash_timeout = 90\nentry = false\n[micro]\npolicy = 'off'\nmin_chars = '1k'\n"
        '[auto]\ntail_share = 0.2\n[keymap]\ncancel = "ctrl+g"\n'
    )
    settings = desk.load()
    assert (settings.model, settings.bash_timeout) == ("m", 90.0)
    assert settings.policy.micro.keep_recent == 5
    assert settings.policy.micro.preserve_tools == {"a", "b"}
    assert settings.policy.micro.rule is MicroRule.OFF
    assert settings.policy.micro.min_chars == 1_000
    assert settings.policy.manual.notes_at == (0.5, 0.75)
    assert settings.policy.auto.tail_share == 0.2
    assert not settings.policy.entry.enabled
    assert settings.keymap == {"cancel": "ctrl+g"}
    assert settings.problems == ()


def test_an_unknown_name_is_told_with_the_nearest_known_one(desk: Desk) -> None:
    desk.put_user("treshold = 5\n")
    settings = desk.load(PAL_KEEP_RECNT="3")
    assert any("did you mean threshold?" in problem for problem in settings.problems)
    assert any("did you mean PAL_KEEP_RECENT?" in problem for problem in settings.problems)
    with pytest.raises(ConfigError, match=r"did you mean threshold\?"):
        desk.load({"treshold": "5"})


NONSENSE: list[tuple[str, bytes]] = [
    (".env", b"\xff\xfe\x00garbage"),
    (".env", b"\x00" * 100),
    (".env", b"this is not\n= a file\nMODEL_ID=m\n"),
    (".env", b"x" * 2_000_000),
    ("palimpsest.toml", b"threshold = = 5"),
    ("palimpsest.toml", b"\x80"),
    (CLAUDE, b"{"),
    (CLAUDE, b"[1, 2]"),
    (CLAUDE, b'{"env": 5}'),
    (CLAUDE, b"[" * 100_000),
]


@pytest.mark.parametrize(("name", "data"), NONSENSE)
def test_a_file_of_nonsense_is_one_clear_message(desk: Desk, name: str, data: bytes) -> None:
    desk.put(name, data)
    problems = desk.load().problems
    assert len(problems) == 1
    assert problems[0].startswith(name)
    assert len(problems[0]) < 200


def test_good_lines_of_a_damaged_env_file_still_count(desk: Desk) -> None:
    desk.put(".env", "what is this\nMODEL_ID=m\n'\n")
    settings = desk.load()
    assert settings.model == "m"
    assert "1" in settings.problems[0]


def test_a_file_of_nonsense_is_told_also_where_nobody_is_asked_for_trust(desk: Desk) -> None:
    desk.put(".env", bytes(range(256)))
    assert desk.question() is None
    assert desk.load(trust=UNTRUSTED).problems == (".env is not UTF-8 text",)


def test_an_env_file_that_is_no_file_is_not_opened(desk: Desk) -> None:
    (desk.folder / ".env").mkdir()
    assert "not a regular file" in desk.load().problems[0]
    (desk.folder / ".env").rmdir()
    import os

    os.mkfifo(desk.folder / ".env")
    assert "not a regular file" in desk.load().problems[0]


def test_env_values_are_taken_literally_and_only_ours(desk: Desk) -> None:
    desk.put(
        ".env",
        "\ufeffexport MODEL_ID='a$HOME'  # note\nPATH=/x\nOPENAI_API_KEY=y\nPAL_THEME=\"b\"\n",
    )
    settings = desk.load(HOME="/root")
    assert settings.model == "a$HOME"
    assert settings.theme == "b"
    assert settings.problems == ()


def test_a_parents_env_file_is_never_read(desk: Desk) -> None:
    desk.put(".env", "MODEL_ID=m\n")
    below = desk.folder / "below"
    below.mkdir()
    assert Desk(below, desk.home).load().model == ""


def test_the_process_environment_is_neither_read_nor_changed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    monkeypatch.setenv("MODEL_ID", "from-outside")
    desk.put(".env", "PAL_THEME=x\n")
    before = dict(os.environ)
    assert desk.load().model == ""
    assert dict(os.environ) == before


def test_an_untrusted_project_sets_nothing(desk: Desk) -> None:
    desk.put(".env", f"ANTHROPIC_API_KEY={KEY}\nANTHROPIC_BASE_URL=https://evil.example\n")
    desk.put("palimpsest.toml", 'mode = "auto"\nallow = ["bash"]\ndeny = ["read_file"]\n')
    desk.put(CLAUDE, '{"env": {"MODEL_ID": "x"}}')
    settings = desk.load(trust=UNTRUSTED)
    assert (settings.api_key, settings.model, settings.mode) == (None, "", Mode.ASK)
    assert settings.official
    assert settings.rules == ()
    assert len(settings.problems) == 3


@pytest.mark.parametrize(
    ("user", "project", "result"),
    [
        ("ask", "auto", "ask"),
        ("ask", "accept-edits", "ask"),
        ("ask", "read-only", "read-only"),
        ("accept-edits", "ask", "ask"),
        ("auto", "accept-edits", "accept-edits"),
        ("read-only", "ask", "read-only"),
    ],
)
@pytest.mark.parametrize("file", [".env", "palimpsest.toml", CLAUDE])
def test_a_trusted_project_may_narrow_the_mode_but_never_widen_it(
    desk: Desk, file: str, user: str, project: str, result: str
) -> None:
    text = {
        ".env": f"PAL_MODE={project}",
        "palimpsest.toml": f'mode = "{project}"',
        CLAUDE: f'{{"env": {{"PAL_MODE": "{project}"}}}}',
    }[file]
    desk.put(file, text)
    desk.put_user(f'mode = "{user}"\n')
    settings = desk.load()
    assert settings.mode is Mode(result)
    assert bool(settings.problems) is (result != project)


def test_a_flag_stands_above_a_narrowing_project(desk: Desk) -> None:
    desk.put("palimpsest.toml", 'mode = "read-only"\n')
    assert desk.load({"mode": "accept-edits"}).mode is Mode.ACCEPT_EDITS


def test_a_project_may_forbid_but_not_allow(desk: Desk) -> None:
    desk.put(
        "palimpsest.toml", 'allow = ["bash"]\nask = ["bash: make *"]\ndeny = "bash: git push *"\n'
    )
    desk.put_user('[rules]\nallow = ["bash: pytest *"]\n')
    settings = desk.load({"--allow": "write_file: src/**\nbash: make"}, PAL_DENY="read_file: x")
    found = {(rule.verdict, str(rule), rule.source) for rule in settings.rules}
    assert found == {
        (Verdict.ASK, "bash: make *", "palimpsest.toml"),
        (Verdict.DENY, "bash: git push *", "palimpsest.toml"),
        (Verdict.ALLOW, "bash: pytest *", "~/.config/palimpsest/settings.toml"),
        (Verdict.ALLOW, "write_file: src/**", "--allow"),
        (Verdict.ALLOW, "bash: make", "--allow"),
        (Verdict.DENY, "read_file: x", "environment"),
    }
    assert any("only narrow" in problem for problem in settings.problems)


def test_a_bad_rule_is_named_with_its_source(desk: Desk) -> None:
    with pytest.raises(ConfigError, match="--allow") as error:
        desk.load({"--allow": "bash:"})
    assert "a rule is" in str(error.value)


def test_a_value_changes_live_and_its_source_with_it(desk: Desk) -> None:
    settings = set_value(desk.load(), "micro.keep-recent", "7")
    assert settings.policy.micro.keep_recent == 7
    assert settings.source("keep_recent") == "/settings"
    with pytest.raises(ConfigError, match="next start"):
        set_value(settings, "base_url", "https://h")
    with pytest.raises(ConfigError, match="no such setting"):
        set_value(settings, "nothing", "1")
    with pytest.raises(ConfigError, match="whole number"):
        set_value(settings, "keep_recent", "x")


def test_the_transcript_folder_is_resolved_against_the_project(desk: Desk) -> None:
    assert desk.load().transcripts == desk.folder / ".transcripts"
    assert desk.load({"transcript_dir": "/elsewhere/x"}).transcripts == Path("/elsewhere/x")
