"""Exponential backoff between retries."""

from __future__ import annotations

import random

FIRST_S = 0.5
LONGEST_S = 30.0

LONGEST_SAID_S = 120.0
"""The longest `Retry-After` that is waited for; a server that means hours is asked again sooner,
and each refusal counts."""


class Backoff:
    """Exponential backoff with jitter, or the delay that the server asked for."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311  # it spreads requests, it keeps no secret

    def wait(self, failed: int, after_s: float | None = None) -> float:
        """Seconds to wait after a number of failed attempts.

        Args:
            failed: From 1; 0 counts as 1.
            after_s: What the server asked for. 0 says nothing: to come back at once is what
                failed just now.
        """
        if after_s is not None and after_s > 0:
            return min(after_s, LONGEST_SAID_S)
        # 2**30 s is far past the longest; more would overflow a float in the end.
        whole = min(LONGEST_S, FIRST_S * 2.0 ** min(max(failed, 1) - 1, 30))
        return self._random.uniform(whole / 4, whole)
