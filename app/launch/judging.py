"""How calls are judged in a folder: the rules' judge with the places, the second parser and the sandbox there are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.adapters.shfmt import find_shfmt, programs_named
from app.core.messages import JsonObject
from app.core.permission import Judgement, Mode, Rule, Verdict
from app.permission.judge import judge
from app.permission.judge_command import SecondOpinion
from app.permission.places import Places
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges the calls of one folder."""

    places: Places
    sandboxed: bool
    """Whether a sandbox works here."""
    second: SecondOpinion | None
    """Another parser of command lines, where there is one."""

    def __call__(
        self, tool: str, arguments: JsonObject, mode: Mode, rules: tuple[Rule, ...]
    ) -> Judgement:
        """Return what becomes of a call."""
        return judge(
            tool,
            arguments,
            mode=mode,
            rules=rules,
            places=self.places,
            sandboxed=self.sandboxed,
            second=self.second,
        )

    def changes_nothing(self, command: str) -> bool:
        """Whether a command is known to change no file."""
        looked = judge("bash", {"command": command}, mode=Mode.ASK, rules=(), places=self.places)
        return looked.verdict is Verdict.ALLOW


def judge_of(settings: Settings, *, home: Path, search_path: str, sandboxed: bool) -> Judge:
    """Return the judge of the settings' folder.

    Args:
        settings: What holds there.
        home: The home folder.
        search_path: Where commands look for programs.
        sandboxed: Whether a sandbox works here.
    """
    places = Places.of(settings.folder, home, [settings.transcripts], search_path=search_path)
    shfmt = find_shfmt(settings.folder)
    return Judge(places, sandboxed, partial(programs_named, shfmt=shfmt) if shfmt else None)
