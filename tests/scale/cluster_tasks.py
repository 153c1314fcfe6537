"""What the tests of clusters let workers do."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import DataError, Problem

LONG = [Problem(f"input.jsonl:{line}", "x" * 1_000) for line in range(30)]
"""What Dask would cut off."""


def one_each(values: Iterable[Any]) -> list[tuple[Any]]:
    """The arguments of calls that take one."""
    return [(value,) for value in values]


def slept(number: int, seconds: float) -> int:
    time.sleep(seconds)
    return number


def process(_: object) -> int:
    time.sleep(0.05)
    return os.getpid()


def touched(path: str) -> str:
    Path(path).touch()
    return path


def kept(number: int) -> tuple[tuple[int, int], NDArray[np.int64]]:
    """Who made it, and a column of it."""
    time.sleep(0.05)
    return (number, os.getpid()), np.full(1_000, number)


def total(task: int, *columns: NDArray[np.int64]) -> int:
    time.sleep(0.05)
    return task + int(sum(column.sum() for column in columns))


def doubled(column: NDArray[np.int64]) -> NDArray[np.int64]:
    return column * 2


def broken_at_three(number: int) -> int:
    if number >= 3:
        time.sleep(0.2 * (number == 3))
        raise DataError([Problem(f"task {number}", "broken"), *LONG], hint="mend it", total=99)
    return number


def one_by(number: int) -> float:
    return 1 / number


def ended_once(path: str, column: NDArray[np.int64]) -> int:
    """The sum of a column; the first that comes here kills its process."""
    try:
        Path(path).touch(exist_ok=False)
    except FileExistsError:
        return int(column.sum())
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("killed")


def ended(_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
