"""Reading recorded sessions."""

from __future__ import annotations

from app.replay.recordings import read_recording


def test_a_segment_is_named_by_its_session_so_that_two_sessions_stay_apart(tmp_path):
    for session in ("one", "two"):
        (tmp_path / session).mkdir()
        (tmp_path / session / "transcript_0001.jsonl").write_text(
            '{"role": "user", "content": "hi"}\n', encoding="utf-8"
        )
    (tmp_path / "mine.jsonl").write_text('{"role": "user", "content": "hi"}\n', encoding="utf-8")
    files = [*tmp_path.glob("*/*.jsonl"), tmp_path / "one", tmp_path / "mine.jsonl"]
    names = {read_recording(file).name for file in files}
    assert names == {"one.transcript_0001", "two.transcript_0001", "one", "mine"}
