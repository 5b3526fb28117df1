"""Layer 0."""

from __future__ import annotations

from app.compaction.entry import ResultDraft, shorten_results
from app.core.policy import EntryPolicy
from app.core.tokens import estimate_text
from tests.fakes.history import lines


def shorten(*drafts: ResultDraft, threshold: int = 50_000, factor: float = 1.0, **policy):
    return shorten_results(drafts, EntryPolicy(**policy), threshold=threshold, factor=factor)


def test_a_small_result_enters_whole() -> None:
    (one,) = shorten(ResultDraft(1, "bash", lines(50)))
    assert one.text == lines(50)
    assert not one.stored


def test_a_large_result_enters_as_head_and_tail_by_whole_lines() -> None:
    text = lines(2_000)
    (one,) = shorten(ResultDraft(17, "bash", text))
    shown = one.text.split("\n")
    (note,) = [line for line in shown if line.startswith("[truncated: ")]
    assert note.endswith("lines, full text in r17]")
    at = shown.index(note)
    head, tail = shown[:at], shown[at + 1 :]
    whole = text.split("\n")
    assert whole[: len(head)] == head
    assert whole[-len(tail) :] == tail
    assert f"{len(whole) - len(head) - len(tail):,} lines" in note
    assert 2.5 < len(head) / len(tail) < 4.0
    assert one.stored
    assert 1_700 < one.after < 2_100


def test_the_cap_follows_a_small_threshold_and_the_sessions_factor() -> None:
    text = lines(100)
    tokens = estimate_text(text)
    assert not shorten(ResultDraft(1, "bash", text), threshold=int(tokens / 0.15))[0].stored
    assert shorten(ResultDraft(1, "bash", text), threshold=int(tokens / 0.17))[0].stored
    assert shorten(ResultDraft(1, "bash", text), threshold=int(tokens / 0.15), factor=1.2)[0].stored


def test_one_endless_line_is_cut_inside() -> None:
    (one,) = shorten(ResultDraft(3, "bash", "x=1;" * 30_000))
    assert one.stored
    assert one.after < 2_200
    assert "characters, full text in r3]" in one.text
    assert one.text.startswith("x=1;")
    assert one.text.endswith("x=1;")


def test_a_file_read_is_exempt_from_the_cap() -> None:
    text = lines(700)
    assert estimate_text(text) > 8_000
    assert not shorten(ResultDraft(1, "read_file", text))[0].stored


def test_all_results_of_a_step_together_keep_to_their_share() -> None:
    drafts = [ResultDraft(n, "read_file", lines(600, f"f{n}")) for n in range(1, 5)]
    small = ResultDraft(5, "bash", "ok")
    cut = shorten(*drafts, small)
    assert sum(one.after for one in cut) <= 0.4 * 50_000 * 1.02
    assert cut[-1].text == "ok"
    assert all(one.stored for one in cut[:-1])


def test_a_file_read_is_never_cut_in_the_middle() -> None:
    drafts = [ResultDraft(n, "read_file", lines(900, f"f{n}")) for n in range(1, 4)]
    for one in shorten(*drafts):
        shown = one.text.split("\n")
        assert shown[-1].startswith("[truncated: ")
        assert not any("[truncated" in line for line in shown[:-1])


def test_nothing_is_touched_when_it_is_switched_off() -> None:
    (one,) = shorten(ResultDraft(1, "bash", lines(3_000)), enabled=False)
    assert one.text == lines(3_000)
    assert not one.stored


def test_a_cut_never_makes_a_result_larger() -> None:
    for size in range(1, 60):
        text = "\n".join("é" * 40 for _ in range(size))
        for one in shorten(*(ResultDraft(n, "bash", text) for n in range(3)), threshold=200):
            assert one.after <= one.before
            assert one.after == estimate_text(one.text)
