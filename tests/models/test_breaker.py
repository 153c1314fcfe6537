"""What failures of a judge say about it."""

from __future__ import annotations

from valor_cli.models.breaker import Breaker


def test_a_judge_that_never_replied_is_given_up_after_five_requests() -> None:
    breaker = Breaker()
    assert [breaker.exhausted(0, 1, alone=False) for _ in range(5)] == [False] * 4 + [True]


def test_where_nothing_else_is_asked_fewer_do_if_they_tried_often_enough() -> None:
    assert Breaker().exhausted(0, 6, alone=True)
    assert not Breaker().exhausted(0, 4, alone=True)
    assert not Breaker().exhausted(0, 6, alone=False)


def test_after_a_reply_it_takes_25_in_a_row_and_two_minutes() -> None:
    breaker = Breaker()
    breaker.answered()
    breaker.failed(now=10)
    assert not any(breaker.exhausted(129.9, 6, alone=True) for _ in range(30))
    assert breaker.exhausted(130, 6, alone=False)
    breaker.answered()
    breaker.failed(now=200)
    assert not any(breaker.exhausted(1000, 6, alone=False) for _ in range(24))
    assert breaker.exhausted(1000, 6, alone=False)


def test_after_a_failure_no_more_than_five_begin_until_the_first_reply() -> None:
    breaker = Breaker()
    for _ in range(8):
        assert breaker.may_begin(32)
        breaker.begin()
    breaker.failed(0)
    assert not breaker.may_begin(32)
    for _ in range(4):
        breaker.end()
    # Four are left of eight.
    assert breaker.may_begin(32)
    breaker.begin()
    assert not breaker.may_begin(32)
    breaker.answered()
    assert breaker.may_begin(32)


def test_a_judge_that_replied_may_fail_as_often_in_a_row_as_requests_are_under_way() -> None:
    breaker = Breaker()
    breaker.answered()
    for _ in range(8):
        breaker.begin()
    for _ in range(7):
        breaker.failed(0)
        assert breaker.may_begin(8)
    breaker.failed(0)
    assert not breaker.may_begin(8)


def test_in_order_one_is_open_at_a_time() -> None:
    breaker = Breaker(most_open=1)
    breaker.begin()
    assert not breaker.may_begin(1)
    breaker.end()
    assert breaker.may_begin(1)
