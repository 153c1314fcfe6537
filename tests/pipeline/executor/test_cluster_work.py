"""What workers of a cluster run, in this process."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.errors import DataError, Problem
from valor_cli.pipeline.executor.cluster_versions import SOURCES, installed
from valor_cli.pipeline.executor.cluster_work import (
    Boxed,
    Failed,
    Setting,
    boxed,
    call,
    summary_of_kept,
)
from valor_cli.pipeline.executor.handover import size_of


@dataclass(frozen=True, slots=True)
class _Columns:
    ids: tuple[str, ...]
    scores: NDArray[np.float64]


class _Record(Struct, frozen=True):
    ids: tuple[str, ...]
    scores: NDArray[np.float64]


def _half(number: int) -> float:
    return number / 2


def _broken(number: int) -> float:
    raise DataError(Problem("a.csv:3", "broken"), hint="mend it", total=7)


def _total(task: int, *kept: Any) -> int:
    return task + int(sum(np.sum(one) for one in kept))


def _column(count: int) -> tuple[str, NDArray[np.int64]]:
    return f"{count} rows", np.arange(count)


def _value(function: Callable[..., Any], *arguments: Any, setting: Setting | None = None) -> Any:
    found = call(setting or Setting(), function, arguments, keeps=False)
    assert isinstance(found, Boxed)
    return found.value


def test_a_result_is_boxed_with_its_size() -> None:
    found = call(Setting(), _half, [3], keeps=False)
    assert isinstance(found, Boxed)
    assert (found.value, found.told) == (1.5, None)
    kept = [boxed(1), boxed(20)]
    assert _value(_total, 300, *kept) == 321


def test_what_is_kept_and_what_is_told_of_it() -> None:
    found = call(Setting(), _column, [1_000], keeps=True)
    assert isinstance(found, Boxed)
    assert found.value.tolist() == list(range(1_000))
    assert sys.getsizeof(found) >= 8_000
    told = summary_of_kept(found)
    assert isinstance(told, Boxed)
    assert told.value == "1000 rows"
    assert told.size < 1_000


def test_an_error_of_the_users_is_a_result() -> None:
    found = call(Setting(), _broken, [1], keeps=False)
    assert isinstance(found, Failed)
    error = pickle.loads(pickle.dumps(summary_of_kept(found))).error  # noqa: S301
    assert isinstance(error, DataError)
    assert (error.total, error.hint) == (7, "mend it")


def test_a_bug_is_none() -> None:
    with pytest.raises(TypeError):
        call(Setting(), _half, ["3"], keeps=False)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (SOURCES, f"has different sources there ({installed()[SOURCES]}) and here (other)"),
        ("numpy", f"numpy is other here, {installed()['numpy']} there"),
    ],
)
def test_a_worker_that_came_later_is_held_to_the_same(name: str, told: str) -> None:
    here = installed()
    assert _value(_half, 3, setting=Setting(installed=here)) == 1.5
    found = call(Setting(installed={**here, name: "other"}), _half, [3], keeps=False)
    assert isinstance(found, Failed)
    assert told in str(found.error)
    assert "a worker that joined later" in str(found.error)


def test_relative_paths_begin_where_the_clients_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "client").mkdir()
    client = Setting(folder=str(tmp_path / "client"))
    assert _value(os.path.abspath, "a.csv", setting=client) == str(tmp_path / "client" / "a.csv")
    # A machine without that folder still serves URLs.
    assert _value(_half, 3, setting=Setting(folder=str(tmp_path / "none"))) == 1.5


@pytest.mark.parametrize(
    ("value", "bytes_"),
    [
        (np.zeros(1_000), 8_000),
        ({"a": [np.zeros(500), np.zeros(500)]}, 8_000),
        (_Columns(("x" * 951,) * 2, np.zeros(1_000)), 10_000),
        (_Record(("x" * 951,) * 2, np.zeros(1_000)), 10_000),
        # An ASCII text takes 49 bytes more than its length, a place in a list 8.
        (["x" * 951] * 10_000, 10_080_000),
        (["x" * 951] * 10, 10_080),
    ],
)
def test_sizes(value: object, bytes_: int) -> None:
    assert size_of(value) == pytest.approx(bytes_, rel=0.06)
