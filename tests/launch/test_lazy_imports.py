"""What the first screen is drawn without: each of these costs time before the prompt, and is loaded afterwards."""

import subprocess
import sys

LATER = (
    "anthropic",
    "httpx2",
    "rich.markdown",
    "markdown_it",
    "pygments",
    "hashlib",
    "app.agent.session",
    "app.compaction",
    "app.tools",
    "app.permission.judge",
    "app.permission.script",
    "app.core.requests",
    "app.core.messages",
    "app.launch.graph",
    "app.ui.account_text",
    "app.ui.screens.help",
    "app.ui.screens.settings",
)


def test_what_only_later_steps_need_is_not_imported_before_the_first_screen():
    code = "import sys, app.launch, app.ui.app, app.ui.wiring; print(*sys.modules)"
    loaded = subprocess.run(
        (sys.executable, "-c", code), capture_output=True, text=True, check=True
    ).stdout.split()
    assert "app.ui.screens.pair" in loaded
    assert not set(LATER) & set(loaded)
