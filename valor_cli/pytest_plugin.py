"""Fixture `valor_run` for pytest: a run in a test, and its gates as the test's verdict."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from valor_cli.results import RunResult


class TestedRun:
    """A result, with all that it has, whose gates a test can assert."""

    __test__ = False

    def __init__(self, result: RunResult) -> None:
        self.result = result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.result, name)

    def assert_passed(self) -> None:
        """Fail the test unless there are gates, and every one was checked and passed.

        Raises:
            AssertionError: With the summary of the run.
        """
        __tracebackhide__ = True
        if self.result.verdict == "passed":
            return
        from valor_cli.api import summary

        gates = self.result.gates
        reason = f"the run is {self.result.verdict}" if gates else "the config has no gates"
        raise AssertionError(f"{reason}\n\n{summary(self.result)}")


@pytest.fixture
def valor_run(request: pytest.FixtureRequest) -> Callable[..., TestedRun]:
    """Evaluate a config in a test: `valor_run("config.yaml", gates=["accuracy >= 0.9"])`.

    The path is relative to the test's file. Keyword arguments override keys of the config, as
    `--set` does: `**{"data.predictions": "new.csv"}`.
    """

    def run(config: str | os.PathLike[str] | Mapping[str, Any], **overrides: Any) -> TestedRun:
        from valor_cli import evaluate

        if not isinstance(config, Mapping):
            config = request.path.parent / config
        return TestedRun(evaluate(config, overrides=overrides))

    return run
