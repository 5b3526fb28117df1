"""Work for a worker, made when the worker begins: one that is cancelled before that leaves no coroutine behind."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, ParamSpec, cast

P = ParamSpec("P")


def later(
    method: Callable[P, Coroutine[Any, Any, None]], *args: P.args, **more: P.kwargs
) -> Callable[[], None]:
    """Return what `run_worker` takes instead of ``method(*args, **more)``.

    The framework calls and awaits it; its annotations know no function that only returns a coroutine.
    """
    return cast("Callable[[], None]", partial(method, *args, **more))
