"""Work given to Dask clusters: of processes here, and one with an address."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.scale import cluster_tasks as tasks
from tests.scale.clusters import ROOT, cluster, is_running, until
from valor_cli.errors import DataError
from valor_cli.pipeline.executor.cluster import dask_workers
from valor_cli.pipeline.executor.executor import Workers

pytestmark = pytest.mark.scale

MANY = 100


@pytest.fixture(scope="module", params=["2 processes", "address"])
def pool(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workers]:
    if request.param != "address":
        with dask_workers(None, int(request.param[0])) as found:
            yield found
        return
    folder = tmp_path_factory.mktemp("cluster")
    with cluster(folder, 2) as there, dask_workers(there.address) as found:
        until(lambda: len(set(found.map(tasks.process, tasks.one_each(range(8))))) == 2)
        yield found


def test_results_come_in_the_order_of_the_tasks(pool: Workers) -> None:
    work = [(number, 0.02 * (number % 3 == 0)) for number in range(MANY)]
    assert list(pool.map(tasks.slept, work)) == list(range(MANY))
    assert list(pool.map(tasks.slept, [])) == []


def test_all_workers_work(pool: Workers) -> None:
    assert len(set(pool.map(tasks.process, tasks.one_each(range(24))))) >= 2
    assert os.getpid() not in set(pool.map(tasks.process, tasks.one_each(range(4))))


def test_few_tasks_are_under_way(pool: Workers, tmp_path: Path) -> None:
    paths = [str(tmp_path / str(number)) for number in range(MANY)]
    results = pool.map(tasks.touched, tasks.one_each(paths))
    assert next(results) == paths[0]
    time.sleep(0.5)
    assert len(list(tmp_path.iterdir())) < 20
    assert list(results) == paths[1:]


def test_what_is_kept_is_worked_on(pool: Workers) -> None:
    made = list(pool.keep(tasks.kept, tasks.one_each(range(12))))
    assert [told[0] for told, _ in made] == list(range(12))
    left = [one for _, one in made]
    # 1,000 times the number of each: of 0 and 1; 1 and 2; …
    work = [(number, *left[number : number + 2]) for number in range(11)]
    expected = [number + 1_000 * (2 * number + 1) for number in range(11)]
    assert list(pool.map(tasks.total, work)) == expected
    for one in left:
        one.drop()


def test_what_is_shared_is_worked_on(pool: Workers) -> None:
    small, large = pool.share(np.arange(3)), pool.share(np.ones(1_000_000, dtype=np.int64))
    work = [(number, small, large) for number in range(5)]
    assert list(pool.map(tasks.total, work)) == [1_000_003 + number for number in range(5)]
    small.drop()
    large.drop()


def test_large_tasks_and_results(pool: Workers) -> None:
    columns = [np.full(1_000_000, number) for number in range(3)]
    for number, found in enumerate(pool.map(tasks.doubled, tasks.one_each(columns))):
        assert np.array_equal(found, columns[number] * 2)


def test_an_error_comes_whole_and_the_first_of_them(pool: Workers) -> None:
    results = pool.map(tasks.broken_at_three, tasks.one_each(range(8)))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(DataError) as caught:
        next(results)
    # The third is the last to be done, and still the one that is told.
    assert caught.value.problems[0].place == "task 3"
    assert caught.value.problems[1:] == tuple(tasks.LONG)
    assert (caught.value.total, caught.value.hint) == (99, "mend it")
    assert list(pool.map(tasks.slept, [(1, 0)])) == [1]


def test_a_bug_keeps_its_type(pool: Workers) -> None:
    results = pool.map(tasks.one_by, tasks.one_each([1, 0]))
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_relative_paths_are_the_clients(pool: Workers) -> None:
    assert list(pool.map(os.path.abspath, [("here",)])) == [os.path.abspath("here")]


def test_nothing_is_left_and_only_this_machine_can_connect() -> None:
    before = dict(os.environ)
    with dask_workers(None, 2) as pool:
        processes = set(pool.map(tasks.process, tasks.one_each(range(16))))
        ports = [
            port
            for process in (os.getpid(), *processes)
            for port in psutil.Process(process).net_connections()
            if port.status == psutil.CONN_LISTEN
        ]
        assert ports
        assert {port.laddr.ip for port in ports} == {"127.0.0.1"}
    until(lambda: not any(map(is_running, processes)))
    assert dict(os.environ) == before


def test_no_interrupt_is_lost_in_a_callback_of_the_garbage_collector() -> None:
    with dask_workers(None, 1) as pool:
        assert list(pool.map(abs, [(-1,)])) == [1]
        modules = {getattr(one, "__module__", "") for one in gc.callbacks}
        assert not any(name.startswith("distributed") for name in modules)


SCRIPT = """
import signal, sys
from valor_cli.pipeline.executor.cluster import dask_workers
from tests.scale.cluster_tasks import one_each, process, slept
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))
if __name__ == "__main__":
    try:
        with dask_workers(None, 2) as pool:
            print(*set(pool.map(process, one_each(range(16)))), flush=True)
            print(list(pool.map(slept, [(number, float(sys.argv[1])) for number in range(2)])))
    except KeyboardInterrupt:
        sys.exit(130)
"""


def _script(folder: Path, seconds: float) -> subprocess.Popen[str]:
    (folder / "script.py").write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, folder / "script.py", str(seconds)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_a_cluster_says_nothing(tmp_path: Path) -> None:
    out, err = _script(tmp_path, 0).communicate(timeout=60)
    assert out.splitlines()[1:] == ["[0, 1]"]
    assert err == ""
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_a_stopped_run_leaves_no_process(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    running = _script(tmp_path, 600)
    assert running.stdout is not None
    processes = [int(word) for word in running.stdout.readline().split()]
    assert len(processes) == 2
    # Ctrl-C reaches all processes of a terminal, `kill` one.
    if sent == signal.SIGINT:
        os.killpg(running.pid, sent)
    else:
        os.kill(running.pid, sent)
    _, err = running.communicate(timeout=60)
    assert running.returncode == code
    # Of a process that is killed, Python's own keeper of semaphores says what it cleans up.
    assert err == "" or sent == signal.SIGKILL
    until(lambda: not any(map(is_running, processes)))


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_stopped_while_its_cluster_starts(
    tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    running = _script(tmp_path, 600)
    processes: list[int] = []

    def begun() -> bool:
        # Python's keeper of semaphores is the first of three.
        found = psutil.Process(running.pid).children()
        processes[:] = [one.pid for one in found]
        return len(found) >= 2

    until(begun)
    if sent == signal.SIGINT:
        os.killpg(running.pid, sent)
    else:
        os.kill(running.pid, sent)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (code, "")
    until(lambda: not any(map(is_running, processes)))
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]
