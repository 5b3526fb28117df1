"""A project with a sibling folder outside it, and short ways to judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.core.permission import Judgement, Mode, Rule, Verdict
from app.permission.judge import judge
from app.permission.places import Places
from app.permission.rules import parse_rule

FIRST_WORDS = ("echo", "ls", "cat", "grep", "find", "sed")


def rule(text: str, verdict: Verdict = Verdict.ALLOW) -> Rule:
    return parse_rule(text, verdict)


@dataclass
class Bench:
    """A project to judge against; ``$OUT`` and ``$M`` in commands stand for a place outside."""

    folder: Path
    home: Path
    outside: Path
    rules: Sequence[Rule] = ()
    places: Places = field(init=False)

    def __post_init__(self) -> None:
        self.places = Places.of(self.folder, self.home)

    @property
    def marker(self) -> Path:
        return self.outside / "marker"

    def fill(self, command: str) -> str:
        return command.replace("$M", str(self.marker)).replace("$OUT", str(self.outside))

    def bash(
        self,
        command: str,
        *,
        mode: Mode = Mode.ASK,
        rules: Sequence[Rule] | None = None,
        sandboxed: bool = False,
    ) -> Judgement:
        return self.call(
            "bash", {"command": self.fill(command)}, mode=mode, rules=rules, sandboxed=sandboxed
        )

    def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        mode: Mode = Mode.ASK,
        rules: Sequence[Rule] | None = None,
        sandboxed: bool = False,
    ) -> Judgement:
        return judge(
            tool,
            arguments,
            mode=mode,
            rules=self.rules if rules is None else rules,
            places=self.places,
            sandboxed=sandboxed,
        )


def make_bench(root: Path) -> Bench:
    folder, outside, home = root / "wd", root / "out", root / "home"
    for place in (folder, outside, home, folder / "src", folder / ".git" / "hooks"):
        place.mkdir(parents=True)
    (folder / "f").write_text("one\ntwo\n")
    (folder / "src" / "a.py").write_text("print(1)\n")
    (folder / ".env").write_text("ANTHROPIC_API_KEY=sk-ant-probe-0000\n")
    (outside / "secret").write_text("secret\n")
    (folder / "link").symlink_to(outside / "secret")
    (folder / "door").symlink_to(outside)
    allowed = [rule(f"bash: {name} *") for name in FIRST_WORDS]
    allowed += [rule(f"bash: git {name}") for name in ("status", "diff", "log")]
    return Bench(folder, home, outside, tuple(allowed))
