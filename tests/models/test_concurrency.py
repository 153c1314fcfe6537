"""The limiter, step by step: what takes the limit down, and what takes it up."""

from __future__ import annotations

from valor_cli.models.concurrency import Limiter


def full(limiter: Limiter) -> None:
    while limiter.in_flight < limiter.limit:
        limiter.start()


def succeed(limiter: Limiter, times: int) -> None:
    """So many replies, with all slots in use."""
    for _ in range(times):
        full(limiter)
        limiter.replied()


def refuse(limiter: Limiter, times: int = 1, *, now: float = 0.0, told: bool = False) -> None:
    for _ in range(times):
        full(limiter)
        limiter.refused(now, 1.0, told)


def test_a_single_refusal_changes_nothing() -> None:
    limiter = Limiter(8)
    refuse(limiter)
    succeed(limiter, 8)
    refuse(limiter)
    # Eight replies lie between the two: not within the last 8.
    assert limiter.limit == 8
    assert limiter.paused_until == 0


def test_two_refusals_close_together_take_the_limit_to_what_is_served() -> None:
    limiter = Limiter(8)
    full(limiter)
    for expected in (8, 6, 6, 4):
        # 7 left: a single one. 6 left: the second, the limit is 6. 5: a single one. 4: 4.
        limiter.refused(0.0, 1.0, told=False)
        assert limiter.limit == expected
    assert limiter.in_flight == 4


def test_the_limit_never_falls_below_one() -> None:
    limiter = Limiter(2)
    refuse(limiter, 5)
    assert limiter.limit == 1


def shrunk() -> Limiter:
    """At most 32, and 4 found."""
    limiter = Limiter(32)
    full(limiter)
    for _ in range(28):
        limiter.refused(0.0, 1.0, told=False)
    assert limiter.limit == 4
    return limiter


def test_it_grows_by_one_after_twice_as_many_successes() -> None:
    limiter = shrunk()
    succeed(limiter, 7)
    assert limiter.limit == 4
    succeed(limiter, 1)
    assert limiter.limit == 5
    # Then by 2 × 5, and by 2 × 6.
    succeed(limiter, 9)
    assert limiter.limit == 5
    succeed(limiter, 1)
    assert limiter.limit == 6


def test_successes_while_slots_are_free_are_no_reason_to_grow() -> None:
    limiter = shrunk()
    while limiter.in_flight:
        limiter.replied()
    grown = limiter.limit
    for _ in range(100):
        limiter.start()
        limiter.replied()
    assert limiter.limit == grown == 4


def test_a_level_refused_again_is_tried_half_as_often_up_to_64_times_more_rarely() -> None:
    limiter = shrunk()
    needed = []
    for _ in range(9):
        successes = 0
        while limiter.limit == 4:
            succeed(limiter, 1)
            successes += 1
        needed.append(successes)
        refuse(limiter)
        assert limiter.limit == 4, "one refusal ends a trial"
    # 2 × 4 = 8, doubled after each refusal up to 64 × 8.
    assert needed == [8, 16, 32, 64, 128, 256, 512, 512, 512]


def test_a_level_that_holds_makes_it_grow_at_the_usual_pace_again() -> None:
    limiter = shrunk()
    succeed(limiter, 8)
    refuse(limiter)
    succeed(limiter, 16)
    assert limiter.limit == 5
    # This time 5 holds: 10 successes later it is tried with 6.
    succeed(limiter, 10)
    assert limiter.limit == 6
    refuse(limiter)
    assert limiter.limit == 5
    # 6 was refused for the first time since: 2 × 10 successes.
    succeed(limiter, 19)
    assert limiter.limit == 5
    succeed(limiter, 1)
    assert limiter.limit == 6


def test_after_a_fall_it_climbs_at_the_usual_pace_to_below_what_was_refused() -> None:
    limiter = shrunk()
    for successes in (8, 16):
        succeed(limiter, successes)
        refuse(limiter)
    # 5 was refused twice: it is tried every 4 × 8 successes. Now it falls to 2.
    full(limiter)
    limiter.refused(0.0, 1.0, told=False)
    limiter.refused(0.0, 1.0, told=False)
    assert limiter.limit == 2
    succeed(limiter, 4)
    assert limiter.limit == 3
    succeed(limiter, 6)
    assert limiter.limit == 4
    succeed(limiter, 31)
    assert limiter.limit == 4
    succeed(limiter, 1)
    assert limiter.limit == 5


def test_it_never_grows_past_what_is_configured() -> None:
    limiter = Limiter(3)
    succeed(limiter, 1000)
    assert limiter.limit == 3


def test_refusals_in_vain_pause_all_until_the_longest_wait_is_over() -> None:
    limiter = Limiter(4)
    full(limiter)
    limiter.refused(10.0, 5.0, told=True)
    assert limiter.paused_until == 0
    limiter.refused(10.0, 3.0, told=True)
    assert limiter.paused_until == 13
    limiter.refused(11.0, 7.0, told=True)
    limiter.refused(11.0, 1.0, told=True)
    assert limiter.paused_until == 18
    limiter.resume(13.0)
    assert limiter.paused_until == 18, "it was made longer"
    limiter.resume(18.0)
    assert limiter.paused_until == 0


def test_a_refusal_of_the_only_request_pauses_all() -> None:
    limiter = Limiter(1)
    refuse(limiter, now=10.0)
    assert limiter.paused_until == 11


def test_a_success_ends_a_pause_of_our_own_guess_only() -> None:
    for told in (False, True):
        limiter = Limiter(4)
        full(limiter)
        limiter.refused(10.0, 5.0, told)
        limiter.refused(10.0, 5.0, told)
        limiter.replied()
        assert limiter.paused_until == (15 if told else 0)


def test_a_pause_of_our_own_guess_is_one_also_after_one_that_was_told() -> None:
    limiter = Limiter(8)
    full(limiter)
    limiter.refused(10.0, 5.0, told=True)
    limiter.refused(10.0, 5.0, told=True)
    limiter.refused(16.0, 5.0, told=False)
    assert limiter.paused_until == 21
    limiter.replied()
    assert limiter.paused_until == 0


def test_a_success_between_two_refusals_lets_others_start() -> None:
    limiter = Limiter(4)
    full(limiter)
    limiter.refused(10.0, 5.0, told=True)
    limiter.replied()
    limiter.refused(10.0, 5.0, told=True)
    assert limiter.paused_until == 0


def test_failures_are_replies_that_were_not_refused() -> None:
    limiter = Limiter(4)
    refuse(limiter)
    for _ in range(4):
        full(limiter)
        limiter.failed()
    refuse(limiter)
    assert limiter.limit == 4
