"""Calibrations as a terminal and programs are shown them."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from msgspec.structs import asdict
from rich.console import Console

from valor_cli.reports.render.terminal import in_full
from valor_cli.reports.sections.judge_tables import calibrated, calibrated_json
from valor_cli.results import CalibrationResult, UsageResult


def calibration(**changes: Any) -> CalibrationResult:
    """20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no of 50; kappa 0.4."""
    given: dict[str, Any] = {
        "metric": "sexism",
        "model": "m",
        "parameters": {},
        "judge": None,
        "column": "human_sexism",
        "scale": "verdicts",
        "threshold": None,
        "labels": ("fail", "pass"),
        "matrix": [[15, 10], [5, 20]],
        "n": 50,
        "unjudged": 0,
        "agreement": 0.7,
        "kappa": 0.4,
        "kappa_interval": (0.15, 0.62),
        "weighted_kappa": None,
        "correlation": None,
        "human_mean": 0.5,
        "judge_mean": 0.6,
        "disagreements": [f"s{at}" for at in range(15)],
        "self_agreement": None,
        **changes,
    }
    return CalibrationResult(**given)


def shown(*rows: CalibrationResult) -> str:
    out = StringIO()
    Console(file=out, width=140).print(in_full(calibrated(rows)))
    return out.getvalue()


def test_a_row_and_its_block() -> None:
    text = shown(calibration())
    head, row = text.splitlines()[:2]
    assert " ".join(head.split()) == "metric answers of n agreement kappa 95 % weighted Spearman"
    assert " ".join(row.split()) == "sexism m 50 0.700 0.400 0.150 … 0.620 – –"
    assert "sexism against human_sexism" in text
    assert "0.400, fair" in text
    assert "people 0.500, judge 0.600" in text
    assert "s0, s1, s2, s3, s4 … 15 in all" in text
    assert "with itself" not in text
    cells = [line.split() for line in text.splitlines()]
    assert ["fail", "15", "10"] in cells
    assert ["pass", "5", "20"] in cells


def test_judges_have_a_column_where_there_are_several() -> None:
    text = shown(calibration(model=None), calibration(model=None, judge="x"))
    rows = text.splitlines()
    assert "judge" in rows[0]
    assert "all models" in rows[1]
    assert "together" in rows[1]
    assert rows[2].split()[3] == "x"
    assert text.count("against human_sexism") == 1


def test_one_metric_in_two_ways_is_told_apart() -> None:
    text = shown(
        calibration(metric="faithfulness", parameters={"batch_size": 1, "empty": None}),
        calibration(metric="faithfulness", parameters={"batch_size": 5, "empty": None}),
    )
    assert "faithfulness batch_size=1 against" in text
    assert "faithfulness batch_size=5 against" in text


@pytest.mark.parametrize(
    ("kappa", "words"),
    [
        (1.0, "1.000, almost perfect"),
        (0.8, "0.800, substantial"),
        (0.2, "0.200, slight or none"),
        (-0.5, "−0.500, slight or none"),
        (None, "– (all say the same one category)"),
    ],
)
def test_kappa_in_words(kappa: float | None, words: str) -> None:
    assert words in shown(calibration(kappa=kappa, kappa_interval=None))


def test_what_is_missing_is_said() -> None:
    assert "50 that both judged, 3 more without a verdict" in shown(calibration(unjudged=3))
    nothing = shown(calibration(n=0, unjudged=4, agreement=None, kappa=None, kappa_interval=None))
    assert "0 that both judged, 4 more" in nothing
    assert "Cohen's kappa" not in nothing
    assert "people ↓" not in nothing
    classes = calibration(scale="classes", human_mean=None, judge_mean=None, self_agreement=0.75)
    assert "people –" not in shown(classes)
    assert "0.750 of pairs of its own repeats agree" in shown(classes)


def test_foreign_words_cannot_write_to_the_terminal() -> None:
    odd = "\x1b[2Jevil\n"
    text = shown(
        calibration(model=odd, judge=odd, column=odd, disagreements=[odd], labels=(odd, "b"))
    )
    assert "\x1b" not in text
    assert "evil" in text


def test_wide_matrices_are_left_out() -> None:
    labels = tuple(map(str, range(12)))
    assert "people ↓" not in shown(calibration(labels=labels, matrix=[[0] * 12] * 12))


def test_json_has_every_field_by_its_name() -> None:
    usage = UsageResult("sexism", "m", "x", 50, 0, 0, 1, 2, None, None)
    found = json.loads(calibrated_json([calibration()], [usage]))
    assert list(found) == ["calibrations", "usage"]
    (row,) = found["calibrations"]
    assert list(row) == list(CalibrationResult.__struct_fields__)
    assert row == json.loads(json.dumps(asdict(calibration())))
    assert found["usage"] == [asdict(usage)]
