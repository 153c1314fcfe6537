"""A plugin of pytest that records which lines of the package each test runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

FOLDER = Path(os.environ["MUTANTS_RECORD"])
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "alone")
SECONDS: dict[str, float] = {}
FAILED: set[str] = set()

recorder = coverage.Coverage(
    data_file=FOLDER / f"{WORKER}.coverage", source=["valor_cli"], messages=False
)


def pytest_collection_finish() -> None:
    """Record what tests run, not what imports do."""
    recorder.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Record under the test's name."""
    recorder.switch_context(item.nodeid)
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep how long each test takes, and which do not pass."""
    SECONDS[report.nodeid] = SECONDS.get(report.nodeid, 0.0) + report.duration
    if not report.passed:
        FAILED.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write the record of this process."""
    if recorder._started:
        recorder.stop()
        recorder.save()
        passed = {name: each for name, each in SECONDS.items() if name not in FAILED}
        (FOLDER / f"{WORKER}.json").write_text(json.dumps(passed), encoding="utf-8")
