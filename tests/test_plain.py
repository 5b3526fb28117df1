"""The questions of a terminal that draws no screen."""

from __future__ import annotations

import io
from dataclasses import dataclass, field

import pytest

from app.core.permission import Answered, ApprovalRequest
from app.plain import PlainApprover


@dataclass
class Typing:
    """Stands for `Lines`: what is typed at each prompt, in turn."""

    lines: list[str | None]
    prompts: list[str] = field(default_factory=list)

    async def ask(self, prompt: str, *, fresh: bool = False) -> str | None:
        assert fresh
        self.prompts.append(prompt)
        return self.lines.pop(0)


@pytest.mark.parametrize(
    ("typed", "answered", "words"),
    [
        (["/undo", "/exit0 now", "y"], Answered.YES, ""),
        (["/status", None], Answered.NO, ""),
        (["use /etc/hosts"], Answered.NO, "use /etc/hosts"),
        (["/etc/hosts is wrong"], Answered.NO, "/etc/hosts is wrong"),
    ],
)
async def test_a_command_typed_at_a_question_is_no_answer_to_it(
    typed: list[str | None], answered: Answered, words: str
) -> None:
    lines, out = Typing(typed), io.StringIO()
    request = ApprovalRequest("c1", "bash", "run make", "make", False, "it runs a program")
    asked = len(typed)
    answer = await PlainApprover(lines, out).ask(request)  # type: ignore[arg-type]
    assert (answer.answered, answer.words) == (answered, words)
    assert len(lines.prompts) == asked
    assert out.getvalue().count("A command waits until this is answered") == asked - 1
