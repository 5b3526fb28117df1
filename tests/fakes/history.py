"""Histories for tests: a `Story` that is told message by message, and hypothesis strategies for random valid ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from app.core.conversation import Conversation, replay
from app.core.effects import Effects, Span
from app.core.history import Cleared, Commit, Entry, HistoryItem, Pinned, Rewound, Undone
from app.core.messages import Block, Message, Text, Thinking, ToolResult, ToolUse
from app.core.policy import (
    AutoPolicy,
    CompactionPolicy,
    EntryPolicy,
    ManualPolicy,
    MicroPolicy,
    MicroRule,
)
from app.core.ports import CommitDraft

TIME = "2026-11-29T22:16:40.000Z"


@dataclass(frozen=True)
class Call:
    """A call and what came of it."""

    tool: str
    input: Mapping[str, Any] = field(default_factory=dict)
    result: str = "ok"
    effects: Effects = Effects()
    is_error: bool = False


def bash(
    command: str, output: str = "ok", *, exit_code: int = 0, modified: tuple[str, ...] = ()
) -> Call:
    lines = output.count("\n") + 1
    effects = Effects(
        target=command,
        outcome=f"exit {exit_code}, {lines} lines",
        modified=modified,
        exit_code=exit_code,
    )
    return Call("bash", {"command": command}, output, effects)


def read(path: str, text: str = "some text\n", *, first: int = 1, last: int | None = None) -> Call:
    end = last if last is not None else first + text.count("\n")
    effects = Effects(
        target=path, outcome=f"lines {first}-{end}", read=(Span(path, first, end, end),)
    )
    return Call("read_file", {"path": path}, text, effects)


def edit(path: str, old: str = "a", new: str = "b", result: str = "edited") -> Call:
    effects = Effects(target=path, outcome="1 replacement", modified=(path,))
    return Call("edit_file", {"path": path, "old": old, "new": new}, result, effects)


def fails(call: Call, text: str = "Error: no such file") -> Call:
    return replace(call, result=text, is_error=True)


class Story:
    """A record in memory: tell it message by message, read `items` or `conversation`."""

    def __init__(self) -> None:
        self.items: list[HistoryItem] = []
        self.conversation = Conversation()
        self.seq = self.number = self.result = self.commits = self.calls = 0

    def _next(self) -> int:
        self.seq += 1
        return self.seq

    def _put(self, item: HistoryItem) -> None:
        self.items.append(item)
        self.conversation = self.conversation.apply(item)

    def append(
        self,
        message: Message,
        *,
        spoken: Sequence[int] = (),
        effects: Mapping[str, Effects] | None = None,
    ) -> Entry:
        self.number += 1
        count = len(message.tool_results)
        first = self.result + 1 if count else 0
        self.result += count
        entry = Entry(self._next(), self.number, TIME, message, tuple(spoken), effects or {}, first)
        self._put(entry)
        return entry

    def say(self, *texts: str) -> Entry:
        """The user speaks."""
        return self.append(Message("user", tuple(map(Text, texts))), spoken=range(len(texts)))

    def answer(self, text: str, *, thinking: str = "") -> Entry:
        """The model answers without a call."""
        return self.append(Message("assistant", (*_thinking(thinking), Text(text))))

    def ask(self, *calls: Call, text: str = "", thinking: str = "") -> tuple[ToolUse, ...]:
        """The model calls tools; nothing answers yet."""
        uses = []
        for call in calls:
            self.calls += 1
            uses.append(ToolUse(f"toolu_{self.calls}", call.tool, dict(call.input)))
        said: tuple[Block, ...] = (Text(text),) if text else ()
        self.append(Message("assistant", (*_thinking(thinking), *said, *uses)))
        return tuple(uses)

    def step(self, *calls: Call, text: str = "", thinking: str = "", words: str = "") -> Entry:
        """The model calls tools and gets their results, with words of the user behind them if any."""
        uses = self.ask(*calls, text=text, thinking=thinking)
        blocks: list[Block] = [
            ToolResult(use.id, call.result, call.is_error)
            for use, call in zip(uses, calls, strict=True)
        ]
        effects = {use.id: call.effects for use, call in zip(uses, calls, strict=True)}
        if words:
            blocks.append(Text(words))
        spoken = (len(calls),) if words else ()
        return self.append(Message("user", tuple(blocks)), spoken=spoken, effects=effects)

    def clear(self, stubs: Mapping[str, str], bare: Sequence[str] = ()) -> Cleared:
        item = Cleared(self._next(), dict(stubs), tuple(bare))
        self._put(item)
        return item

    def pin(self, *results: str, on: bool = True) -> None:
        self._put(Pinned(self._next(), results, on))

    def commit(self, draft: CommitDraft) -> Commit:
        self.commits += 1
        commit = Commit(
            seq=self._next(),
            number=self.commits,
            time=TIME,
            layer=draft.layer,
            head=draft.head(f".transcripts/s/transcript_{self.commits:04}.jsonl"),
            replaced=draft.replaced,
            kept=draft.kept,
            stubs=draft.stubs,
            bare=draft.bare,
            summary=draft.summary,
            facts=draft.facts,
        )
        self._put(commit)
        return commit

    def rewind(self, before: int) -> None:
        """Go back to just before the item with this ``seq``."""
        self.items.append(Rewound(self._next(), before))
        self.conversation = replay(self.items)

    def undo(self, commit: int) -> None:
        self.items.append(Undone(self._next(), commit))
        self.conversation = replay(self.items)


def _thinking(text: str) -> tuple[Thinking, ...]:
    if not text:
        return ()
    return (Thinking({"type": "thinking", "thinking": text, "signature": "c2ln" * 8}),)


def lines(count: int, word: str = "line") -> str:
    """So many lines of text."""
    return "\n".join(f"{word} {n}: the quick brown fox = jumps({n})" for n in range(1, count + 1))


# Strategies

PATHS = ("app/a.py", "app/b.py", "app/core/c.py", "tests/test_a.py", "README.md", "文档/说明.md")
WORDS = st.text(
    st.sampled_from("abc xyz_./-\n你好世界😀é\t\x1b[`#"), min_size=1, max_size=60
).filter(lambda text: bool(text.strip()))


@st.composite
def _results(draw: st.DrawFn) -> str:
    size = draw(st.sampled_from((0, 1, 3, 12, 60, 250)))
    return lines(size, draw(st.sampled_from(("line", "行", "x_y")))) or "(no output)"


@st.composite
def tool_calls(draw: st.DrawFn) -> Call:
    path = draw(st.sampled_from(PATHS))
    kind = draw(st.sampled_from(("bash", "bash", "read", "read", "edit", "search", "other")))
    text = draw(_results())
    match kind:
        case "bash":
            modified = draw(st.sampled_from(((), (), (path,))))
            return bash(
                draw(st.sampled_from(("pytest -q", "ls\n-la", f"cat {path}"))),
                text,
                exit_code=draw(st.sampled_from((0, 1))),
                modified=modified,
            )
        case "read":
            call = read(path, text, first=draw(st.sampled_from((1, 1, 40))))
        case "edit":
            call = edit(path, result=text)
        case "search":
            call = Call("search", {"pattern": "x"}, text, Effects(target="x", outcome="3 matches"))
        case _:
            call = Call("mystery", {"a": [1, {"b": "ü"}]}, text)
    return fails(call, text) if draw(st.integers(0, 5)) == 0 else call


@st.composite
def stories(draw: st.DrawFn, max_turns: int = 5) -> Story:
    """A random valid record; its last message may be an answer, a new request or unseen results."""
    story = Story()
    for _ in range(draw(st.integers(1, max_turns))):
        tell_turn(story, draw)
    if draw(st.booleans()):
        story.say(draw(WORDS))
        for _ in range(draw(st.integers(0, 3))):
            tell_step(story, draw)
    return story


def tell_turn(story: Story, draw: st.DrawFn) -> None:
    story.say(draw(WORDS))
    for _ in range(draw(st.integers(0, 5))):
        tell_step(story, draw)
    story.answer(draw(WORDS), thinking=draw(st.sampled_from(("", "", "hm"))))


def tell_step(story: Story, draw: st.DrawFn) -> None:
    story.step(
        *draw(st.lists(tool_calls(), min_size=1, max_size=3)),
        text=draw(st.sampled_from(("", "I look."))),
        thinking=draw(st.sampled_from(("", "", "let me think"))),
        words=draw(st.sampled_from(("", "", "", "also do that"))),
    )


def policies() -> st.SearchStrategy[CompactionPolicy]:
    """Random numbers for all layers."""
    shares = st.sampled_from((0.0, 0.05, 0.1, 0.3, 0.5))
    micro = st.builds(
        MicroPolicy,
        rule=st.sampled_from(MicroRule),
        keep_recent=st.integers(0, 6),
        min_chars=st.sampled_from((0, 20, 100)),
        preserve_tools=st.sampled_from(
            (frozenset(), frozenset({"read_file"}), frozenset({"bash", "search"}))
        ),
        preserve_tokens=st.sampled_from((None, 0, 500, 20_000)),
        preserve_share=shares,
        batch_tokens=st.sampled_from((0, 200, 8_000)),
        due_share=shares,
        horizon=st.sampled_from((1, 15, 100)),
        bare_stubs=st.booleans(),
    )
    auto = st.builds(
        AutoPolicy,
        threshold=st.sampled_from((300, 1_000, 4_000, 20_000)),
        words_share=shares,
        files_share=shares,
        file_share=shares,
        tail_share=shares,
    )
    manual = st.builds(ManualPolicy, focus_share=shares)
    return st.builds(CompactionPolicy, st.builds(EntryPolicy), micro, auto, manual)
