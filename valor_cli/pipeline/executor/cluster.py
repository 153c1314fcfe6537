"""Create pipeline workers on a Dask cluster."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

from valor_cli.extras import extra
from valor_cli.pipeline.executor.cluster_inputs import check_inputs, input_differences, local_sizes
from valor_cli.pipeline.executor.cluster_versions import check_versions, installed
from valor_cli.pipeline.executor.cluster_work import Setting
from valor_cli.pipeline.executor.handover import temporary_folder

if TYPE_CHECKING:
    from distributed import Client

    from valor_cli.pipeline.executor.executor import Workers

ENGINE: Final = "--engine dask"

_LARGE_MESSAGES: Final = {"distributed.admin.large-graph-warning-threshold": "1 TB"}

_LOGGERS: Final = (
    *("distributed", "distributed.client", "distributed.gc"),
    *("tornado", "tornado.application", "tornado.general", "asyncio"),
)
_GONE_S: Final = 0.5
"""Seconds in which a scheduler notices that a worker is gone."""

_SILENT: Final = logging.CRITICAL + 1


@contextmanager
def dask_workers(
    scheduler: str | None,
    jobs: int | None = None,
    inputs: Sequence[str] = (),
    *,
    timeout: float = 10,
    patience: float = 60,
) -> Iterator[Workers]:
    """Workers of an existing cluster, or of one started on this machine.

    Args:
        scheduler: Its address ("tcp://…"); None: processes of this machine.
        jobs: How many of them, if it is they; None: one for each core.
        inputs: Paths of the run; the workers must find the same files there.
        timeout: Seconds in which the scheduler must answer.
        patience: Seconds that the cluster may be without any worker that takes work.

    Raises:
        MissingExtraError: Dask is not installed, or this package not on the cluster.
        ConfigError: The address is none.
        ClusterError: The scheduler does not answer; no worker is left.
        DataError: Workers do not find the inputs.
        ValorError: Versions differ.
    """
    extra("distributed", "dask", ENGINE)
    import dask

    sizes = local_sizes(inputs)
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        stack.enter_context(dask.config.set(_LARGE_MESSAGES))
        if scheduler is None:
            yield stack.enter_context(_here(jobs, patience))
        else:
            yield stack.enter_context(_there(scheduler, sizes, timeout, patience))


@contextmanager
def _here(jobs: int | None, patience: float) -> Iterator[Workers]:
    """Processes of this machine."""
    from dask.system import CPU_COUNT

    from valor_cli.pipeline.executor.cluster_calls import Calls
    from valor_cli.pipeline.executor.cluster_processes import processes
    from valor_cli.pipeline.executor.files import LocalWorkers, Work, worked

    count = jobs or CPU_COUNT
    with temporary_folder() as folder, processes(count, folder, ENGINE, _SILENT) as client:
        calls = Calls(client, Setting(), ENGINE, count, patience, direct=True)

        def results(work: Iterable[Work]) -> Iterator[Any]:
            return (box.value for box in calls.results(lambda one: calls.send(worked, [one]), work))

        yield LocalWorkers(count, folder, results)


@contextmanager
def _there(
    address: str, sizes: Mapping[str, int], timeout: float, patience: float
) -> Iterator[Workers]:
    """A cluster that is there."""
    from valor_cli.pipeline.executor.cluster_calls import Calls
    from valor_cli.pipeline.executor.cluster_client import (
        await_workers,
        connected,
        named,
        within_reach,
    )
    from valor_cli.pipeline.executor.cluster_workers import RemoteWorkers

    with connected(address, timeout) as client:
        await_workers(client, address, patience)
        setting = Setting(os.getcwd(), installed())
        _check(client, setting.folder, sizes)
        at_once = max(sum(client.nthreads().values()), 1)
        direct = within_reach(client)
        yield RemoteWorkers(
            Calls(client, setting, named(address), at_once, patience, direct=direct)
        )


def _check(client: Client, folder: str, sizes: Mapping[str, int]) -> None:
    """Compare what is installed, and look for the inputs.

    Raises:
        ValorError: A node of the cluster cannot give the same numbers.
    """
    nodes: dict[str, Any] = {}
    try:
        nodes["the scheduler"] = client.run_on_scheduler(installed)
    except Exception as error:
        # Missing packages are reported together with those of the workers.
        nodes["the scheduler"] = error
    asked = _of_all_workers(client, installed)
    nodes |= {f"worker {address}": found for address, found in sorted(asked.items())}
    check_versions(nodes)
    if sizes:
        check_inputs(folder, _of_all_workers(client, input_differences, folder, sizes))


def _of_all_workers(client: Client, function: Callable[..., Any], *task: Any) -> dict[str, Any]:
    """By address, what a function gives in each worker, or the exception that the call ended with.

    Workers that go meanwhile are left out: a run can do without them.
    """
    found: dict[str, Any] = client.run(function, *task, on_error="return")
    if any(isinstance(one, OSError) for one in found.values()):
        time.sleep(_GONE_S)
        there = client.nthreads()
        found = {address: one for address, one in found.items() if address in there}
    return found


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's messages from stderr, unless its configuration asks for them."""
    import dask

    if dask.config.get("logging", None) or dask.config.get("distributed.logging", None):
        yield
        return
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(_SILENT)
    try:
        yield
    finally:
        for one, level in zip(loggers, before, strict=True):
            one.setLevel(level)
