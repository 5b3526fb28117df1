"""Playing recorded sessions."""

from __future__ import annotations

from app.core.messages import Message, Text, ToolResult, ToolUse
from app.core.policy import CompactionPolicy
from app.replay.driver import replay_recording
from app.replay.recordings import Recording


async def test_what_the_user_wrote_while_calls_ran_reaches_the_next_request():
    recording = Recording(
        "s",
        (
            Message("user", (Text("look"),)),
            Message("assistant", (ToolUse("t1", "bash", {"command": "ls"}),)),
            Message("user", (ToolResult("t1", "a.py"), Text("and hurry"))),
            Message("assistant", (Text("done"),)),
        ),
    )
    bodies = []
    report = await replay_recording(recording, CompactionPolicy(), on_request=bodies.append)
    assert report.requests == 2
    assert not report.problem
    assert "and hurry" not in str(bodies[0])
    assert "and hurry" in str(bodies[1]["messages"][-1])
