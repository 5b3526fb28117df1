"""The model that answers: the endpoint of the settings, or the embedded one behind the same client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.prices import Price
from app.settings import Settings

if TYPE_CHECKING:
    import httpx2

    from app.adapters.anthropic_model import AnthropicModel
    from app.adapters.retry import RetryPolicy
    from app.core.requests import ModelInfo

WindowOf = Callable[["ModelInfo | None", str], tuple[int, str]]


def build_model(
    settings: Settings,
    *,
    demo: bool,
    retry: RetryPolicy | None = None,
    price: Callable[[], Price | None] = lambda: None,
    state: Path | None = None,
) -> AnthropicModel:
    """Return the model: the endpoint of the settings, or the embedded one behind the same client.

    Args:
        settings: Where it is and how it is called.
        demo: Whether it is the embedded one.
        retry: When to try again, over the settings.
        price: Returns the user's own price, asked at each request.
        state: Folder that keeps over runs which fields the endpoint refused; None keeps nothing.
    """
    from app.adapters.anthropic_model import DEFAULT_RETRY, AnthropicModel
    from app.adapters.demo import DEMO_API_KEY, DEMO_BASE_URL
    from app.launch.refused_fields import FILE as REFUSED_FIELDS
    from app.launch.refused_fields import RefusedFields

    retry = retry or replace(DEFAULT_RETRY, attempts=settings.attempts)
    if demo:
        return AnthropicModel(
            base_url=DEMO_BASE_URL,
            api_key=DEMO_API_KEY,
            transport=_demo_transport,
            retry=retry,
            price=lambda: Price(0, 0, 0, 0),
        )
    address = settings.base_url or ""
    kept = None if state is None else RefusedFields(state / REFUSED_FIELDS, address)
    return AnthropicModel(
        base_url=settings.base_url,
        api_key=settings.api_key,
        auth_token=settings.auth_token,
        retry=retry,
        silence=settings.request_timeout,
        price=price,
        refusals=kept,
    )


def window_finder(now: Callable[[], Settings], *, demo: bool) -> WindowOf:
    """Return what finds a model's window under the settings that ``now`` returns."""
    from app.adapters.demo import DEMO_WINDOW
    from app.adapters.model_table import window_of

    def find(info: ModelInfo | None, model: str) -> tuple[int, str]:
        settings = now()
        if demo:
            return min(settings.context_window or DEMO_WINDOW, DEMO_WINDOW), "endpoint"
        return window_of(model, info, settings.context_window, official=settings.official)

    return find


def is_tour(text: str) -> bool:
    """Whether the embedded model takes a text for the wish to see its tour."""
    from app.adapters.demo.understanding import understand
    from app.adapters.demo.wishes import Kind

    return understand(text).kind is Kind.TOUR


def never(text: str) -> bool:
    """Return False: other models know no tour."""
    return False


def _demo_transport() -> httpx2.AsyncBaseTransport:
    from app.adapters.demo.transport import DemoTransport

    return DemoTransport()
