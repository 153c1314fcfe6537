"""Runs that are held against a baseline of another kind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.paired_runs import run, values
from valor_cli.errors import ConfigError
from valor_cli.pipeline.compare.incompatible import baseline_differences
from valor_cli.results import RunResult


def baseline(**rest: Any) -> RunResult:
    return run([values("f1", "m", [0.5, 1.0])], **rest)


def told(settings: dict[str, str], *, held: bool = False, **sizes: int) -> list[str]:
    before = baseline(settings={"matching": "coco", "judge": "a"})
    data = {**before.data, **sizes}
    return baseline_differences(before, before.task, data, settings, held=held)


def test_what_differs_from_the_baseline() -> None:
    same = {"matching": "coco", "judge": "a"}
    assert told(same) == []
    assert told(same, held=True, samples=1) == [
        "--baseline: made from other data (12 samples; here 1 sample)"
    ]
    # Who was asked by one of both has no part in what both have.
    assert told({"matching": "coco"}, held=True) == []
    words = "evaluated in another way (matching: coco, judge: a; here matching: coco, judge: b)"
    other = {"matching": "coco", "judge": "b"}
    assert told(other) == [f"--baseline: {words}"]
    assert baseline_differences(baseline(), "else", {}, {}, held=True) == [
        f"--baseline: a run of another task, {baseline().task}"
    ]


def test_gates_do_not_hold_values_found_in_another_way() -> None:
    with pytest.raises(ConfigError, match="evaluated in another way") as refused:
        told({"matching": "voc", "judge": "a"}, held=True)
    assert "leave max_drop and not_worse out" in str(refused.value)
