"""What errors cost, kind by kind."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from valor_cli.reports.digests.mistakes import breakdowns, costliest
from valor_cli.results import RunResult

Build = Callable[..., RunResult]


def test_kinds_stand_costliest_first_and_sides_apart(found: Build) -> None:
    (told,) = breakdowns(found())
    # by the larger of both models: 0.121, 0.097, 0.071, 0.043, 0.011, 0.002
    names = [kind.name for kind in told.kinds]
    assert names == [
        "localisation",
        "missed",
        "background",
        "classification",
        "both",
        "duplicate",
    ]
    assert [(share.cost, share.count) for share in told.kinds[0].shares] == [
        (0.121, 2420),
        (0.064, 1280),
    ]
    assert [kind.name for kind in told.sides] == ["all false positives", "all false negatives"]
    assert told.sides[0].shares[0].count is None


def test_the_costliest_differs_by_model(found: Build) -> None:
    (told,) = breakdowns(found())
    names = [kind.name for model in (0, 1) if (kind := costliest(told, model))]
    assert names == ["localisation", "background"]


def test_nothing_lost_is_no_costliest_kind(found: Build) -> None:
    run = found(("m",))
    rows = [replace(row, value=None, undefined="no labels") for row in run.metrics]
    (told,) = breakdowns(replace(run, metrics=rows))
    assert costliest(told, 0) is None
    assert told.kinds[0].shares[0].undefined == "no labels"


def test_a_cost_that_reads_as_nothing_is_none_either(found: Build) -> None:
    run = found(("m",))
    rows = [replace(row, value=4.7e-05) for row in run.metrics]
    (told,) = breakdowns(replace(run, metrics=rows))
    assert costliest(told, 0) is None


def test_settings_have_a_breakdown_each_and_slices_none(found: Build) -> None:
    run = found(("m",))
    errors = [row for row in run.metrics if row.metric == "error_breakdown"]
    strict = [replace(row, parameters={**row.parameters, "iou_threshold": 0.75}) for row in errors]
    night = [replace(row, slice="night", parameters={"other": 1}) for row in errors]
    told = breakdowns(replace(run, metrics=(*errors, *strict, *night)))
    assert [one.detail for one in told] == ["iou_threshold=0.5", "iou_threshold=0.75"]
