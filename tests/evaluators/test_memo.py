"""What is kept is made once; another process gets nothing of it."""

from __future__ import annotations

import pickle

import pytest

from valor_cli.evaluators.memo import Memo


def test_what_is_asked_for_again_is_not_made_again() -> None:
    memo = Memo()
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return len(made)

    assert [memo.once("a", make), memo.once("a", make)] == [1, 1]
    assert memo.once(("a", 2), make) == 2
    assert len(made) == 2


def test_nothing_is_kept_as_well_as_something() -> None:
    memo = Memo()
    made: list[int] = []
    for _ in range(2):
        memo.once("a", lambda: made.append(1))
    assert made == [1]


def test_what_fails_is_not_kept() -> None:
    memo = Memo()

    def fail() -> int:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        memo.once("a", fail)
    assert memo.once("a", lambda: 7) == 7


def test_a_pickled_memo_is_empty() -> None:
    memo = Memo()
    memo.once("a", lambda: 1)
    again: Memo = pickle.loads(pickle.dumps(memo))  # noqa: S301
    assert again.once("a", lambda: 2) == 2
    assert memo.once("a", lambda: 3) == 1
