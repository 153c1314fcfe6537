"""Start and stop a Dask cluster of processes on this machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Final

from valor_cli.errors import ClusterError, Problem
from valor_cli.pipeline.executor.processes import ends_deferred

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

_SETTINGS: Final[dict[str, object]] = {
    # Dask's own list also lets the C library give memory back at once, whatever is freed: arrays
    # are then made of fresh pages over and over, and CSV is read in five times the time.
    "distributed.nanny.pre-spawn-environ": {
        "OMP_NUM_THREADS": 1,
        "MKL_NUM_THREADS": 1,
        "OPENBLAS_NUM_THREADS": 1,
    },
    # Statistics of what Python is at a hundred times a second: nobody looks at them.
    "distributed.worker.profile.enabled": False,
    "distributed.diagnostics.nvml": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
_ANY_PORT: Final = "127.0.0.1:0"

_CLOSE_S: Final = 5
"""Seconds that the rest has to end once the workers have."""


@contextmanager
def processes(count: int, folder: str, place: str, silence: int) -> Iterator[Client]:
    """A client of processes that only this machine can reach.

    Args:
        count: How many.
        folder: Where they write what memory cannot hold.
        place: What messages say of them.
        silence: The level of logging up to which they say nothing.

    Raises:
        ClusterError: They did not start.
    """
    import dask
    from distributed import Client, LocalCluster
    from distributed.gc import disable_gc_diagnosis

    cluster: LocalCluster | None = None
    before = dict(os.environ)
    with dask.config.set({**_SETTINGS, "temporary-directory": folder}):
        try:
            with ends_deferred(), _interrupts_held():
                cluster = LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address=None,
                    worker_dashboard_address=_ANY_PORT,
                    scheduler_kwargs={"dashboard": False, "dashboard_address": _ANY_PORT},
                    local_directory=folder,
                    silence_logs=silence,
                )
            # The scheduler times the garbage collector, in callbacks of it: an interrupt that
            # comes in one of these is lost.
            disable_gc_diagnosis(force=True)
            with Client(cluster, set_as_default=False) as client:
                yield client
        except RuntimeError as error:
            if cluster is not None:
                raise
            problem = Problem(place, f"{count} processes did not start: {error}")
            raise ClusterError(problem, hint="try fewer jobs") from error
        finally:
            if cluster is not None:
                _end(cluster)
            # Dask sets variables that processes begin with, and leaves them.
            for name in os.environ.keys() - before.keys():
                del os.environ[name]
            os.environ.update(before)


def _end(cluster: LocalCluster) -> None:
    """End the processes, whatever they are at: what they have is needed no more."""
    for nanny in cluster.workers.values():
        nanny.close_gracefully()
        if nanny.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(nanny.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    with suppress(TimeoutError):
        cluster.close(timeout=_CLOSE_S)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let what is started inside not see Ctrl-C, which reaches every process of a terminal.

    Threads begin with the mask of the thread that starts them, and processes with a thread's; so
    do those that replace a lost one.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Python's keeper of semaphores, once started, lets interrupts through in the thread it is
    # started from: better in this one, before.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
