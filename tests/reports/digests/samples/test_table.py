"""Values of single images: the worst in a table, the spread of all as a curve."""

from __future__ import annotations

from msgspec.structs import replace

from tests.reports.task_runs import segmented
from valor_cli.reports.charts.distribution import MARKS, distributions
from valor_cli.reports.digests.samples.table import ALL_ROWS, ROWS, sample_tables
from valor_cli.results import CurveResult, RunResult, SamplesResult

COLUMNS = {"mean_iou": [0.9, None, 0.2, 0.2, 0.5], "errors": [10, 0, 4_000, 7, 3]}


def _run(direction: str = "higher", most: int = 5) -> RunResult:
    run = segmented(("m",))
    row = next(one for one in run.metrics if one.metric == "image_scores")
    columns = {name: values[:most] for name, values in COLUMNS.items()}
    reasons = [None if value is not None else "nothing" for value in columns["mean_iou"]]
    one = SamplesResult("image_scores", "m", {}, ["a", "b", 3, "d", "e"][:most], columns, reasons)
    return replace(run, samples=(one,), metrics=(replace(row, direction=direction),))  # type: ignore[arg-type]


def test_rows_worked_by_hand() -> None:
    (table,) = sample_tables(_run())
    assert table.headings == ("mean IoU", "errors")
    assert table.rows == (
        ("3", ("0.200", "4,000")),  # equal values in their order
        ("d", ("0.200", "7")),
        ("e", ("0.500", "3")),
        ("a", ("0.900", "10")),
    )
    assert table.left_out == 1  # b has no value
    assert table.title == "m"


def test_the_largest_are_worst_of_what_is_better_low() -> None:
    (table,) = sample_tables(_run("lower"))
    assert [name for name, _ in table.rows] == ["a", "e", "3", "d"]


def test_rows_are_bounded() -> None:
    (table,) = sample_tables(segmented(("m",), images=260))
    assert (len(table.rows), table.left_out) == (ROWS, 160)
    many = sample_tables(segmented([f"m{i}" for i in range(20)], images=100))
    assert sum(len(one.rows) for one in many) == ALL_ROWS
    assert sample_tables(replace(_run(), samples=())) == ()


def test_a_metric_asked_twice_has_two_titles() -> None:
    run = _run()
    (one,) = run.samples
    again = [replace(one, parameters={"worst": worst}) for worst in (3, 6)]
    titles = [table.title for table in sample_tables(replace(run, samples=again))]
    assert titles == ["m (worst=3)", "m (worst=6)"]


def test_spread_worked_by_hand() -> None:
    run = segmented(("m",))
    points = {"quantile": [0.0, 0.25, 0.5, 1.0], "mean_iou": [0.1, 0.4, 0.5, None]}
    curve = CurveResult("image_scores", "m", None, None, {}, points)
    (found,) = distributions(replace(run, curves=(curve, replace(curve, slice="night"))))
    (one,) = found.spreads
    assert found.title == "mean IoU"
    # no 5% and no 75% among the quantiles, no highest value
    assert dict(zip((name for _, name in MARKS), one.marks, strict=True)) == {
        "lowest": "0.100",
        "5%": "–",
        "25%": "0.400",
        "median": "0.500",
        "75%": "–",
        "highest": "–",
    }
