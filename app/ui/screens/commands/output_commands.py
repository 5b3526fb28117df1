"""Commands that take text out of the program: to the clipboard, to a file, to the user's editor."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from app.settings.private_file import write_private
from app.ui.format import plural, short_path
from app.ui.screens.commands.command_ground import CommandGround

if TYPE_CHECKING:
    from app.agent.session import Session


class OutputCommands(CommandGround):
    """Copies, exports, and the prompt in an editor."""

    def run_copy(self, argument: str) -> None:
        chat = self._screen.chat
        text = chat.last_code_block() if argument == "code" else chat.last_answer_markdown()
        if not text:
            self._say("There is nothing to copy yet.", warning=True)
            return
        self.copy(text)

    def copy(self, text: str) -> None:
        """Put a text into the clipboard, and into a file for terminals that do not take it, and say so."""
        if not text:
            return
        self._screen.app.copy_to_clipboard(text)
        where = self._keep_copy(text)
        also = f"; also in {short_path(where, Path.home(), 60)}" if where else ""
        self._screen.status.rest(f"copied {plural(len(text), 'character')}{also}", "$text-success")

    def run_export(self, argument: str) -> None:
        session = self._session()
        if session is not None:
            self._background(self._export(session, argument))

    async def _export(self, session: Session, argument: str) -> None:
        from app.ui.export import export_path

        path, replace = export_path(session, argument)
        await session.export(path, replace=replace)
        self._say(f"Wrote {path}")

    def write_in_editor(self) -> None:
        """Let the user write the prompt in ``$VISUAL`` or ``$EDITOR``."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
        if not editor:
            self._say("Set VISUAL or EDITOR to write in your editor.", warning=True)
            return
        if (
            self._screen.is_busy
        ):  # nothing of the turn would go on while the editor has the terminal
            self._say("Your editor can be opened when the turn has ended.", warning=True)
            return
        import subprocess

        from textual.app import SuspendNotSupported

        area = self._screen.prompt.area
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "message.md"
            file.write_text(area.whole_text, encoding="utf-8")
            try:
                with self._screen.app.suspend():
                    subprocess.run([*shlex.split(editor), str(file)], check=False)
            except (OSError, ValueError, SuspendNotSupported) as error:
                self._screen.chat.add_error(f"{editor} could not be started: {error}", "")
                return
            area.set_whole_text(file.read_text(encoding="utf-8", errors="replace").rstrip("\n"))

    def _keep_copy(self, text: str) -> Path | None:
        """Write what was copied to a file too: not every terminal takes the clipboard sequence."""
        folder = self._screen.app.wiring.state_folder
        if folder is None:
            return None
        path = folder / "copied.md"
        try:
            write_private(path, text)
        except (OSError, UnicodeEncodeError):
            return None
        return path
