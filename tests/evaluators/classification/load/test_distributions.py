"""Whether calibration is among the default metrics: every row of every file decides it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valor_cli
from valor_cli.errors import DataError
from valor_cli.evaluators.classification.load.distributions import Distributions
from valor_cli.kernels.ranking.scores import DenseScores
from valor_cli.results import RunResult

CALIBRATION = "expected_calibration_error"
ROWS: Mapping[str, Mapping[str, Any]] = {
    "probabilities": {"predictions": {"cat": 0.75, "dog": 0.25}},
    "logits": {"predictions": {"cat": 2.5, "dog": -1.5}},
    "label": {"prediction": "cat"},
    "empty": {"predictions": {}},
}


@pytest.fixture(params=["whole", "pieces"], autouse=True)
def in_a_folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if request.param == "pieces":
        monkeypatch.setenv("VALOR_PIECE_BYTES", "2000")


def run(predictions: Mapping[str, list[str]], **config: Any) -> RunResult:
    """A run of models, the kinds of whose rows are given."""
    names = list(islice(cycle(["cat", "dog"]), max(map(len, predictions.values()))))
    rows = [
        {"sample_id": f"{at:03}", "label": name, "camera": "rear" if at % 3 else "front"}
        for at, name in enumerate(names)
    ]
    files = {"truth": rows} | {
        model: [{"sample_id": f"{at:03}", **ROWS[kind]} for at, kind in enumerate(kinds)]
        for model, kinds in predictions.items()
    }
    for name, lines in files.items():
        Path(f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    data = {
        "ground_truth": "truth.jsonl",
        "predictions": {model: f"{model}.jsonl" for model in predictions},
    }
    return valor_cli.evaluate({"task": "classification", "data": data, **config}, jobs=1)


def is_calibrated(found: RunResult) -> bool:
    return any(row.metric == CALIBRATION for row in found.metrics)


def left_out(found: RunResult) -> list[str]:
    return [line for line in found.warnings if CALIBRATION in line]


@pytest.mark.parametrize(
    ("first", "later", "odd"),
    [
        ("probabilities", "logits", 50),
        ("logits", "probabilities", 120),
        ("label", "probabilities", 120),
        ("probabilities", "label", 50),
    ],
)
def test_some_rows_without_probabilities_leave_it_out_by_name(
    first: str, later: str, odd: int
) -> None:
    found = run({"small": [first] * 120 + [later] * 50})
    assert not is_calibrated(found)
    (warning,) = left_out(found)
    assert warning == (
        f"{odd} of 170 rows of small are not scores of several labels that sum to 1, "
        f"each 0 to 1; left out of the default metrics: {CALIBRATION}"
    )
    assert "accuracy" in {row.metric for row in found.metrics}


def test_rows_that_predict_nothing_do_not_decide() -> None:
    found = run({"small": ["empty"] * 120 + ["probabilities"] * 50})
    assert (is_calibrated(found), left_out(found)) == (True, [])


@pytest.mark.parametrize("kind", ["logits", "label", "empty"])
def test_nothing_is_said_where_no_row_has_probabilities(kind: str) -> None:
    found = run({"small": [kind] * 120})
    assert (is_calibrated(found), left_out(found)) == (False, [])


def test_every_model_decides() -> None:
    found = run({"small": ["probabilities"] * 30, "large": ["label"] * 30})
    assert not is_calibrated(found)
    assert left_out(found)[0].startswith("30 of 30 rows of large are not scores")


def test_what_is_asked_for_is_computed_or_refused() -> None:
    found = run({"small": ["probabilities"] * 120 + ["label"] * 50}, metrics=[CALIBRATION])
    assert is_calibrated(found)
    with pytest.raises(DataError, match=r"small\.jsonl:121: .*expected a probability from 0 to 1"):
        run({"small": ["probabilities"] * 120 + ["logits"] * 50}, metrics=[CALIBRATION])
    gate = {"metric": CALIBRATION, "max": 1.0}
    with pytest.raises(DataError, match="expected a probability from 0 to 1"):
        run({"small": ["probabilities"] * 120 + ["logits"] * 50}, gates=[gate])


def test_slices_are_searched_by_what_the_scores_allow() -> None:
    found = run({"small": ["probabilities"] * 30 + ["logits"] * 30}, slices="auto")
    assert not is_calibrated(found)
    assert [search.model for search in found.searches] == ["small"]


def test_rows_are_counted_alike_dense_and_sparse() -> None:
    score = np.array(
        [
            [0.5, 0.25, 0.25],
            [0.0, 0.0, 0.0],
            [0.5, 0.25, 0.2],
            [1.5, -0.25, -0.25],  # Sums to 1, but not each from 0 to 1.
            [2.0, -1.0, -1.0],  # Sums to 0, yet predicts.
            [0.9995, 0.0, 0.0],  # Within rounding.
        ]
    )
    dense = DenseScores(np.arange(3, dtype=np.int32), score)
    assert Distributions.of(dense) == Distributions.of(dense.sparse()) == (5, 2)
    parts = [Distributions.of(dense.between(0, 3)), Distributions.of(dense.between(3, 6))]
    assert Distributions.joined(parts) == (5, 2)
    # A single label is no distribution, whatever its score.
    alone = DenseScores(np.zeros(1, np.int32), np.ones((4, 1)))
    assert Distributions.of(alone) == Distributions.of(alone.sparse()) == (4, 0)
