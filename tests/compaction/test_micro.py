"""Layer 1."""

from __future__ import annotations

import base64
import struct
from dataclasses import replace

import pytest

from app.compaction.micro import LONG_LINE_TOKENS, CacheState, ClearingPlan, plan_clearing
from app.core.effects import Effects
from app.core.messages import Image, Message, Thinking, ToolResult
from app.core.policy import MicroPolicy, MicroRule
from tests.fakes.history import Call, Story, bash, edit, fails, lines, read

PLAIN = MicroPolicy(rule=MicroRule.EVERY_TURN, preserve_tools=frozenset())
COLD, WARM, NO_CACHE = CacheState(True, True), CacheState(True, False), CacheState(False, False)
LONG = lines(20)
HUGE = lines(300)


def plan(
    story: Story, policy: MicroPolicy = PLAIN, *, cache: CacheState = NO_CACHE, **more
) -> ClearingPlan:
    more = {"threshold": 50_000, "factor": 1.0, **more}
    return plan_clearing(story.conversation, policy, cache=cache, **more)


def told(*calls: Call, **more) -> Story:
    story = Story()
    story.say("go")
    for call in calls:
        story.step(call, **more)
    return story


def test_the_fourth_result_makes_the_first_a_line() -> None:
    story = told(bash("pytest -q", LONG, exit_code=1), *(bash(f"ls {n}", LONG) for n in range(2)))
    assert not plan(story).stubs
    story.step(bash("ls", LONG))
    assert plan(story).stubs == {
        "r1": "[Previous: used bash: pytest -q -> exit 1, 20 lines; recall r1]"
    }


def test_results_that_the_model_has_not_seen_are_never_touched() -> None:
    story = told()
    story.step(*(bash(f"ls {n}", LONG) for n in range(8)))
    assert not plan(story).stubs
    story.answer("I see.")
    assert set(plan(story).stubs) == {"r1", "r2", "r3", "r4", "r5"}


def test_errors_short_results_and_pinned_ones_stay() -> None:
    story = told(
        fails(bash("a", LONG), LONG),
        bash("b", "ok"),
        bash("c", LONG),
        bash("d", LONG),
        *[bash("e", LONG)] * 3,
    )
    story.pin("r3")
    assert set(plan(story).stubs) == {"r4"}
    story.pin("r3", on=False)
    assert set(plan(story).stubs) == {"r3", "r4"}


def test_a_line_that_is_not_smaller_is_not_written() -> None:
    command = "x" * 200
    story = told(bash(command, "a b c d " * 13), *[bash("e", LONG)] * 3)
    assert not plan(story).stubs


def test_a_line_in_chinese_may_be_larger_than_a_middling_result() -> None:
    story = told(bash("读" * 300, "x " * 171), *[bash("e", LONG)] * 3)
    assert story.conversation.live[0].tokens > LONG_LINE_TOKENS
    assert not plan(story).stubs


def test_a_line_stays_one_line_whatever_the_command_was() -> None:
    story = told(
        bash("cat <<E\n\x1b[31mred\u202e\ud800\nE\n" + "y" * 500, LONG), *[bash("e", LONG)] * 3
    )
    line = plan(story).stubs["r1"]
    assert line.startswith("[Previous: used bash: cat <<E red⟨U+202E⟩� E yyy")
    assert line.isprintable()
    assert len(line) < 300
    assert line.endswith("recall r1]")


def test_a_call_without_effects_is_named_by_its_arguments() -> None:
    story = told(Call("search", {"pattern": "def x"}, LONG), *[bash("e", LONG)] * 3)
    assert plan(story).stubs["r1"] == "[Previous: used search: def x; recall r1]"


def test_bare_lines_name_only_the_tool() -> None:
    story = told(read("a.py", LONG), *[bash("e", LONG)] * 3)
    policy = MicroPolicy(rule=MicroRule.EVERY_TURN, preserve_tools=frozenset(), bare_stubs=True)
    assert plan(story, policy).stubs == {"r1": "[Previous: used read_file]"}


def test_a_picture_counts_by_its_size() -> None:
    png = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 1000, 1000)
    picture = Image(
        {"type": "image", "source": {"type": "base64", "data": base64.b64encode(png).decode()}}
    )
    story = told()
    (use,) = story.ask(Call("read_file", {"path": "x.png"}))
    story.append(Message("user", (ToolResult(use.id, (picture,)),)))
    for _ in range(3):
        story.step(bash("e", LONG))
    assert set(plan(story).stubs) == {"r1"}


def test_reads_stay_until_the_preserve_budget_is_full() -> None:
    policy = MicroPolicy(rule=MicroRule.EVERY_TURN, preserve_tokens=2_000)
    story = told(
        bash("a", LONG),
        read("a.py", HUGE[:4_000]),
        read("b.py", HUGE[:3_000]),
        *[bash("e", LONG)] * 3,
    )
    assert set(plan(story, policy).stubs) == {"r1", "r2"}
    assert set(plan(story, MicroPolicy(rule=MicroRule.EVERY_TURN)).stubs) == {"r1"}


def test_without_a_budget_preserved_results_are_never_cleared() -> None:
    policy = MicroPolicy(rule=MicroRule.EVERY_TURN, preserve_tokens=None)
    story = told(read("a.py", HUGE), read("a.py", HUGE), *[read(f"{n}.py", HUGE) for n in range(9)])
    assert not plan(story, policy).stubs


def test_a_read_that_a_newer_read_covers_goes_first() -> None:
    policy = MicroPolicy(rule=MicroRule.EVERY_TURN)
    story = told(
        read("a.py", LONG, first=10, last=20),
        read("a.py", LONG, first=1, last=15),
        *[bash("e", "ok")] * 3,
    )
    assert not plan(story, policy).stubs
    story.step(read("a.py", LONG, first=12, last=40))
    assert set(plan(story, policy).stubs) == {"r1"}


def test_a_read_that_a_later_edit_outdates_goes_at_any_age_but_not_among_the_newest() -> None:
    policy = MicroPolicy(rule=MicroRule.EVERY_TURN)
    story = told(read("a.py", LONG), edit("a.py"))
    assert not plan(story, policy).stubs
    story.step(bash("x", "ok"))
    story.step(bash("y", "ok"))
    assert set(plan(story, policy).stubs) == {"r1"}


def test_a_command_that_changes_a_file_outdates_its_read_too() -> None:
    policy = MicroPolicy(rule=MicroRule.EVERY_TURN)
    story = told(
        read("a.py", LONG),
        bash("sed -i s/a/b/ a.py", "ok", modified=("a.py",)),
        *[bash("e", "ok")] * 3,
    )
    assert set(plan(story, policy).stubs) == {"r1"}


def test_a_read_that_was_cut_on_entry_covers_nothing() -> None:
    policy = MicroPolicy(rule=MicroRule.EVERY_TURN)
    newer = read("a.py", LONG)
    effects = Effects(read=newer.effects.read, stored="r2.txt")
    story = told(
        read("a.py", LONG), Call("read_file", newer.input, LONG, effects), *[bash("e", "ok")] * 3
    )
    assert not plan(story, policy).stubs


def test_a_command_that_shows_a_file_covers_no_read_since_it_is_cleared_sooner() -> None:
    policy = MicroPolicy(rule=MicroRule.EVERY_TURN)
    shown = Effects(read=read("a.py", LONG).effects.read)
    story = told(
        read("a.py", LONG),
        Call("bash", {"command": "cat a.py"}, LONG, shown),
        *[bash("e", "ok")] * 3,
    )
    assert set(plan(story, policy).stubs) == {"r2"}


def test_off_means_off_until_the_user_asks() -> None:
    story = told(*[bash("e", LONG)] * 5)
    assert plan(story, MicroPolicy(rule=MicroRule.OFF)) == ClearingPlan()
    assert set(plan(story, MicroPolicy(rule=MicroRule.OFF), force=True).stubs) == {"r1", "r2"}


def test_auto_clears_each_turn_until_the_endpoint_shows_cache_reads() -> None:
    story = told(*[bash("e", LONG)] * 4)
    assert plan(story, MicroPolicy(), cache=NO_CACHE).stubs
    held = plan(story, MicroPolicy(), cache=WARM)
    assert not held.stubs
    assert (held.held, held.kind, held.held_results) == (True, "batch", ("r1",))


def test_a_clearing_waits_until_it_pays_for_the_cache_it_rewrites() -> None:
    policy = MicroPolicy(rule=MicroRule.PAYBACK, preserve_tools=frozenset())
    story = told(*[bash(f"a{n}", HUGE) for n in range(2)])
    story.step(bash("read it all", lines(1_400)))
    for _ in range(3):
        story.step(bash("e", "ok"))
    story.pin("r3")
    held = plan(story, policy, cache=WARM)
    assert held.kind == "payback"
    assert held.reason.startswith("held: pays back after ")
    assert held.reason.endswith(" requests; press c to clear now")
    assert held.held_results == ("r1", "r2")
    assert plan(story, policy, cache=COLD).stubs.keys() == {"r1", "r2"}
    assert plan(story, policy, cache=WARM, force=True).stubs.keys() == {"r1", "r2"}
    assert plan(story, policy, cache=WARM, excess=0).stubs.keys() == {"r1", "r2"}
    patient = MicroPolicy(rule=MicroRule.PAYBACK, preserve_tools=frozenset(), horizon=100)
    assert plan(story, patient, cache=WARM).stubs.keys() == {"r1", "r2"}


def test_what_does_not_keep_layer_2_away_is_left_to_it() -> None:
    policy = MicroPolicy(rule=MicroRule.PAYBACK, preserve_tools=frozenset())
    story = told(*[bash(f"a{n}", HUGE) for n in range(3)], *[bash("e", "ok")] * 3)
    saved = round(sum(ref.tokens for ref in story.conversation.live))
    for cache in (WARM, COLD):
        held = plan(story, policy, cache=cache, excess=saved + 1)
        assert (held.kind, held.reason) == ("summary", "held: layer 2 is due and frees more")
    enough = plan(story, policy, cache=WARM, excess=saved - 500)
    assert enough.stubs.keys() == {"r1", "r2", "r3"}
    assert enough.reason == "layer 2 is due: 3 results"
    assert plan(story, PLAIN, excess=saved + 1).stubs, "the literal rule knows no price"


def test_a_batch_that_pays_goes_at_once() -> None:
    policy = MicroPolicy(rule=MicroRule.PAYBACK, preserve_tools=frozenset())
    story = told(*[bash(f"a{n}", HUGE) for n in range(3)], *[bash("e", "ok")] * 3)
    done = plan(story, policy, cache=WARM)
    assert done.stubs.keys() == {"r1", "r2", "r3"}
    assert done.reason == "pays back after 1 request: 3 results"


def test_signed_thinking_in_the_open_round_holds_a_clearing() -> None:
    story = told(*[bash(f"a{n}", LONG) for n in range(4)], thinking="hm")
    held = plan(story)
    assert (held.kind, held.reason) == ("thinking", "held: signed thinking")
    assert plan(story, excess=0).bare == ("m4", "m6", "m8")
    story.answer("Done.", thinking="so")
    story.say("next")
    assert plan(story).bare == ("m4", "m6", "m8", "m10")
    story.clear(plan(story).stubs, plan(story).bare)
    assert plan(story).bare == ()


def test_unsigned_thinking_neither_holds_nor_goes() -> None:
    story = told()
    for n in range(4):
        (use,) = story.ask(bash(f"a{n}", LONG))
        asked = story.conversation.entries[-1].message
        unsigned = Thinking({"type": "thinking", "thinking": "hm", "signature": ""})
        entry = replace(
            story.conversation.entries[-1], message=Message("assistant", (unsigned, *asked.content))
        )
        story.conversation = replace(
            story.conversation, entries=(*story.conversation.entries[:-1], entry)
        )
        story.append(Message("user", (ToolResult(use.id, LONG),)))
    assert plan(story).stubs
    assert plan(story).bare == ()


def test_the_frontier_is_the_result_that_goes_next() -> None:
    story = told(*[bash(f"a{n}", LONG) for n in range(3)])
    assert plan(story).frontier == "r1"
    story.step(bash("e", LONG))
    done = plan(story)
    assert (set(done.stubs), done.frontier) == ({"r1"}, "r2")
    assert plan(story, MicroPolicy(), cache=WARM).frontier == "r1"


@pytest.mark.parametrize("keep", [0, 1, 5])
def test_the_newest_results_stay(keep: int) -> None:
    story = told(*[bash(f"a{n}", LONG) for n in range(7)])
    story.answer("ok")
    policy = MicroPolicy(rule=MicroRule.EVERY_TURN, keep_recent=keep)
    assert len(plan(story, policy).stubs) == 7 - keep
