"""The least that can show an answer: a bare Textual app and a request over a plain socket.

Called as ``python bare_client.py HOST PORT MODEL KEY``.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys

from textual.app import App, ComposeResult
from textual.widgets import Input, Static

_TEXT = re.compile(r'"text_delta", "text": "([^"]*)"')


class BareClient(App[None]):
    def compose(self) -> ComposeResult:
        yield Static()
        yield Input(placeholder="type here")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.input.clear()
        self.run_worker(self._ask(event.value))

    async def _ask(self, text: str) -> None:
        host, port, model, key = sys.argv[1:]
        reader, writer = await asyncio.open_connection(host, int(port))
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        asked = {"model": model, "max_tokens": 1_000, "stream": True, "messages": [message]}
        body = json.dumps(asked).encode()
        head = (
            f"POST /v1/messages HTTP/1.1\r\nhost: {host}\r\nx-api-key: {key}\r\n"
            "anthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n"
            f"connection: close\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        shown = ""
        while data := await reader.read(1 << 16):
            shown += "".join(_TEXT.findall(data.decode(errors="replace")))
            self.query_one(Static).update(shown)
        writer.close()


if __name__ == "__main__":
    BareClient().run()
