"""Sessions made by a seeded generator, with the sizes, tools, re-reads and edits of recorded ones.

The shares come from recorded sessions of coding agents: commands with short output and a long tail, files read several
times while they are worked on, edits that quote what was read, a few words between the calls, seldom a user.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from app.core.messages import Message, Text, ToolResult, ToolUse
from app.replay.recordings import Recording

TOOLS = (("bash", 0.42), ("read_file", 0.28), ("edit_file", 0.24), ("search", 0.06))
RECENT = 4
"""Files that are worked on at a time."""
_NAMES = ("parser", "server", "budget", "client", "record", "layout", "worker", "schema")
_VERBS = ("load", "check", "merge", "write", "split", "render", "send", "close")


@dataclass
class _World:
    """Files as they are, and what the agent looks at."""

    chance: random.Random
    files: dict[str, list[str]] = field(default_factory=dict)
    recent: list[str] = field(default_factory=list)

    def path(self) -> str:
        """A file: mostly one of those worked on, sometimes another."""
        if self.recent and self.chance.random() < 0.7:
            return self.chance.choice(self.recent)
        name = self.chance.choice(_NAMES)
        path = f"src/{name}_{self.chance.randrange(12)}.py"
        self.files.setdefault(path, _source(self.chance))
        self.recent = [*(p for p in self.recent[1 - RECENT :] if p != path), path]
        return path


def generated(seed: int, steps: int) -> Recording:
    """A session of so many answers of the model; the same seed gives the same session."""
    world = _World(random.Random(seed))
    messages = [Message("user", (Text(_words(world.chance, 30)),))]
    for step in range(steps):
        if step and world.chance.random() < 0.08:
            messages.append(Message("assistant", (Text(_words(world.chance, 60)),)))
            messages.append(Message("user", (Text(_words(world.chance, 25)),)))
        calls, results = [], []
        for at in range(1 if world.chance.random() < 0.85 else 2):
            call, result = _call(world, f"toolu_{seed}_{step}_{at}")
            calls.append(call)
            results.append(ToolResult(call.id, result))
        said = (Text(_words(world.chance, 18)),) if world.chance.random() < 0.6 else ()
        messages.append(Message("assistant", (*said, *calls)))
        messages.append(Message("user", tuple(results)))
    messages.append(Message("assistant", (Text(_words(world.chance, 80)),)))
    return Recording(f"generated-{seed}", tuple(messages))


def markdown(seed: int, chars: int) -> str:
    """An answer of about so many characters: prose, lists, a table and code, as models write."""
    chance = random.Random(seed)
    parts: list[str] = []
    while sum(map(len, parts)) < chars:
        parts.append(f"## {_words(chance, 4)}\n\n{_words(chance, 50)}\n\n")
        parts.append(
            "".join(f"- **{_words(chance, 2)}** {_words(chance, 9)}\n" for _ in range(4)) + "\n"
        )
        parts.append("```python\n" + "\n".join(_source(chance)[:14]) + "\n```\n\n")
        if chance.random() < 0.3:
            rows = "".join(f"| `{_words(chance, 1)}` | {_words(chance, 5)} |\n" for _ in range(4))
            parts.append("| name | what |\n|---|---|\n" + rows + "\n")
    return "".join(parts)[:chars]


def _call(world: _World, id_: str) -> tuple[ToolUse, str]:
    chance = world.chance
    tool = chance.choices([name for name, _ in TOOLS], [share for _, share in TOOLS])[0]
    if tool == "bash":
        return ToolUse(id_, tool, {"command": f"pytest -q -k {_words(chance, 1)}"}), _output(chance)
    path = world.path()
    lines = world.files[path]
    if tool == "search":
        return ToolUse(id_, tool, {"pattern": chance.choice(_VERBS)}), _output(chance)[:3_000]
    if tool == "read_file":
        shown = "\n".join(f"{n:>5}\t{line}" for n, line in enumerate(lines, 1))
        return ToolUse(id_, tool, {"path": path}), shown
    at = chance.randrange(max(1, len(lines) - 6))
    old = lines[at : at + 1 + int(chance.lognormvariate(1.8, 0.8))]
    new = [line.replace("value", "other") + "  # changed" for line in old]
    lines[at : at + len(old)] = new
    arguments = {"path": path, "old_text": "\n".join(old), "new_text": "\n".join(new)}
    return ToolUse(id_, tool, arguments), f"edited {path}: 1 replacement"


def _output(chance: random.Random) -> str:
    """Output of a command: half of them short, one in twenty very long."""
    chars = min(60_000, int(chance.lognormvariate(6.0, 1.7)))
    lines = [f"{_words(chance, 8)} {chance.randrange(10_000)}" for _ in range(1 + chars // 60)]
    return "\n".join(lines)


def _source(chance: random.Random) -> list[str]:
    lines: list[str] = []
    for number in range(int(chance.lognormvariate(2.3, 0.7)) + 3):
        name = f"{chance.choice(_VERBS)}_{chance.choice(_NAMES)}_{number}"
        lines += [
            f"def {name}(value, limit={chance.randrange(100)}):",
            f'    """{_words(chance, 7)}."""',
        ]
        lines += [
            f"    value = {chance.choice(_VERBS)}(value, {n})" for n in range(chance.randint(2, 7))
        ]
        lines += ["    return value", "", ""]
    return lines


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choice(_NAMES + _VERBS + ("the", "of", "a", "is")) for _ in range(count))
