"""Settings in force on the pair screen: what is changed there acts at once, and holds for the next session too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.permission import usable_modes
from app.errors import ConfigError
from app.settings import with_session

if TYPE_CHECKING:
    from app.agent.session import Session
    from app.settings import Settings
    from app.ui.screens.pair import PairScreen


def apply_settings(screen: PairScreen, settings: Settings) -> None:
    """Put changed settings in force, as far as they can change now.

    Raises:
        ConfigError: The mode needs a sandbox and there is none.
    """
    app = screen.app
    if settings.mode not in usable_modes(confined=bool(app.wiring.sandbox())):
        raise ConfigError("mode", "auto needs a working sandbox, and there is none")
    before = keep_settings(screen)
    screen.settings = settings
    app.wiring.settings_changed(settings)
    if screen.session is not None:
        _apply_to(screen, screen.session, before)
    if settings.theme != before.theme:
        app.use_theme(settings.theme)
    screen.show_heading()
    screen.show_title()
    screen.refresh_session()


def keep_settings(screen: PairScreen) -> Settings:
    """Take up what keys, commands and answers changed in the session, for the next one too; return all in force."""
    session = screen.session
    if session is not None:
        now = with_session(
            screen.settings, mode=session.mode, model=session.model, rules=session.rules
        )
        if now != screen.settings:
            screen.settings = now
            screen.app.wiring.settings_changed(now)
    return screen.settings


def _apply_to(screen: PairScreen, session: Session, before: Settings) -> None:
    settings = screen.settings
    if settings.policy != before.policy:
        session.set_policy(settings.policy)
    if settings.context_window != before.context_window:
        session.find_window()
    if settings.max_output_tokens != before.max_output_tokens:
        session.set_max_output(settings.max_output_tokens)
    if settings.mode is not before.mode:
        session.set_mode(settings.mode)
    if settings.model != before.model:
        screen.commands.run_model(settings.model)
