"""Work in threads: the results of one thread, in its order."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from valor_cli.kernels import threads
from valor_cli.kernels.threads import in_order, in_threads, share, usable_threads

COUNTS = [1, 2, 3, 8]


def begun_since(before: set[threading.Thread]) -> set[threading.Thread]:
    """The threads that are there now and were not: other tests may have left some."""
    return set(threading.enumerate()) - before


@pytest.mark.parametrize("count", COUNTS)
def test_results_come_in_the_order_of_the_pieces(count: int) -> None:
    def slow_first(piece: int) -> int:
        time.sleep(0.002 if piece % 5 == 0 else 0)
        return piece * piece

    assert list(in_order(slow_first, range(40), count)) == [n * n for n in range(40)]


@pytest.mark.parametrize("count", COUNTS)
def test_an_error_comes_in_its_turn(count: int) -> None:
    before = set(threading.enumerate())

    def fails_at_three(piece: int) -> int:
        if piece == 3:
            raise OSError("three")
        return piece

    results = in_order(fails_at_three, range(100), count)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(OSError, match="three"):
        next(results)
    assert not begun_since(before)


@pytest.mark.parametrize("count", COUNTS)
def test_an_error_of_the_pieces_leaves_no_thread(count: int) -> None:
    before = set(threading.enumerate())

    def pieces() -> Iterator[int]:
        yield from range(10)
        raise ValueError("pieces")

    with pytest.raises(ValueError, match="pieces"):
        list(in_order(str, pieces(), count))
    assert not begun_since(before)


@pytest.mark.parametrize("count", COUNTS)
def test_whoever_stops_early_leaves_no_thread(count: int) -> None:
    before = set(threading.enumerate())
    results = in_order(str, iter(range(1000)), count)
    assert next(results) == "0"
    results.close()
    assert not begun_since(before)


def test_pieces_are_fetched_a_little_ahead() -> None:
    fetched = []

    def pieces() -> Iterator[int]:
        for number in range(100):
            fetched.append(number)
            yield number

    results = in_order(str, pieces(), 3)
    next(results)
    assert len(fetched) <= 6
    results.close()


def test_one_of_several_processes_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= usable_threads() <= threads.MOST
    monkeypatch.setattr(threads, "alone", True)
    assert usable_threads() == 1


@pytest.mark.parametrize(
    ("rows", "least", "even", "sizes"),
    [
        (0, 1, 1, []),
        (5, 1, 1, [2, 2, 1]),
        (3, 1, 1, [1, 1, 1]),
        (48, 1, 8, [16, 16, 16]),
        (20, 1, 8, [8, 8, 4]),
        (20, 12, 8, [16, 4]),
        (20, 1000, 1, [20]),
    ],
)
def test_rows_are_shared(
    monkeypatch: pytest.MonkeyPatch, rows: int, least: int, even: int, sizes: list[int]
) -> None:
    monkeypatch.setattr(threads, "usable_threads", lambda: 3)
    done: list[tuple[int, int]] = []
    share(lambda some: done.append((some.start, some.stop)), rows, least, even)
    done.sort()
    assert [stop - start for start, stop in done] == sizes
    assert [number for one in done for number in range(*one)] == list(range(rows))


def test_a_thread_that_works_for_another_starts_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_cores", lambda: 4)
    assert usable_threads() == 4
    assert list(in_threads(lambda _: usable_threads(), range(8))) == [1] * 8
    assert usable_threads() == 4
