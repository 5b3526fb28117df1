"""The literal design as a program: a Textual app that looks at every message again before each request.

Called as ``python textbook_app.py URL MODEL KEY``. It imports the SDK before it draws, gives each piece of an answer to
Textual's Markdown stream, keeps one widget a message, and keeps the conversation in one list.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import anthropic
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Input, Markdown, Static

from tests.benchmarks.textbook import (
    RESULT_CHARS,
    SUMMARISED_CHARS,
    Messages,
    clear_old_results,
    estimate,
)

THRESHOLD = 900_000
"""As high as in the other programs of the comparison: the answers shall stay."""
TRANSCRIPT = Path(".transcripts") / "textbook.jsonl"
TOOLS = [
    {
        "name": name,
        "description": description,
        "input_schema": {"type": "object", "properties": {argument: {"type": "string"}}},
    }
    for name, description, argument in (
        ("bash", "Run a command.", "command"),
        ("read_file", "Read a file.", "path"),
    )
]


class TextbookApp(App[None]):
    def __init__(self, url: str, model: str, key: str) -> None:
        super().__init__()
        self._client = anthropic.AsyncAnthropic(api_key=key, base_url=url)
        self._model = model
        self._messages: Messages = []

    def compose(self) -> ComposeResult:
        yield VerticalScroll()
        yield Input(placeholder="type here")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).anchor()
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.input.clear()
        self.run_worker(self._turn(event.value))

    async def _turn(self, text: str) -> None:
        chat = self.query_one(VerticalScroll)
        await chat.mount(Static(f"> {text}", markup=False))
        self._messages.append({"role": "user", "content": [{"type": "text", "text": text}]})
        while results := await self._step():
            self._messages.append({"role": "user", "content": results})

    async def _step(self) -> list[dict[str, Any]]:
        """Send what there is, show the answer, and return the results of its calls."""
        clear_old_results(self._messages)
        if estimate(self._messages) > THRESHOLD:
            await self._compact()
        answer = Markdown()
        await self.query_one(VerticalScroll).mount(answer)
        shown = Markdown.get_stream(answer)
        async with self._client.messages.stream(
            model=self._model, max_tokens=8_000, messages=self._messages, tools=TOOLS
        ) as stream:
            async for piece in stream.text_stream:
                await shown.write(piece)
            said = await stream.get_final_message()
        await shown.stop()
        blocks = [block.model_dump(exclude_none=True) for block in said.content]
        self._messages.append({"role": "assistant", "content": blocks})
        return [
            {"type": "tool_result", "tool_use_id": block["id"], "content": await _run(block)}
            for block in blocks
            if block["type"] == "tool_use"
        ]

    async def _compact(self) -> None:
        TRANSCRIPT.parent.mkdir(exist_ok=True)
        TRANSCRIPT.write_text("\n".join(map(json.dumps, self._messages)), encoding="utf-8")
        asked = json.dumps(self._messages, default=str)[-SUMMARISED_CHARS:]
        reply = await self._client.messages.create(
            model=self._model,
            max_tokens=2_000,
            messages=[{"role": "user", "content": f"Summarise this conversation:\n{asked}"}],
        )
        summary = "".join(block.text for block in reply.content if block.type == "text")
        content = [{"type": "text", "text": f"[Compressed]\n\n{summary}"}]
        self._messages[:] = [{"role": "user", "content": content}]


async def _run(call: dict[str, Any]) -> str:
    if call["name"] == "read_file":
        return Path(call["input"]["path"]).read_text(encoding="utf-8")[:RESULT_CHARS]
    process = await asyncio.create_subprocess_shell(
        call["input"]["command"],
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return output.decode(errors="replace")[:RESULT_CHARS]


if __name__ == "__main__":
    TextbookApp(*sys.argv[1:4]).run()
