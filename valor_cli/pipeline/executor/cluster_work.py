"""Functions that the workers of a cluster run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from valor_cli.errors import ValorError
from valor_cli.kernels import threads
from valor_cli.pipeline.executor.cluster_versions import check_same_version
from valor_cli.pipeline.executor.handover import Parcel, parcel

LARGE: Final = 1 << 20
"""Bytes from which a value does not travel with its task."""

_LOOKED_AT: Final = 16
"""Elements of a list sampled to estimate the size of all."""

_DEPTH: Final = 8
"""How deep in a value sizes are looked for; deeper lies little."""


class Setting(Struct, frozen=True):
    """Settings that all calls of a run share.

    Attributes:
        folder: Where relative paths begin, as they do for the client; empty: where the worker is.
        installed: What the client has (`installed`); empty: the worker has the same.
        files: A folder of the client's machine, where large values are handed over; empty: the
            workers are on other machines.
    """

    folder: str = ""
    installed: Mapping[str, str] = field(default_factory=dict)
    files: str = ""


class Call(Struct, frozen=True):
    """A function and its arguments.

    Attributes:
        function: Takes a task, or a task and what was kept.
        takes_kept: Whether it is the latter.
        keeps: Whether it gives two things, the second of which stays.
    """

    function: Callable[..., Any]
    takes_kept: bool = False
    keeps: bool = False


class Boxed(Struct, frozen=True, eq=False):
    """A value with its size, which the scheduler uses for placement and spilling.

    Attributes:
        value: The value.
        size: About its bytes.
        told: What is said of the value, for the client.
    """

    value: Any
    size: int
    told: Any = None

    def __sizeof__(self) -> int:
        return self.size


class Failed(Struct, frozen=True):
    """An error that the user can fix.

    It comes back as a result: of errors that are raised, Dask cuts long ones off.
    """

    error: ValorError


def work(setting: Setting, call: Call, task: Any, kept: Sequence[Any]) -> Any:
    """Run a call: its result, boxed or in a file, or its error."""
    try:
        _enter(setting)
        task = opened(task)
        if call.takes_kept:
            found = call.function(task, [opened(one) for one in kept])
        else:
            found = call.function(task)
    except ValorError as error:
        return Failed(error)
    told, left = found if call.keeps else (None, found)
    size = size_of(left)
    if setting.files and (call.keeps or size > LARGE):
        left, size = parcel(left, setting.files), 0
    return Boxed(left, size, told)


def summary_of_kept(found: Boxed | Failed) -> Boxed | Failed:
    """The summary part of a call whose result is kept."""
    return found if isinstance(found, Failed) else Boxed(found.told, size_of(found.told))


def boxed(value: Any) -> Boxed:
    """Box a value for sharing between workers."""
    return Boxed(value, size_of(value))


def opened(value: Any) -> Any:
    """The value in a box or file; any other value unchanged."""
    if isinstance(value, Boxed):
        return value.value
    return value.open() if isinstance(value, Parcel) else value


def _enter(setting: Setting) -> None:
    """Make a worker's process like the client's, as far as results go.

    Raises:
        ValorError: It has other versions.
    """
    check_same_version(setting.installed)
    # Whose the cores are is for Dask to say.
    threads.alone = True
    # Dask's own paths are absolute.
    if setting.folder and os.path.isdir(setting.folder) and os.getcwd() != setting.folder:
        os.chdir(setting.folder)


def size_of(value: Any, depth: int = _DEPTH) -> int:
    """Approximate size of a value in bytes: arrays are counted, long lists estimated."""
    size = getattr(value, "nbytes", None)
    if isinstance(size, int) and not isinstance(value, type):
        return size
    own = sys.getsizeof(value)
    if depth == 0 or isinstance(value, str | bytes | bytearray | int | float | type | None):
        return own
    parts = _parts(value)
    if len(parts) <= _LOOKED_AT:
        return own + sum(size_of(part, depth - 1) for part in parts)
    few = parts[:: len(parts) // _LOOKED_AT]
    return own + sum(size_of(part, depth - 1) for part in few) * len(parts) // len(few)


def _parts(value: Any) -> Sequence[Any]:
    """The parts of a value, by its type."""
    names = getattr(type(value), "__match_args__", None)
    if names is not None:
        return [getattr(value, name) for name in names]
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, tuple | list):
        return value
    if isinstance(value, Collection):
        return list(value)
    return ()
