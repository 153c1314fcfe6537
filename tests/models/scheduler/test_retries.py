"""Waits between tries: bounds, jitter, and what servers ask for."""

from __future__ import annotations

import pytest

from valor_cli.models.scheduler.retries import Backoff


@pytest.mark.parametrize(
    ("failed", "longest"),
    # 0.5 doubles: 0.5, 1, 2, 4, 8, 16, then 30 instead of 32, and so for ever.
    [(0, 0.5), (1, 0.5), (2, 1), (3, 2), (4, 4), (5, 8), (6, 16), (7, 30), (8, 30), (5000, 30)],
)
def test_waits_double_up_to_a_half_minute_and_are_spread(failed: int, longest: float) -> None:
    backoff = Backoff(seed=1)
    waits = [backoff.wait(failed) for _ in range(200)]
    assert longest / 4 <= min(waits) < 0.3 * longest
    assert 0.95 * longest < max(waits) <= longest


def test_the_same_seed_gives_the_same_waits() -> None:
    one, same, other = Backoff(3), Backoff(3), Backoff(4)
    waits = [one.wait(2) for _ in range(5)]
    assert waits == [same.wait(2) for _ in range(5)]
    assert waits != [other.wait(2) for _ in range(5)]


def test_what_the_server_asks_for_is_kept_up_to_two_minutes() -> None:
    backoff = Backoff()
    assert backoff.wait(5, 0.25) == 0.25
    assert backoff.wait(1, 90.0) == 90.0
    assert backoff.wait(1, 3600.0) == 120.0


def test_to_come_back_at_once_or_before_is_not_taken_at_its_word() -> None:
    assert Backoff().wait(1, 0.0) >= 0.125
    assert Backoff().wait(1, -5.0) >= 0.125
