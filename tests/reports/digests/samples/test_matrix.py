"""The worst samples of a model over all its metrics."""

from __future__ import annotations

from msgspec.structs import replace
from valor_cli.reports.digests.samples.matrix import CELLS, ROWS, sample_matrices

from tests.reports.text_runs import parameters, text_run
from valor_cli.reports.digests.samples.table import sample_tables
from valor_cli.results import RunResult, SamplesResult, Scalar, Status

OK: Status = "ok"


def _column(
    metric: str, ids: list[Scalar], values: list[float | None], *, output: str = "value"
) -> SamplesResult:
    statuses: list[Status] = [OK if value is not None else "missing_input" for value in values]
    reasons = [None if value is not None else "no reference" for value in values]
    columns = {output: values}
    return SamplesResult(metric, "small", parameters(metric), ids, columns, reasons, statuses)


def _run(*columns: SamplesResult) -> RunResult:
    return replace(text_run(("small",)), samples=columns)


def test_worst_first_worked_by_hand() -> None:
    run = _run(
        _column("bleu_1", ["a", "b", "c", "d"], [0.9, 0.2, None, None]),
        _column("looping", ["a", "b", "c", "d"], [0.1, 0.0, 0.7, None]),  # lower is better
        _column("pii_leakage", ["b", "e"], [1.0, 0.0], output="pass"),
    )
    (table,) = sample_matrices(run)
    # a: 0.1 and 0.1; b: 0.8, 0 and 0; c: 0.7; d: nothing; e: 1
    assert [name for name, _ in table.rows] == ["e", "c", "b", "a", "d"]
    assert table.headings == ("bleu_1", "looping", "pii_leakage pass")
    cells = dict(table.rows)
    assert [one.text for one in cells["b"]] == ["0.200", "0.000", "1"]
    assert [one.text for one in cells["c"]] == ["missing input", "0.700", ""]
    assert [one.judged for one in cells["c"]] == [False, True, False]
    assert cells["c"][0].reason == "no reference"
    assert [one.part for one in cells["b"]] == [0.2, 0.0, None]
    assert table.left_out == 0


def test_ids_of_any_kind() -> None:
    (table,) = sample_matrices(_run(_column("bleu_1", [1, True, "1", None], [0.1, 0.2, 0.3, 0.4])))
    assert [name for name, _ in table.rows] == ["1", "True", "1", "None"]


def test_rows_and_cells_are_bounded() -> None:
    tables = sample_matrices(text_run(samples=400))
    assert [(len(table.rows), table.left_out) for table in tables] == [(ROWS, 300)] * 3
    many = sample_matrices(text_run([f"m{i}" for i in range(40)], samples=100))
    assert sum(len(table.rows) * len(table.headings) for table in many) <= CELLS


def test_values_without_statuses_have_tables_of_their_own() -> None:
    run = text_run(("small",))
    assert sample_tables(run) == ()
    bare = replace(run, samples=[replace(one, statuses=None) for one in run.samples])
    assert sample_matrices(bare) == ()
    assert len(sample_tables(bare)) == len(run.samples)
