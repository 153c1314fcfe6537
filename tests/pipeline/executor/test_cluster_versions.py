"""What is installed on the nodes of a cluster, held against what is here."""

from __future__ import annotations

import pytest

from valor_cli.errors import MissingExtraError, ValorError
from valor_cli.pipeline.executor import cluster_versions
from valor_cli.pipeline.executor.cluster_versions import PACKAGE, SOURCES, check_versions, installed

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
