"""What failures of a judge say about it."""

from __future__ import annotations

from valor_cli.models.scheduler.breaker import Breaker


def replied(open_: int = 20) -> Breaker:
    """One that was answered, with so many requests begun."""
    breaker = Breaker()
    breaker.answered(sent=0)
    for _ in range(open_):
        breaker.begin()
    return breaker


def fail(breaker: Breaker, now: float, *tickets: int, limit: int = 8) -> list[bool]:
    """These requests fail; of each, whether the outage is to blame."""
    return [breaker.failed(now, ticket, limit, refused=False) for ticket in tickets]


def test_a_judge_that_never_replied_is_given_up_after_five_requests() -> None:
    breaker = Breaker()
    assert [breaker.exhausted(0, 1, alone=False) for _ in range(5)] == [False] * 4 + [True]


def test_where_nothing_else_is_asked_fewer_do_if_they_tried_often_enough() -> None:
    assert Breaker().exhausted(0, 6, alone=True)
    assert not Breaker().exhausted(0, 4, alone=True)
    assert not Breaker().exhausted(0, 6, alone=False)


def test_after_a_reply_it_takes_25_in_a_row_and_two_minutes() -> None:
    breaker = replied(0)
    fail(breaker, 10, 1)
    assert not any(breaker.exhausted(129.9, 6, alone=True) for _ in range(30))
    assert breaker.exhausted(130, 6, alone=False)
    breaker.answered(sent=130)
    fail(breaker, 200, 1)
    assert not any(breaker.exhausted(1000, 6, alone=False) for _ in range(24))
    assert breaker.exhausted(1000, 6, alone=False)


def test_after_a_failure_no_more_than_five_begin_until_the_first_reply() -> None:
    breaker = Breaker()
    for _ in range(8):
        assert breaker.may_begin(32)
        breaker.begin()
    fail(breaker, 0, 1)
    assert not breaker.may_begin(32)
    for _ in range(4):
        breaker.end()
    # Four are left of eight.
    assert breaker.may_begin(32)
    breaker.begin()
    assert not breaker.may_begin(32)
    breaker.answered(sent=0)
    assert breaker.may_begin(32)


def test_a_judge_that_replied_may_fail_as_often_in_a_row_as_requests_are_under_way() -> None:
    breaker = replied(8)
    for _ in range(7):
        fail(breaker, 0, 1)
        assert breaker.may_begin(8)
    fail(breaker, 0, 1)
    assert not breaker.may_begin(8)


def test_when_as_many_fail_as_may_be_under_way_it_is_no_fault_of_theirs() -> None:
    breaker = replied()
    # The same ones again say nothing new.
    assert not any(fail(breaker, 1, *range(7), *range(7)))
    assert breaker.held_until == 0
    assert fail(breaker, 2, 7, 0) == [True, True]
    assert breaker.held_until == 2.5


def test_one_by_one_it_is_tried_again_more_and_more_rarely() -> None:
    breaker = replied()
    fail(breaker, 0, *range(8))
    now, waits = breaker.held_until, []
    for _ in range(6):
        breaker.sent(now)
        waits.append(breaker.held_until - now)
        now = breaker.held_until
    assert waits == [1, 2, 4, 5, 5, 5]


def test_the_first_reply_ends_an_outage_but_none_that_was_under_way_before() -> None:
    breaker = replied()
    fail(breaker, 10, *range(8))
    breaker.answered(sent=9)
    assert breaker.held_until == 10.5
    assert fail(breaker, 11, 1) == [True]
    breaker.answered(sent=10.5)
    assert breaker.held_until == 0
    assert fail(breaker, 12, *range(7)) == [False] * 7


def test_refusals_are_forgotten_at_any_reply() -> None:
    # At first a server refuses all that are too many for it; it is well.
    breaker = replied()
    for ticket in range(7):
        breaker.failed(1, ticket, 8, refused=True)
    breaker.answered(sent=0)
    assert fail(breaker, 2, 7) == [False]


def test_where_few_are_left_all_of_them_and_no_fewer_than_five() -> None:
    breaker = replied(open_=6)
    assert fail(breaker, 1, *range(6)) == [False] * 5 + [True]
    assert fail(replied(open_=4), 1, *range(4)) == [False] * 4


def test_a_judge_that_never_replied_has_no_outage() -> None:
    breaker = Breaker()
    assert not any(fail(breaker, 1, *range(30)))


def test_after_two_minutes_of_an_outage_tries_count_again() -> None:
    breaker = replied(open_=5)
    assert fail(breaker, 10, *range(5)) == [False] * 4 + [True]
    assert not breaker.may_begin(5)
    assert fail(breaker, 129, 1) == [True]
    assert fail(breaker, 130, 1) == [False]
    assert breaker.held_until == 0
    # As many may find out as it takes to give it up.
    assert breaker.may_begin(5)
    breaker.sent(131)
    assert breaker.held_until == 0
