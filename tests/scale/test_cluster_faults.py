"""Clusters that lose workers, and clusters that cannot be used."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dask
import numpy as np
import pytest

from tests.scale import cluster_tasks as tasks
from tests.scale.clusters import (
    OTHER_SOURCES,
    OTHER_VERSION,
    WITHOUT_PACKAGE,
    Cluster,
    cluster,
    is_running,
    kill,
    until,
)
from valor_cli.errors import (
    ClusterError,
    ConfigError,
    DataError,
    MissingExtraError,
    ValorError,
)
from valor_cli.pipeline.executor.cluster import dask_workers
from valor_cli.pipeline.executor.executor import Workers

pytestmark = pytest.mark.scale


@contextmanager
def _pool(kind: str, folder: Path) -> Iterator[Workers]:
    """Workers: so many processes of this machine, or so many behind an address."""
    count = int(kind[0])
    if kind.endswith("here"):
        with dask_workers(None, count) as found:
            yield found
        return
    with cluster(folder, count) as there, dask_workers(there.address) as found:
        until(lambda: len(set(found.map(tasks.process, tasks.one_each(range(4 * count))))) == count)
        yield found


@pytest.mark.parametrize("kind", ["2 here", "3 there"])
def test_a_worker_killed_in_mid_run_changes_nothing(kind: str, tmp_path: Path) -> None:
    small = np.arange(10)
    work = [(str(tmp_path / str(number == 4)), small + number) for number in range(12)]
    (tmp_path / "False").touch()
    with _pool(kind, tmp_path) as pool:
        # Who takes the fifth first is killed; the sum of 0 to 9 is 45.
        assert list(pool.map(tasks.ended_once, work)) == [45 + 10 * at for at in range(12)]
    assert (tmp_path / "True").exists()


@pytest.mark.parametrize("kind", ["2 here", "3 there"])
def test_what_a_lost_worker_kept_is_there_again(kind: str, tmp_path: Path) -> None:
    with _pool(kind, tmp_path) as pool:
        made = list(pool.keep(tasks.kept, tasks.one_each(range(12))))
        process = made[0][0][1]
        left = [one for _, one in made]
        shared = pool.share(np.full(10, 1))
        work = [(number, *left[number : number + 2], shared) for number in range(11)]
        results = pool.map(tasks.total, work)
        found = [next(results)]
        kill(process)
        until(lambda: not is_running(process))
        found += results
        assert found == [number + 1_000 * (2 * number + 1) + 10 for number in range(11)]
        again = pool.map(tasks.total, [(0, one) for one in left])
        assert list(again) == [1_000 * number for number in range(12)]


@pytest.mark.parametrize("kind", ["2 here", "3 there"])
def test_what_was_sent_to_a_lost_worker_is_sent_again(kind: str, tmp_path: Path) -> None:
    large = np.ones(1_000_000, dtype=np.int64)
    (tmp_path / "False").touch()
    work = [(str(tmp_path / str(number == 2)), large * number) for number in range(6)]
    with _pool(kind, tmp_path) as pool:
        assert list(pool.map(tasks.ended_once, work)) == [1_000_000 * at for at in range(6)]
    assert (tmp_path / "True").exists()


def test_a_task_that_ends_every_worker() -> None:
    # Dask's own limit of three takes three more workers that start anew.
    few = dask.config.set({"distributed.scheduler.allowed-failures": 1})
    with few, dask_workers(None, 2) as pool:
        with pytest.raises(ClusterError, match="ended every worker") as caught:
            list(pool.map(tasks.ended, [(1,)]))
        assert caught.value.exit_code == 3
        assert "memory" in caught.value.hint
        assert list(pool.map(tasks.slept, [(5, 0)])) == [5]


def test_no_worker_is_left(tmp_path: Path) -> None:
    with _impatient(tmp_path, 1) as (_, pool):
        assert list(pool.map(tasks.slept, [(5, 0)])) == [5]
        with pytest.raises(ClusterError, match="no workers for 1 s") as caught:
            list(pool.map(tasks.ended, [(1,)]))
        assert caught.value.exit_code == 3


def test_the_scheduler_goes(tmp_path: Path) -> None:
    with cluster(tmp_path, 1) as there, dask_workers(there.address, timeout=1) as pool:
        results = pool.map(tasks.slept, [(1, 0), (2, 60)])
        assert next(results) == 1
        there.scheduler.kill()
        with pytest.raises(ClusterError, match="connection to the scheduler was lost") as caught:
            next(results)
        assert caught.value.exit_code == 3


def test_nobody_answers() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ClusterError, match="no Dask scheduler answered") as caught:
            _used(address)
        assert caught.value.exit_code == 3
        # Somebody takes the call, and says nothing.
        taken.listen()
        with pytest.raises(ClusterError, match="no Dask scheduler answered within 1 s"):
            _used(address)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("", "expected an address"),
        ("http://127.0.0.1:8786", "expected tcp:// or tls://, found http://"),
        # Dask knows this one, and lets out what its library raises of others that answer.
        ("ws://127.0.0.1:8786", "expected tcp:// or tls://, found ws://"),
        ("tcp://127.0.0.1", "missing port number"),
        ("tcp://127.0.0.1:many", "invalid address"),
        ("tcp://127.0.0.1:99999", "there is no port 99999"),
        ("tls://127.0.0.1:8786", "TLS"),
        ("tcp://me:secret@127.0.0.1:8786", "must not contain a name and password"),
    ],
)
def test_no_address(address: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        _used(address)
    assert caught.value.exit_code == 2
    assert "secret" not in str(caught.value)


def test_a_cluster_that_cannot_be_used(tmp_path: Path) -> None:
    with cluster(tmp_path, 0) as there:
        with pytest.raises(ClusterError, match="no workers, and none joined within 1 s"):
            _used(there.address)
        there.add()
        with dask_workers(there.address) as pool:
            assert list(pool.map(tasks.slept, [(5, 0)])) == [5]
        _refused(there.address, tmp_path)
        other = there.add(OTHER_VERSION)
        told = _told_of(there.address, 2)
        assert "numpy is " in told
        assert " here, 1.26.4 there" in told
        assert "valor-cli is 0.1.0 here, 0.0.9 there" in told
        other.kill()
        other = there.add(OTHER_SOURCES)
        assert "has different sources there (0123456789ab)" in _told_of(there.address, 2)
        other.kill()
        there.add(WITHOUT_PACKAGE)
        told = _told_of(there.address, 2)
        assert "the package valor-cli is not installed on it" in told
        assert "pip install 'valor-cli[dask]==" in told


def _refused(address: str, folder: Path) -> None:
    """Inputs that the worker does not find."""
    (folder / "same.csv").write_text("1")
    # The client's own: of a worker, there is none.
    own = f"/proc/self/task/{os.getpid()}/comm"
    with dask_workers(address, inputs=[str(folder / "same.csv"), "s3://bucket/x.csv"]):
        pass
    with pytest.raises(DataError, match=r"worker tcp://.* cannot read it: No such file") as caught:
        _used(address, own)
    assert caught.value.problems[0].place == own


def test_a_worker_that_comes_later_is_asked_as_well(tmp_path: Path) -> None:
    with cluster(tmp_path, 1) as there, dask_workers(there.address) as pool:
        there.workers[0].kill()
        there.add(OTHER_SOURCES)
        with pytest.raises(ValorError, match=r"joined later: valor-cli .* has different"):
            list(pool.map(tasks.slept, [(1, 0)]))


def test_a_worker_that_comes_later_without_the_package(tmp_path: Path) -> None:
    with _impatient(tmp_path, 3) as (there, pool):
        there.workers[0].kill()
        there.add(WITHOUT_PACKAGE)
        with pytest.raises(ClusterError, match="start workers that have valor-cli"):
            list(pool.map(tasks.slept, [(1, 0)]))


@contextmanager
def _impatient(folder: Path, patience: float) -> Iterator[tuple[Cluster, Workers]]:
    """A worker behind an address, and who waits so many seconds for another once it is there."""
    with cluster(folder, 1) as there:
        with dask_workers(there.address):
            pass
        with dask_workers(there.address, patience=patience) as pool:
            yield there, pool


def _used(address: str, *inputs: str) -> None:
    with dask_workers(address, inputs=inputs, timeout=1, patience=1):
        raise AssertionError("this cluster can be used")


def _told_of(address: str, workers: int) -> str:
    """What is wrong with a cluster, once it has so many workers."""
    found: list[ValorError] = []

    def refused() -> bool:
        try:
            with dask_workers(address):
                return False
        except (MissingExtraError, ValorError) as error:
            found.append(error)
            return True

    until(refused)
    assert found[0].exit_code == 2
    return str(found[0])
