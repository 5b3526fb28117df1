"""A folder and a home to load settings from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.settings import (
    Level,
    Settings,
    TrustQuestion,
    TrustState,
    load_settings,
    pending_trust,
    read_trust,
    remember_trust,
)

TRUSTED = TrustState(Level.ALL, foreign_key=True)
KEY = "sk-ant-probe-0000-aaaa-bbbb-cccc"
OTHER_KEY = "sk-ant-probe-0000-dddd-eeee-ffff"


@dataclass
class Desk:
    folder: Path
    home: Path
    environ: dict[str, str] = field(default_factory=dict)

    def put(self, name: str, text: str | bytes) -> Path:
        """Write a file of the project."""
        return _write(self.folder / name, text)

    def put_home(self, name: str, text: str | bytes) -> Path:
        return _write(self.home / name, text)

    def put_user(self, text: str) -> Path:
        return self.put_home(".config/palimpsest/settings.toml", text)

    def load(
        self, flags: Mapping[str, str] | None = None, trust: TrustState = TRUSTED, **environ: str
    ) -> Settings:
        return load_settings(
            self.folder,
            environ={**self.environ, **environ},
            home=self.home,
            flags=flags,
            trust=trust,
        )

    def question(
        self, flags: Mapping[str, str] | None = None, **environ: str
    ) -> TrustQuestion | None:
        return pending_trust(
            self.folder, environ={**self.environ, **environ}, home=self.home, flags=flags
        )

    def state(self) -> TrustState:
        return read_trust(self.folder, home=self.home)

    def answer(self, level: Level, **environ: str) -> TrustState:
        question = self.question(**environ)
        assert question is not None
        return remember_trust(question, level, home=self.home)


def _write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def values(settings: Settings, *names: str) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in names}
