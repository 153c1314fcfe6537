"""What several reports show: headline, best marks, gates, labels, slices, coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from tests.reports.conftest import Build
from tests.reports.judge_runs import judge_run
from tests.reports.task_runs import run_of, value_row
from tests.reports.text_runs import coverage_gate, gates, text_run
from valor_cli.reports.digests.digest import Digest, digest, ranking, worst_first
from valor_cli.reports.digests.gates import stopped, verdict
from valor_cli.reports.digests.grids import Covered, RowIndex, Scopes, few_of
from valor_cli.results import (
    TOO_LOW,
    CoverageResult,
    Direction,
    GateResult,
    IntervalsResult,
    MetricResult,
    RunResult,
)


def _values(values: Sequence[float | None], direction: Direction) -> Digest:
    """Of one headline value of as many models."""
    models = "abcdef"[: len(values)]
    rows = [value_row("f1", *one, direction=direction) for one in zip(models, values, strict=True)]
    return digest(run_of("classification", models, metrics=rows))


@pytest.mark.parametrize(
    ("values", "direction", "best", "order"),
    [
        ((0.3, 0.5), "higher", [False, True], [1, 0]),
        ((0.3, 0.5), "lower", [True, False], [0, 1]),
        ((0.3, 0.5), None, [False, False], [0, 1]),
        ((0.5, 0.5), "higher", [True, True], [0, 1]),
        ((0.5, 0.1, 0.5), "higher", [True, False, True], [0, 2, 1]),
        ((None, 0.1, 0.0), "lower", [False, False, True], [2, 1, 0]),
        ((None, 0.1), "higher", [False, False], [1, 0]),
        ((0.5,), "higher", [False], [0]),
        ((0.1, None, 0.3, 0.1), "higher", [False, False, True, False], [2, 0, 3, 1]),
        ((0.1, None, 0.3, 0.1), "lower", [True, False, False, True], [0, 3, 2, 1]),
        ((0.1, None, 0.3), None, [False] * 3, [0, 1, 2]),
    ],
)
def test_best_follows_the_direction_and_what_is_undefined_comes_last(
    values: Sequence[float | None], direction: Direction, best: list[bool], order: list[int]
) -> None:
    told = _values(values, direction)
    assert [cell.best for cell in told.headline.lines[0].cells[0]] == best
    assert list(ranking(told.headline, len(values))) == order


def test_headline_is_primary_in_its_order(two_models: RunResult) -> None:
    run = replace(two_models, primary=(("coco", "AP75"), ("nothing", "value"), ("coco", "AP")))
    names = [m.name for m in digest(run).headline.measures]
    # What is not primary follows, once each; both in the order of the results.
    assert names[:4] == ["AP", "AP75", "AP50", "APsmall"]
    assert len(set(names)) == len(names)
    # Without primary values whatever is overall leads.
    bare = digest(replace(two_models, primary=())).headline
    assert [measure.name for measure in bare.measures][:2] == ["AP", "AP50"]


def test_measures_name_the_parameters_that_differ(two_models: RunResult) -> None:
    assert ", ".join(map(str, digest(two_models).labels.measures)) == (
        "AP@0.50, AP@0.75, counts tp, counts fp, counts fn, precision, recall"
    )


def test_a_missing_row_is_a_cell_that_says_so(two_models: RunResult) -> None:
    kept = [row for row in two_models.metrics if (row.model, row.label) != ("large", "cat")]
    told = digest(replace(two_models, metrics=kept)).labels
    cat = next(line for line in told.lines if line.name == "cat")
    assert (cat.cells[0][1].value, cat.cells[0][1].undefined) == (None, "not computed")


def test_slices_are_worst_first_and_their_labels_no_labels_of_the_run(
    two_models: RunResult,
) -> None:
    names = [line.name.split("=")[1] for line in worst_first(digest(two_models).slices)]
    assert names == ["fog", "night", "rain", "day"]
    row = replace(two_models.metrics[-1], slice="night", label="ghost")
    told = digest(replace(two_models, metrics=(*two_models.metrics, row)))
    assert "ghost" not in [line.name for line in told.labels.lines]
    # Slices without headline values show what they have.
    alone = replace(row, label=None, value=0.5)
    kept = [one for one in two_models.metrics if one.slice is None]
    told = digest(replace(two_models, metrics=(*kept, alone)))
    assert [measure.name for measure in told.slices.measures] == ["recall"]


def test_a_run_without_anything(two_models: RunResult) -> None:
    told = digest(replace(two_models, metrics=(), curves=(), gates=()))
    assert not any((told.headline.measures, told.labels.lines, told.slices.lines))


@pytest.mark.parametrize(
    ("changes", "scope"),
    [
        (
            {"settings": {"embedder": "my_model_v2", "pixels": "as_they_are"}},
            ("embedder: my_model_v2", "pixels: as they are"),
        ),
        # Settings that are off are not told.
        ({"settings": {"reduce_labels": False, "ignore_index": 0}}, ("ignore index: 0",)),
    ],
)
def test_names_of_settings_stand_as_they_are(
    changes: dict[str, Any], scope: tuple[str, ...]
) -> None:
    run = run_of("classification", ("m",), data={"samples": 900, "labels": 1}, **changes)
    assert digest(run).scope == ("900 samples", "1 label", *scope)


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ({}, ("n", "sample")),
        ({"samples": 3}, ("samples", "sample")),
        ({"images": 3, "labels": 2}, ("pixels", "image")),
        ({"images": 3, "ground_truths": 2}, ("ground truths", "image")),
    ],
)
def test_words_for_what_is_counted(data: dict[str, int], names: tuple[str, str]) -> None:
    told = digest(run_of("classification", ("m",), data=data))
    assert (told.n_name, told.unit) == names


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


# Gates

LOW, HIGH = coverage_gate("bleu_1", "small", 0.9), coverage_gate("rouge_l", "small", 1.0)
UNKNOWN = replace(LOW, value=None, status="not checked", reason="not applicable to any sample")
AGAIN = "judges did not always reply: run again"
ABSENT = "the model of bleu_1 is not on this machine"


@pytest.mark.parametrize(
    ("held", "incomplete", "detail"),
    [
        ([LOW, HIGH], None, "coverage too low in 1 of 2 gates"),
        ([LOW, UNKNOWN], None, "coverage too low in 1 of 2 gates, 1 not checked"),
        ([UNKNOWN], None, "1 of 1 gate not checked"),
        ([], AGAIN, f"{AGAIN}; no gates set"),
        ([HIGH], AGAIN, f"{AGAIN}; 1 gate, none failed"),
        ([HIGH, UNKNOWN], None, "1 of 2 gates not checked"),
        ([LOW, gates(("small",))[0]], None, "coverage too low in 1 of 2 gates; 1 failed"),
        # A model that is not there is told before the coverage that it costs.
        ([LOW], ABSENT, f"{ABSENT}; coverage too low in 1 of 1 gate"),
        ([LOW], TOO_LOW, "coverage too low in 1 of 1 gate"),
    ],
)
def test_a_coverage_that_fails_makes_a_run_incomplete(
    held: list[GateResult], incomplete: str | None, detail: str
) -> None:
    told = verdict(held, incomplete=incomplete)
    assert (told.word, told.detail) == ("INCOMPLETE", detail)


def test_gates_failed_first_and_verdict(two_models: RunResult, build: Build) -> None:
    told = digest(two_models)
    statuses = [gate.status for gate in told.gates][:4]
    assert statuses == ["failed", "not checked", "not checked", "passed"]
    assert told.gates[1].where == "person"
    unchecked = "1 of 1 gate could not be checked (min of recall: no ground truth); none failed"
    for run, word, detail in (
        (two_models, "FAILED", "1 of 6 gates, 2 not checked"),
        (build(("m",), (), gates="passed"), "PASSED", "2 of 2 gates"),
        (build(("m",), (), gates="none"), "DONE", "no gates set"),
        (replace(two_models, gates=two_models.gates[2:3]), "INCOMPLETE", unchecked),
    ):
        found = digest(run).verdict
        assert (found.word, found.detail) == (word, detail)


WORSE = replace(
    coverage_gate("rouge_l", "small", 0.04), output="f1", rule="not_worse", limit=0.05, reason="why"
)
VALUE, *COVERED = gates(("small",))


@pytest.mark.parametrize(
    ("held", "told"),
    [
        # A coverage is told in percent.
        (
            [HIGH, replace(LOW, value=0.9496)],
            [
                ("failed", "coverage of BLEU-1", "≥ 95%", "94%", ""),
                ("passed", "coverage of ROUGE-L", "≥ 95%", "100%", ""),
            ],
        ),
        # Coverages that pass stand in one line.
        (
            [*COVERED[1:3], replace(COVERED[3], value=0.951), replace(LOW, value=0.5), VALUE],
            [
                ("failed", "coverage of BLEU-1", "≥ 95%", "50%", ""),
                ("failed", "ROUGE-L", "≥ 0.500", "0.333", ""),
                ("passed", "coverage, 3 gates", "≥ 95.0%", "95.1%", "the lowest of them"),
            ],
        ),
        # Of being no worse the p-value is told.
        (
            [WORSE, replace(WORSE, value=0.5, status="passed", reason=None)],
            [
                ("failed", "ROUGE-L F1", "not worse, p ≥ 0.050", "p 0.040", "why"),
                ("passed", "ROUGE-L F1", "not worse, p ≥ 0.050", "p 0.500", ""),
            ],
        ),
    ],
    ids=["percent", "one line", "not worse"],
)
def test_gates_in_words(held: list[GateResult], told: list[tuple[str, ...]]) -> None:
    found = digest(text_run(("small",), gates=tuple(held))).gates
    assert [(one.status, one.subject, one.rule, one.value, one.reason) for one in found] == told


def test_why_not_everything_was_asked() -> None:
    assert stopped(judge_run()) == ""
    run = judge_run(stopped="the budget is reached")
    # 3 of 120 samples of each of two models were skipped
    told = "the budget is reached; the judges got to 234 of 240 samples; --resume goes on"
    assert stopped(run) == told
    none = [replace(row, statuses={"skipped": 120}) for row in run.coverage if row.model == "large"]
    rest = [row for row in run.coverage if row.model == "small"]
    assert "got to 117 of 240" in stopped(replace(run, coverage=[*rest, *none]))
    # what asks no judge says nothing of how far they got
    other = [replace(row, metric="ter", statuses={"ok": 120}) for row in run.coverage]
    assert "117 of 120" in stopped(replace(run, coverage=[*other, *rest], models=("small",)))
    assert stopped(replace(run, coverage=())) == "the budget is reached; --resume goes on"
    assert "\x1b" not in stopped(judge_run(stopped="\x1b[31mred\u202e\n"))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "interrupted; run it again"),
        (
            {"embedder": "minilm-int8"},
            "interrupted; run it again: vectors that were made are kept",
        ),
        # It was stopped before the judge was asked.
        ({"judge": "x"}, "interrupted; --resume goes on"),
    ],
)
def test_runs_without_judges_are_not_told_to_resume(settings: dict[str, Any], told: str) -> None:
    run = judge_run(stopped="interrupted", usage=(), coverage=(), settings=settings)
    assert stopped(run) == told


# How much of the samples a value rests on

ROW = value_row("looping", "m", 0.5, parameters={"language": "en"}, n=3)
PARTLY = CoverageResult(
    "looping", "m", None, {"language": "en"}, 8, {"ok": 3, "not_applicable": 4, "skipped": 1}, 0.75
)
NONE = replace(ROW, value=None, n=0, undefined="no sample has one")
GERMAN = replace(PARTLY, parameters={"language": "de"}, coverage=0.5)
LIST = replace(PARTLY, parameters={"at": (0.5, 0.9)})
AT = replace(ROW, parameters={"at": 0.9})
TWO = [LIST, replace(LIST, parameters={"at": 0.9}, coverage=0.5)]


@pytest.mark.parametrize(
    ("coverage", "row", "part"),
    [
        ([PARTLY], ROW, 0.75),
        ([GERMAN, PARTLY], ROW, 0.75),
        # A row may have more parameters than the call, and may be another model's or a slice's.
        ([PARTLY], replace(ROW, parameters={"language": "en", "x": 1}), 0.75),
        ([PARTLY], replace(ROW, model="n"), None),
        ([PARTLY], replace(ROW, slice="s"), None),
        ([PARTLY], replace(ROW, label="cat"), None),
        # An output that more samples have is not told to be covered less.
        ([PARTLY], replace(ROW, n=0), 0.75),
        ([PARTLY], replace(ROW, n=4), None),
        ([PARTLY], replace(ROW, n=None), 0.75),
        # One that no sample has is covered where the primary one is not either.
        ([PARTLY], NONE, None),
        ([replace(PARTLY, statuses={"skipped": 8}, coverage=0.0)], NONE, 0.0),
        ([replace(PARTLY, coverage=1.0)], ROW, None),
        ([replace(PARTLY, coverage=None)], ROW, None),
        # A value of one element finds the coverage of its call; of two calls it is neither.
        ([LIST], AT, 0.75),
        (TWO, AT, 0.5),
        (TWO, replace(AT, parameters={"at": 0.9, "signature": "nrefs:1"}), 0.5),
        (TWO, ROW, None),
    ],
)
def test_a_value_is_covered_by_the_samples_of_its_call(
    coverage: list[CoverageResult], row: MetricResult, part: float | None
) -> None:
    assert Covered(coverage).part(row) == part


@pytest.mark.parametrize(("skipped", "best"), [((4, 4), True), ((0, 0), True), ((2, 8), False)])
def test_no_model_leads_where_the_run_stopped_with_more_asked_of_one_than_of_another(
    skipped: tuple[int, int], best: bool
) -> None:
    rows = [replace(ROW, model=model, value=value) for model, value in (("m", 0.9), ("n", 0.4))]
    coverage = [
        replace(PARTLY, model=row.model, statuses={"ok": 8 - count, "skipped": count})
        for row, count in zip(rows, skipped, strict=True)
    ]
    index = RowIndex(["m", "n"], rows, Scopes(rows), coverage)
    cells = index.grid(index.measures, [(None, None)]).lines[0].cells[0]
    assert [cell.best for cell in cells] == [best, False]
