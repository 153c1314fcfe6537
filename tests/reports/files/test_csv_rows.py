"""The rows of a run as CSV, read back by Python's reader and taken for no formula."""

from __future__ import annotations

import csv
import io
import json

import pytest
from msgspec.structs import replace

from tests.reports.check_runs import checked_run, named_alike
from tests.reports.conftest import HOSTILE
from tests.reports.task_runs import value_row
from valor_cli.reports.files.csv_rows import COLUMNS, to_csv
from valor_cli.results import RunResult


def read(run: RunResult) -> list[dict[str, str]]:
    text = to_csv(run).decode()
    assert text.endswith("\r\n")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert tuple(rows[0]) == COLUMNS
    assert {len(row) for row in rows} == {len(COLUMNS)}
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows[1:]]


def test_a_small_run_as_a_file() -> None:
    assert to_csv(checked_run()).decode() == (
        "metric,output,model,label,slice,parameters,value,unit,direction,n,interval_low,"
        "interval_high,method,caution,undefined\r\n"
        'f1,value,small,,,"{""score_threshold"":0.5}",0.4,fraction,higher,900,,,,,\r\n'
        'f1,value,small,,,"{""score_threshold"":0.7}",0.35,fraction,higher,900,,,,,\r\n'
        "errors,value,small,,,{},12,count,lower,900,10,15,,,\r\n"
        "errors,value,small,'=cat,,{},,fraction,higher,900,,,,,no ground truth\r\n"
    )


def test_numbers_in_full_and_every_column() -> None:
    third, tiny = 1 / 3, -5e-324
    row = replace(
        value_row("m", "x", third, n=7, interval=(tiny, 0.1 + 0.2), direction=None),
        method="wilson",
        caution="small_n",
        slice="area=small",
        parameters={"at": [0.5, "a"], "b": {"c": None}},
    )
    (read_row,) = read(checked_run(metrics=[row]))
    assert float(read_row["value"]) == third
    # a negative number is a number, and no formula
    assert float(read_row["interval_low"]) == tiny
    assert read_row["interval_low"] == "-5e-324"
    assert read_row["interval_high"] == "0.30000000000000004"
    assert json.loads(read_row["parameters"]) == row.parameters
    kept = [read_row[name] for name in ("n", "method", "caution", "slice", "direction", "label")]
    assert kept == ["7", "wilson", "small_n", "area=small", "", ""]


@pytest.mark.parametrize(
    "start",
    [
        *("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\x00=1"),
        *(" =1", "＝1", "＋1", "－1", "＠x", "﹦1", " ＝1"),
        *("\u3164=1", "\u2800=1", "\ufe0f=1"),
    ],
)
def test_no_text_is_a_formula(start: str) -> None:
    (row,) = read(checked_run(metrics=[value_row(start, start, 0.5, label=start)]))
    for name in ("metric", "model", "label"):
        assert row[name].startswith("'")
    assert row["value"] == "0.5"
    # "-1" may be a label: what follows the apostrophe is all of it
    assert row["label"][1:] == start.strip("\t\r\n\x00")


@pytest.mark.parametrize(
    "start", ["\u200b=1", "\u2060=1", "\xad=1", "\ufeff=1", "\u200b\u200d ＝1"]
)
def test_what_is_not_seen_does_not_hide_a_formula(start: str) -> None:
    (row,) = read(checked_run(metrics=[value_row(start, start, 0.5, label=start)]))
    assert row["label"].startswith("'")


@pytest.mark.parametrize("label", ["cat", " cat", "a=1", "1-2", "x＝1", "\u3164", "½"])
def test_other_text_stays_as_it_is(label: str) -> None:
    (row,) = read(checked_run(metrics=[value_row("m", "x", 0.5, label=label)]))
    assert row["label"] == label


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_words_stay_in_their_cells(word: str) -> None:
    rows = read(named_alike(word))
    assert len(rows) == 4
    text = to_csv(named_alike(word)).decode()
    assert text.count("\r\n") == text.count("\n") == 5
    assert "\x1b" not in text
    assert "\u202e" not in text
    if word.isprintable():
        assert all(row["metric"].removeprefix("'") == word for row in rows)
