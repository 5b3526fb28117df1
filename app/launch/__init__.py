"""From arguments to a running front end: settings and trust, the parts of a session, and what runs them."""

from app.launch.launch_options import Launch
from app.launch.runs import (
    run_doctor_command,
    run_rules_command,
    run_screen,
    run_text,
    screen,
    transcripts_of,
)

__all__ = [
    "Launch",
    "run_doctor_command",
    "run_rules_command",
    "run_screen",
    "run_text",
    "screen",
    "transcripts_of",
]
