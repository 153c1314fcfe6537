"""How much of the samples a value rests on."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.reports.text_runs import text_run
from valor_cli.reports.digests.grids import Covered, RowIndex, Scopes
from valor_cli.results import CoverageResult, MetricResult

ROW = MetricResult(
    "looping",
    "value",
    "m",
    None,
    None,
    {"language": "en"},
    0.5,
    "fraction",
    "higher",
    3,
    None,
    None,
)
PARTLY = CoverageResult(
    "looping", "m", None, {"language": "en"}, 8, {"ok": 3, "not_applicable": 4, "skipped": 1}, 0.75
)


def test_a_value_is_covered_by_the_samples_of_its_call() -> None:
    assert Covered([PARTLY]).part(ROW) == 0.75
    other = replace(PARTLY, parameters={"language": "de"}, coverage=0.5)
    assert Covered([other, PARTLY]).part(ROW) == 0.75
    # A row may have more parameters than the call, and may be another model's or a slice's.
    assert Covered([PARTLY]).part(replace(ROW, parameters={"language": "en", "x": 1})) == 0.75
    assert Covered([PARTLY]).part(replace(ROW, model="n")) is None
    assert Covered([PARTLY]).part(replace(ROW, slice="s")) is None


@pytest.mark.parametrize(("n", "part"), [(0, 0.75), (3, 0.75), (4, None), (None, 0.75)])
def test_an_output_that_more_samples_have_is_not_told_to_be_covered_less(
    n: int | None, part: float | None
) -> None:
    assert Covered([PARTLY]).part(replace(ROW, n=n)) == part


def test_an_output_that_no_sample_has_is_covered_where_the_primary_one_is_not_either() -> None:
    none = replace(ROW, value=None, n=0, undefined="no sample has one")
    assert Covered([PARTLY]).part(none) is None
    assert Covered([replace(PARTLY, statuses={"skipped": 8}, coverage=0.0)]).part(none) == 0.0


def test_what_is_wholly_covered_or_of_a_label_says_nothing() -> None:
    assert Covered([replace(PARTLY, coverage=1.0)]).part(ROW) is None
    assert Covered([replace(PARTLY, coverage=None)]).part(ROW) is None
    assert Covered([PARTLY]).part(replace(ROW, label="cat")) is None


def test_no_model_leads_where_the_run_stopped_with_more_asked_of_one_than_of_another() -> None:
    rows = [replace(ROW, model=model, value=value) for model, value in (("m", 0.9), ("n", 0.4))]

    def leads(*skipped: int) -> list[bool]:
        coverage = [
            replace(PARTLY, model=row.model, statuses={"ok": 8 - count, "skipped": count})
            for row, count in zip(rows, skipped, strict=True)
        ]
        index = RowIndex(["m", "n"], rows, Scopes(rows), coverage)
        return [cell.best for cell in index.grid(index.measures, [(None, None)]).lines[0].cells[0]]

    assert leads(4, 4) == leads(0, 0) == [True, False]
    assert leads(2, 8) == [False, False]


def test_a_value_of_one_element_finds_the_coverage_of_its_call() -> None:
    run = text_run(("small",))
    row = next(one for one in run.metrics if one.metric == "token_f1")
    (call,) = [one for one in run.coverage if one.metric == "token_f1"]
    listed = replace(call, parameters={"thresholds": (0.5, 0.9)})
    at = replace(row, parameters={"thresholds": 0.9})
    assert Covered([listed]).part(at) == call.coverage == 191 / 200
    twice = Covered([listed, replace(call, parameters={"thresholds": 0.9}, coverage=0.5)])
    assert twice.part(at) == 0.5
    assert twice.part(row) is None  # of two calls it is neither
    signed = replace(row, parameters={"thresholds": 0.9, "signature": "nrefs:1"})
    assert twice.part(signed) == 0.5
    assert Covered([call]).part(replace(row, label="yes")) is None
    assert Covered([replace(call, coverage=1.0)]).part(row) is None
