"""What workers of a cluster run, have installed and can read."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.errors import DataError, MissingExtraError, Problem, ValorError
from valor_cli.pipeline.executor import cluster, cluster_versions
from valor_cli.pipeline.executor.cluster_inputs import (
    TRIED,
    check_inputs,
    input_differences,
    local_sizes,
)
from valor_cli.pipeline.executor.cluster_versions import PACKAGE, SOURCES, check_versions, installed
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


NEAR, GONE = "tcp://10.0.0.1:5", "tcp://10.0.0.2:5"


class _Client:
    """Two workers, one of which no longer answers."""

    def __init__(self, *there: str) -> None:
        self.there = there

    def run_on_scheduler(self, function: Callable[[], Any]) -> Any:
        return function()

    def run(self, function: Callable[..., Any], *task: Any, on_error: str) -> dict[str, Any]:
        assert on_error == "return"
        return {NEAR: function(*task), GONE: OSError("stream is closed")}

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.there, 1)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_GONE_S", 0)


def test_a_worker_that_goes_is_not_missed() -> None:
    found = cluster._of_all_workers(cast("Any", _Client(NEAR)), installed)
    assert found == {NEAR: installed()}


def test_a_worker_that_stays_and_gives_no_answer() -> None:
    found = cluster._of_all_workers(cast("Any", _Client(NEAR, GONE)), installed)
    assert str(found[GONE]) == "stream is closed"


def test_the_same_files(tmp_path: Path) -> None:
    file, folder = tmp_path / "a.csv", tmp_path / "maps"
    file.write_bytes(b"12345")
    folder.mkdir()
    others = ["s3://bucket/b.csv", "not-there.csv", "-"]
    sizes = local_sizes([str(file), str(folder), *others, str(file)])
    assert sizes == {str(file): 5, str(folder): 0}
    assert input_differences("/", sizes) == []


def test_files_that_are_missing_or_others(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes(b"123")
    found = input_differences(str(tmp_path), {"a.csv": 5, "b.csv": 5, "maps": 0})
    missing = "No such file or directory"
    assert found == [
        ("a.csv", missing),
        ("b.csv", "it has 3 bytes there, 5 here"),
        ("maps", missing),
    ]
    with pytest.raises(DataError) as caught:
        check_inputs("/data", {"tcp://10.0.0.1:5": found, "tcp://10.0.0.2:5": []})
    assert str(caught.value).splitlines()[0] == (
        "a.csv: worker tcp://10.0.0.1:5 cannot read it (from /data): No such file or directory"
    )
    assert "object store" in caught.value.hint


def test_of_many_files_some_are_looked_for(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number:04}.csv" for number in range(TRIED * 3 + 1)]
    for path in paths:
        path.touch()
    sizes = local_sizes(list(map(str, paths)))
    assert len(sizes) <= TRIED
    assert str(paths[0]) in sizes
    # The last quarter is looked at as well.
    assert max(sizes) > str(paths[-len(paths) // 4])


def test_a_worker_that_gives_no_answer() -> None:
    with pytest.raises(DataError, match="cannot be queried: OSError: gone"):
        check_inputs("/", {"tcp://10.0.0.1:5": OSError("gone")})


HERE = installed()
NODE = "worker tcp://10.0.0.1:5"


def _told(*nodes: object) -> list[str]:
    with pytest.raises(ValorError) as caught:
        check_versions({f"{NODE}{number}": found for number, found in enumerate(nodes)})
    assert caught.value.exit_code == 2
    return [str(problem) for problem in caught.value.problems]


def test_the_same_everywhere() -> None:
    check_versions({"the scheduler": HERE, NODE: dict(HERE)})
    assert set(HERE) >= {"python", "numpy", "msgspec", PACKAGE, SOURCES}


def test_every_difference_of_every_node_is_told() -> None:
    other = {**HERE, "numpy": "1.26.4", "python": "3.9"}
    assert _told(HERE, other, {**HERE, PACKAGE: "0.0.9"}) == [
        f"{NODE}1: numpy is {HERE['numpy']} here, 1.26.4 there",
        f"{NODE}1: python is {HERE['python']} here, 3.9 there",
        f"{NODE}2: valor-cli is {HERE[PACKAGE]} here, 0.0.9 there",
    ]


def test_two_checkouts_of_a_version() -> None:
    assert _told({**HERE, SOURCES: "0123456789ab"}) == [
        f"{NODE}0: valor-cli {HERE[PACKAGE]} has different sources there (0123456789ab) and here ("
        + HERE[SOURCES]
        + ")"
    ]


def test_a_package_that_only_some_inputs_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_versions, "installed", lambda: {**HERE, "pyarrow": "20.0"})
    check_versions({NODE: {**HERE, "pyarrow": "none"}})
    with pytest.raises(ValorError, match=r"pyarrow is 20\.0 here, 19\.0 there"):
        check_versions({NODE: {**HERE, "pyarrow": "19.0"}})


@pytest.mark.parametrize(
    "found",
    [
        ModuleNotFoundError("No module named 'valor_cli'", name="valor_cli"),
        Exception("ModuleNotFoundError(\"No module named 'valor_cli'\")"),
    ],
)
def test_a_node_without_the_package(found: Exception) -> None:
    with pytest.raises(MissingExtraError) as caught:
        check_versions({"the scheduler": HERE, NODE: found})
    assert caught.value.problems[0].place == NODE
    assert caught.value.hint == f"pip install 'valor-cli[dask]=={HERE[PACKAGE]}'"


def test_a_node_that_lacks_something_else() -> None:
    (told,) = _told(ModuleNotFoundError("No module named 'numpy'", name="numpy"))
    assert "its installed packages cannot be listed" in told
    assert "No module named 'numpy'" in told
