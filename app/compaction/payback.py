"""What clearing costs and earns where the endpoint caches the prompt.

Clearing C tokens in front of K kept ones makes the endpoint write K again, (write - read) x K more than reading them,
and saves reading C at each later request, read x C.
"""

from __future__ import annotations

import math


def requests_to_pay(cleared: float, kept: float, *, read: float, write: float) -> float:
    """Return after how many requests a clearing has earned what it cost; infinite when never.

    Args:
        cleared: Tokens that go, less those of their stubs.
        kept: Tokens that stay behind the first cleared one.
        read: Price of a cached input token, as a share of an uncached one.
        write: Price of writing an input token to the cache, as such a share.
    """
    earned = read * cleared
    if earned <= 0:
        return math.inf
    return max(0.0, write - read) * kept / earned


def gain(cleared: float, kept: float, requests: int, *, read: float, write: float) -> float:
    """Return what a clearing saves over so many requests, in prices of uncached tokens; negative when it loses."""
    return read * cleared * requests - max(0.0, write - read) * kept
