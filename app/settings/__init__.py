"""Settings: one frozen value, each part of it with its source, and trust in what a project's files say."""

from app.settings.base_url import clean_base_url, is_plain_http
from app.settings.live import SettingRow, rows, set_value, with_session
from app.settings.load import load_settings, read_settings
from app.settings.parsers import mask
from app.settings.saving import save_user_setting
from app.settings.spec import SettingSpec
from app.settings.specs import SPECS, find_spec
from app.settings.trust import (
    TrustItem,
    TrustQuestion,
    forget_trust,
    pending_trust,
    read_trust,
    remember_trust,
    trust_now,
)
from app.settings.trust_state import UNTRUSTED, Level, TrustState
from app.settings.values import DEFAULT, Conflict, Settings

__all__ = [
    "DEFAULT",
    "SPECS",
    "UNTRUSTED",
    "Conflict",
    "Level",
    "SettingRow",
    "SettingSpec",
    "Settings",
    "TrustItem",
    "TrustQuestion",
    "TrustState",
    "clean_base_url",
    "find_spec",
    "forget_trust",
    "is_plain_http",
    "load_settings",
    "mask",
    "pending_trust",
    "read_settings",
    "read_trust",
    "remember_trust",
    "rows",
    "save_user_setting",
    "set_value",
    "trust_now",
    "with_session",
]
