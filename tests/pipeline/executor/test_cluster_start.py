"""A cluster that loses workers while it is asked what it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from valor_cli.pipeline.executor import cluster
from valor_cli.pipeline.executor.cluster_versions import installed

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
