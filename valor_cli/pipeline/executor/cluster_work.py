"""Functions that the workers of a cluster run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from valor_cli.errors import ValorError
from valor_cli.kernels import threads
from valor_cli.pipeline.executor.cluster_versions import check_same_version
from valor_cli.pipeline.executor.handover import size_of


class Setting(Struct, frozen=True):
    """Settings that all calls of a run share.

    Attributes:
        folder: Where relative paths begin, as they do for the client; empty: where the worker is.
        installed: What the client has (`installed`); empty: the worker has the same.
    """

    folder: str = ""
    installed: Mapping[str, str] = field(default_factory=dict)


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


def call(
    setting: Setting, function: Callable[..., Any], arguments: Sequence[Any], keeps: bool
) -> Boxed | Failed:
    """Call a function: its result in a box, or its error.

    Args:
        setting: Of the run.
        function: What to call.
        arguments: On what; of those in boxes, on what these hold.
        keeps: Whether the second of two results is boxed, and the first told of it.
    """
    try:
        _enter(setting)
        found = function(*map(_unboxed, arguments))
    except ValorError as error:
        return Failed(error)
    told, left = found if keeps else (None, found)
    return Boxed(left, size_of(left), told)


def summary_of_kept(found: Boxed | Failed) -> Boxed | Failed:
    """The summary part of a call whose result is kept."""
    return found if isinstance(found, Failed) else Boxed(found.told, size_of(found.told))


def boxed(value: Any) -> Boxed:
    """Box a value for sharing between workers."""
    return Boxed(value, size_of(value))


def _unboxed(value: Any) -> Any:
    return value.value if isinstance(value, Boxed) else value


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
