"""The folders of ours in the user's home."""

from __future__ import annotations

from pathlib import Path

CONFIG_FOLDER = Path(".config") / "palimpsest"
"""Settings, trust and rules that the user gave."""
STATE_FOLDER = Path(".local") / "state" / "palimpsest"
"""Prompt history and other things that may be deleted."""
