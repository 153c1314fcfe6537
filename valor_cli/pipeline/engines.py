"""Open the workers of a run: this process, several on this machine, or a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, TypeAlias

from valor_cli.pipeline.executor.executor import ThisProcess, Workers
from valor_cli.pipeline.executor.handover import temporary_folder

Engine: TypeAlias = Literal["local", "dask"]


@contextmanager
def workers(
    jobs: int | None,
    engine: Engine = "local",
    scheduler: str | None = None,
    inputs: Sequence[str] = (),
) -> Iterator[Workers]:
    """This process, several on this machine, or a cluster.

    Args:
        jobs: How many processes; None: one, and for Dask as many as there are cores.
        engine: "local", or "dask" for its scheduler and its workers.
        scheduler: The address of a Dask scheduler; None: processes of this machine.
        inputs: Paths of the run, which workers on other machines must find there.

    Raises:
        ValorError: Processes were ended from outside, again and again.
        ClusterError: A cluster cannot be reached, or has no workers like this process.
        MissingExtraError: Dask is not installed.
    """
    if engine == "dask":
        from valor_cli.pipeline.executor.cluster import dask_workers

        with dask_workers(scheduler, jobs, inputs) as cluster:
            yield cluster
    elif jobs is None or jobs <= 1:
        here = ThisProcess()
        try:
            yield here
        finally:
            here.stop()
    else:
        from valor_cli.pipeline.executor.processes import processes

        with temporary_folder() as folder, processes(jobs, folder) as found:
            yield found
