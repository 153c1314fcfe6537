"""Work in this process and in several: the same results, in order, whatever happens to them."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valor_cli.errors import DataError, Problem, ValorError
from valor_cli.kernels import threads
from valor_cli.pipeline.engines import workers
from valor_cli.pipeline.executor.executor import ThisProcess, Workers
from valor_cli.pipeline.executor.handover import LARGE, parcel
from valor_cli.pipeline.executor.processes import AHEAD, processes


def squared(number: int) -> int:
    return number * number


def counted(number: int) -> tuple[int, np.ndarray[Any, Any]]:
    return number, np.arange(number)


def summed(number: int, *kept: np.ndarray[Any, Any]) -> tuple[int, list[int]]:
    return number, [int(one.sum()) for one in kept]


def same(value: Any) -> Any:
    return value


def one_each(values: Iterable[Any]) -> list[tuple[Any]]:
    """The arguments of calls that take one."""
    return [(value,) for value in values]


def refused(number: int) -> int:
    if number == 2:
        raise DataError(Problem("a.csv:2", "no number"), hint="mend it", total=3)
    return number


def kept_unless_two(number: int) -> tuple[int, int]:
    return refused(number), number


def killed_once(number: int, mark: str) -> int:
    if number == 3 and not os.path.exists(mark):
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def killed(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.fixture(params=[1, 2], ids=["this process", "two processes"])
def pool(request: pytest.FixtureRequest) -> Any:
    with workers(request.param) as found:
        yield found


def test_results_come_in_the_order_of_the_tasks(pool: Workers) -> None:
    many = 5 * AHEAD * pool.count
    assert list(pool.map(squared, one_each(range(many)))) == [
        number * number for number in range(many)
    ]
    assert list(pool.map(squared, [])) == []


def test_what_is_kept_is_there_for_later_work(pool: Workers) -> None:
    told, kept = zip(*pool.keep(counted, one_each([0, 3, 5])), strict=True)
    assert told == (0, 3, 5)
    calls = [(7, kept[1], kept[2]), (8, kept[0]), (9,)]
    # 0 + 1 + 2 = 3; 0 + 1 + 2 + 3 + 4 = 10.
    assert list(pool.map(summed, calls)) == [(7, [3, 10]), (8, [0]), (9, [])]
    for one in kept:
        one.drop()


def test_kept_values_are_read_in_threads_in_order(
    pool: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "_cores", lambda: 4)
    kept = [one for _, one in pool.keep(counted, one_each(range(40)))]
    found = list(pool.map(summed, [(at, one) for at, one in enumerate(kept)]))
    # 0 + 1 + … + (n - 1).
    assert found == [(n, [n * (n - 1) // 2]) for n in range(40)]


def test_an_error_of_a_thread_comes_out_where_its_result_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "_cores", lambda: 4)
    with workers(1) as pool:
        found = iter(pool.keep(kept_unless_two, one_each(range(40))))
        assert [next(found)[0] for _ in range(2)] == [0, 1]
        with pytest.raises(DataError, match="no number"):
            next(found)


def test_what_is_shared_is_there_for_all(pool: Workers) -> None:
    shared = pool.share(np.arange(4))
    assert list(pool.map(summed, [(1, shared), (2, shared, shared)])) == [
        (1, [6]),
        (2, [6, 6]),
    ]


def test_an_error_comes_out_where_its_result_is_asked_for(pool: Workers) -> None:
    found = iter(pool.map(refused, one_each([1, 2, 3])))
    assert next(found) == 1
    with pytest.raises(DataError) as caught:
        next(found)
    error = caught.value
    assert (error.problems[0].place, error.hint, error.total) == ("a.csv:2", "mend it", 3)


def test_a_process_that_is_killed_is_replaced_and_its_work_done_again(tmp_path: Path) -> None:
    tasks = [(number, str(tmp_path / "killed")) for number in range(8)]
    with workers(2) as pool:
        kept = [one for _, one in pool.keep(counted, one_each([2, 3]))]
        assert list(pool.map(killed_once, tasks)) == list(range(8))
        # What others kept before is still there.
        assert list(pool.map(summed, [(1, *kept)])) == [(1, [1, 3])]
    assert (tmp_path / "killed").exists()


def test_work_that_kills_every_process_ends() -> None:
    with (
        pytest.raises(ValorError, match="--jobs 2: processes ended before they were done"),
        workers(2) as pool,
    ):
        list(pool.map(killed, [(1,)]))


def test_parcels_hold_arrays_that_can_be_written_to(tmp_path: Path) -> None:
    value = {"a": np.arange(5.0), "b": ["text", None], "c": np.array(["x", "yz"], object)}
    sent = parcel(value, str(tmp_path))
    first, again = sent.open(), sent.open()
    first["a"][0] = 9
    assert again["a"].tolist() == [0, 1, 2, 3, 4]
    assert (again["b"], again["c"].tolist()) == (["text", None], ["x", "yz"])
    assert sent.size == (tmp_path / os.path.basename(sent.path)).stat().st_size
    sent.drop()
    sent.drop()
    # Mapped, it stays where it is in use.
    assert first["a"].tolist() == [9, 1, 2, 3, 4]


def test_what_was_let_go_is_gone() -> None:
    here = ThisProcess()
    shared = here.share([1])
    shared.drop()
    with pytest.raises(ValueError, match="let go"):
        list(here.map(same, [(shared,)]))


def test_large_arguments_and_results_leave_no_file(tmp_path: Path) -> None:
    large = np.arange(LARGE)
    with processes(2, str(tmp_path)) as pool:
        found = list(pool.map(same, [(large + number,) for number in range(3)]))
        assert not list(tmp_path.iterdir())
    assert all(np.array_equal(one, large + number) for number, one in enumerate(found))


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for jobs in (1, 2):
        with workers(jobs) as pool:
            list(pool.keep(counted, one_each([1, 2])))
            assert list(tmp_path.iterdir())
        assert not list(tmp_path.iterdir())


def test_a_folder_that_takes_no_files(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    with pytest.raises(ValorError, match="cannot be written: No such file") as caught:
        parcel(np.arange(3), gone)
    assert caught.value.problems[0].place == gone
    assert "TMPDIR" in caught.value.hint


def test_a_file_that_grows_beyond_what_there_is(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, before[1]))
    try:
        with pytest.raises(ValorError, match="cannot be written: File too large"):
            parcel(np.zeros(1 << 12), str(tmp_path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
