"""What several reports show: headline, best marks, gates, labels, slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from valor_cli.reports.digests.digest import digest, ranking, worst_first
from valor_cli.reports.digests.grids import few_of
from valor_cli.results import Direction, IntervalsResult, MetricResult, RunResult

Build = Callable[..., RunResult]


def _run(build: Build, values: Sequence[float | None], direction: Direction) -> RunResult:
    models = tuple("abcdef"[: len(values)])
    row = build(models, ()).metrics[0]
    rows = [
        replace(row, model=model, value=value, direction=direction)
        for model, value in zip(models, values, strict=True)
    ]
    return replace(build(models, (), slices=False), metrics=tuple(rows))


@pytest.mark.parametrize(
    ("values", "direction", "best"),
    [
        ((0.3, 0.5), "higher", [False, True]),
        ((0.3, 0.5), "lower", [True, False]),
        ((0.3, 0.5), None, [False, False]),
        ((0.5, 0.5), "higher", [True, True]),
        ((0.5, 0.1, 0.5), "higher", [True, False, True]),
        ((None, 0.1, 0.0), "lower", [False, False, True]),
        ((None, 0.1), "higher", [False, False]),
        ((0.5,), "higher", [False]),
    ],
)
def test_best_follows_the_direction(
    build: Build, values: Sequence[float | None], direction: Direction, best: list[bool]
) -> None:
    cells = digest(_run(build, values, direction)).headline.lines[0].cells[0]
    assert [cell.best for cell in cells] == best


def test_headline_is_primary_in_its_order(two_models: RunResult) -> None:
    run = replace(two_models, primary=(("coco", "AP75"), ("nothing", "value"), ("coco", "AP")))
    names = [m.name for m in digest(run).headline.measures]
    assert names[:2] == ["AP", "AP75"]
    # What is not primary follows, once each; both in the order of the results.
    assert names[2:4] == ["AP50", "APsmall"]
    assert len(set(names)) == len(names)


def test_without_primary_values_whatever_is_overall_leads(two_models: RunResult) -> None:
    headline = digest(replace(two_models, primary=())).headline
    assert [measure.name for measure in headline.measures][:2] == ["AP", "AP50"]


def test_measures_name_the_parameters_that_differ(two_models: RunResult) -> None:
    names = list(map(str, digest(two_models).labels.measures))
    assert names == [
        "AP@0.50",
        "AP@0.75",
        "counts tp",
        "counts fp",
        "counts fn",
        "precision",
        "recall",
    ]


def test_gates_failed_first_and_verdict(two_models: RunResult, build: Build) -> None:
    told = digest(two_models)
    assert [gate.status for gate in told.gates][:4] == [
        "failed",
        "not checked",
        "not checked",
        "passed",
    ]
    assert (told.verdict.word, told.verdict.detail) == ("FAILED", "1 of 6 gates, 2 not checked")
    assert told.gates[1].where == "person"
    passed = digest(build(("m",), (), gates="passed")).verdict
    assert (passed.word, passed.detail) == ("PASSED", "2 of 2 gates")
    none = digest(build(("m",), (), gates="none")).verdict
    assert (none.word, none.detail) == ("DONE", "no gates set")
    unchecked = replace(two_models, gates=two_models.gates[2:3])
    assert digest(unchecked).verdict.word == "INCOMPLETE"
    assert digest(unchecked).verdict.detail == (
        "1 of 1 gate could not be checked (min of recall: no ground truth); none failed"
    )


def test_a_missing_row_is_a_cell_that_says_so(two_models: RunResult) -> None:
    kept = [row for row in two_models.metrics if (row.model, row.label) != ("large", "cat")]
    told = digest(replace(two_models, metrics=kept)).labels
    cat = next(line for line in told.lines if line.name == "cat")
    assert cat.cells[0][1].value is None
    assert cat.cells[0][1].undefined == "not computed"


def test_slices_worst_first(two_models: RunResult) -> None:
    names = [line.name.split("=")[1] for line in worst_first(digest(two_models).slices)]
    assert names == ["fog", "night", "rain", "day"]


def test_slices_without_headline_values_show_what_they_have(two_models: RunResult) -> None:
    row = replace(two_models.metrics[-1], slice="night", label=None, value=0.5)
    kept = [one for one in two_models.metrics if one.slice is None]
    told = digest(replace(two_models, metrics=(*kept, row)))
    assert [measure.name for measure in told.slices.measures] == ["recall"]


def test_ranking_is_best_first_and_undefined_last(build: Build) -> None:
    told = digest(_run(build, (0.1, None, 0.3, 0.1), "higher"))
    assert ranking(told.headline, 4) == [2, 0, 3, 1]
    told = digest(_run(build, (0.1, None, 0.3, 0.1), "lower"))
    assert ranking(told.headline, 4) == [0, 3, 2, 1]
    told = digest(_run(build, (0.1, None, 0.3), None))
    assert ranking(told.headline, 3) == [0, 1, 2]


def test_a_run_without_anything(two_models: RunResult) -> None:
    told = digest(replace(two_models, metrics=(), curves=(), gates=()))
    assert not told.headline.measures
    assert not told.labels.lines
    assert not told.slices.lines


def test_labels_of_slices_do_not_mix_with_labels(two_models: RunResult) -> None:
    row: MetricResult = replace(two_models.metrics[-1], slice="night", label="ghost")
    told = digest(replace(two_models, metrics=(*two_models.metrics, row)))
    assert "ghost" not in [line.name for line in told.labels.lines]


def test_names_of_models_stand_as_they_are(two_models: RunResult) -> None:
    run = replace(two_models, settings={"embedder": "my_model_v2", "pixels": "as_they_are"})
    assert digest(run).scope[-2:] == ("embedder: my_model_v2", "pixels: as they are")


def test_the_small_n_mark_names_what_is_few_and_marks_no_other_cell(two_models: RunResult) -> None:
    counts = {"AP": 4_000, "AP50": 12}
    rows = [
        replace(row, caution="small_n", n=counts[row.output]) if row.output in counts else row
        for row in two_models.metrics
        if row.label is None and row.slice is None
    ]
    run = replace(two_models, metrics=rows)

    def few(run: RunResult) -> dict[str, str]:
        told = digest(run).headline
        cells = zip(told.measures, told.lines[0].cells, strict=True)
        return {str(measure): cell[0].few for measure, cell in cells if cell[0].few}

    # Few images, and few ground truths of many images.
    assert few(run) == {"AP": "images", "AP50": "ground truths"}
    by_patient = replace(run, intervals=IntervalsResult(0.95, 100, 0, "metadata.patient"))
    assert few(by_patient) == {"AP": "groups", "AP50": "ground truths"}
    line = digest(run).headline.lines[0]
    assert (few_of([line]), line.all_few) == (("images", "ground truths"), False)
