"""Connect to a Dask scheduler."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from valor_cli.errors import ClusterError, ConfigError, Problem
from valor_cli.models.scheduler.event_loop import run_async

if TYPE_CHECKING:
    from distributed import Client

OPTION: Final = "--scheduler"

_LIKE: Final = (
    "an address looks like tcp://host:8786; tls:// needs certificates in the config of Dask"
)
_START: Final = "start one with `dask scheduler`; without --scheduler, this machine does the work"

_SCHEMES: Final = ("tcp", "tls")
_PORTS: Final = 1 << 16

_REACH_S: Final = 2
"""Seconds in which a worker must answer, or what it has comes by way of the scheduler."""

_CLOSE_S: Final = 5
"""Seconds that a scheduler has to say goodbye."""


def named(address: str) -> str:
    """The name of the cluster in messages."""
    return f"{OPTION} {address}"


@contextmanager
def connected(address: str, timeout: float) -> Iterator[Client]:
    """A client of a scheduler.

    Raises:
        ConfigError: The address is none, or not a scheduler's.
        ClusterError: No scheduler answers in `timeout` seconds.
    """
    from distributed import Client

    if not address.strip():
        raise ConfigError(Problem(OPTION, "expected an address, found an empty text"))
    if "@" in address:
        message = "an address must not contain a name and password; Dask uses certificates (tls://)"
        raise ConfigError(Problem(OPTION, message))
    check_address(address)
    # A client that finds nobody does not close itself.
    found = run_async(_kind(address, timeout))
    if found != "Scheduler":
        message = f"this is the address of a {found.lower()}, not of a scheduler"
        raise ConfigError(Problem(named(address), message), hint=_LIKE)
    try:
        with warnings.catch_warnings():
            # What Dask says of versions is said more narrowly by `check_versions`.
            warnings.simplefilter("ignore")
            client = Client(address, timeout=timeout, set_as_default=False)
    except OSError as error:
        raise ClusterError(Problem(named(address), f"the connection was lost: {error}")) from error
    try:
        yield client
    finally:
        with suppress(TimeoutError, OSError):
            client.close(timeout=_CLOSE_S)


def check_address(address: str) -> None:
    """Reject addresses that Dask would try in vain.

    Raises:
        ConfigError: It is no address, or of a protocol that is not served.
    """
    from distributed.comm.addressing import parse_address, parse_host_port

    try:
        scheme, place = parse_address(address)
        _, port = parse_host_port(place)
    except ValueError as error:
        problem = Problem(named(address), f"invalid address: {error}")
        raise ConfigError(problem, hint=_LIKE) from error
    message = ""
    if scheme not in _SCHEMES:
        message = f"invalid address: expected tcp:// or tls://, found {scheme}://"
    elif not 0 < port < _PORTS:
        message = f"invalid address: there is no port {port}"
    if message:
        raise ConfigError(Problem(named(address), message), hint=_LIKE)


async def _kind(address: str, timeout: float) -> str:
    """What answers at an address: "Scheduler", "Worker", "Nanny"."""
    from distributed import Security, rpc

    try:
        args = Security().get_connection_args("client")
        async with rpc(address, timeout=timeout, connection_args=args) as node:
            found = await asyncio.wait_for(node.identity(), timeout)
            return str(found["type"])
    except (ValueError, TypeError, RuntimeError) as error:
        problem = Problem(named(address), f"invalid address: {error}")
        raise ConfigError(problem, hint=_LIKE) from error
    except TimeoutError as error:
        message = f"no Dask scheduler answered within {timeout:g} s"
        raise ClusterError(Problem(named(address), message), hint=_START) from error
    except (OSError, MemoryError) as error:
        # What is not Dask's may announce a message that no memory can hold.
        message = f"no Dask scheduler answered ({_cause(error)})"
        raise ClusterError(Problem(named(address), message), hint=_START) from error


def _cause(error: BaseException) -> str:
    """What an error began with, which Dask wraps."""
    while isinstance(error.__cause__, OSError):
        error = error.__cause__
    if isinstance(error, MemoryError):
        return "another program answered"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def await_workers(client: Client, address: str, patience: float) -> None:
    """Wait for the first worker, since adaptive clusters start with none.

    Raises:
        ClusterError: None came in `patience` seconds.
    """
    from distributed import wait

    if client.nthreads():
        return
    with client.as_current():
        work = client.submit(os.getpid, pure=False)
        try:
            wait([work], timeout=patience)
        except TimeoutError:
            message = f"the scheduler has no workers, and none joined within {patience:g} s"
            hint = f"start some with `dask worker {address}`"
            raise ClusterError(Problem(named(address), message), hint=hint) from None


def within_reach(client: Client) -> bool:
    """Whether workers can connect to this machine, which makes large results seven times as
    fast.
    """
    from distributed.comm import connect

    async def reach(address: str) -> None:
        comm: Any = await connect(address, timeout=_REACH_S, **client.connection_args)
        await comm.close()

    try:
        client.sync(reach, next(iter(client.nthreads())))
    except Exception:
        # Whatever it is, perhaps something else that answers there: the scheduler is reached.
        return False
    return True
