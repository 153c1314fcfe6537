"""Means over labels at resamples that do not hold all of them."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valor_cli import api
from valor_cli.results import LabelMean, Resampled
from valor_cli.statistics.label_means import (
    alike,
    by_replica,
    centred,
    chosen,
    joined,
    means_where,
    shifted,
)


def over(*values: float | None) -> LabelMean:
    """None: the label is not there."""
    column = np.array([np.nan if one is None else one for one in values])
    return LabelMean(column, ~np.isnan(column))


def pair(
    value: float | None, labels: LabelMean | None, whole: LabelMean | None
) -> tuple[float, float]:
    """The value and the shift of one replica."""
    found = shifted(np.array([np.nan if value is None else value]), labels, whole)
    return float(found.values[0]), float(found.shifts[0])


def test_several_replicas_are_shifted_each_by_itself() -> None:
    whole = over(0.9, 0.3)
    labels = LabelMean(
        np.array([[0.8, np.nan], [0.75, 0.5]]), np.array([[True, False], [True] * 2])
    )
    values, shifts = shifted(np.array([0.8, 0.625]), labels, whole)
    assert values.tolist() == [0.8, 0.625]
    assert shifts.tolist() == pytest.approx([0.25, 0.0])


def test_means_over_the_labels_seen_are_those_of_each_row() -> None:
    rng = np.random.default_rng(0)
    values, seen = rng.random((9, 3, 5, 6)), rng.random((9, 6)) < 0.6
    seen[2], seen[3] = True, False
    expected = [
        np.ascontiguousarray(own[..., here]).ravel().mean() if here.any() else np.nan
        for own, here in zip(values, seen, strict=True)
    ]
    assert np.array_equal(means_where(values, seen), expected, equal_nan=True)
    assert means_where(values[:0], seen[:0]).tolist() == []


def test_rows_with_as_many_labels_come_together() -> None:
    seen = np.array([[True, False, True], [False, True, False], [True, True, False]])
    found = [(rows.tolist(), labels.tolist()) for rows, labels in alike(seen)]
    assert found == [([1], [[1]]), ([0, 2], [[0, 2], [0, 1]])]
    values = np.array([[1, 2, 3], [4, 5, 6]])
    assert chosen(values, np.array([[0, 2], [0, 1]])).tolist() == [[1, 3], [4, 5]]


def test_one_replica_has_no_columns() -> None:
    assert by_replica(np.array([[1, 2]])) == [None, None]
    assert [one.tolist() for one in by_replica(np.array([[1, 2], [3, 4]]))] == [[1, 3], [2, 4]]


def test_a_missing_label_shifts_a_resample_by_its_part_of_the_mean() -> None:
    whole = over(0.9, 0.3)
    # By hand: with the 0.3 of all data the 0.8 would be (0.8 + 0.3) / 2 = 0.55.
    assert pair(0.8, over(0.8, None), whole) == pytest.approx((0.8, 0.25))
    assert pair(0.25, over(None, 0.25), whole) == pytest.approx((0.25, -0.325))
    # Where all labels are there, and of what is no mean over labels, there is nothing to shift.
    assert pair(0.625, over(0.75, 0.5), whole) == (0.625, 0)
    assert pair(0.8, None, None) == (0.8, 0)
    # A resample without any label says nothing; one that all data lack takes no part either.
    assert isnan(pair(None, None, whole)[0])
    assert isnan(pair(0.0, over(None, None), whole)[0])
    never = pair(0.8, over(0.8, None, None), over(0.9, None, 0.3))
    assert never == pytest.approx((0.8, 0.25))


def test_resamples_are_centred_and_lie_apart_as_they_did() -> None:
    values, shifts = [0.8, 0.6, 0.5, np.nan, 0.9], [0.25, 0, 0, 0, 0.35]
    # By hand: (0.25 + 0.35) / 4 of those that have a value.
    expected = [0.65, 0.45, 0.35, np.nan, 0.75]
    assert of_one(values, shifts, (0, 1)) == pytest.approx(expected, nan_ok=True)
    assert of_one([0.1, 0.0], [0.4, 0], (0, None)) == [0.0, 0.0]
    assert of_one([0.1, 0.7], [0, 0], (0, 1)) == [0.1, 0.7]


def of_one(
    values: list[float], shifts: list[float], bounds: tuple[float, float | None]
) -> list[float]:
    """One value, `centred`."""
    column, of_column = np.array([values]).T, np.array([shifts], float).T
    return centred(Resampled(column, of_column), [bounds])[0].tolist()


def test_values_and_shifts_stay_side_by_side() -> None:
    counts = Resampled(np.array([[3], [4]]), np.zeros((2, 1)))
    means = Resampled(np.array([[0.5], [0.75]]), np.array([[0.0], [0.25]]))
    values, shifts = joined([counts, means], axis=1)
    assert (values.tolist(), shifts.tolist()) == ([[3, 0.5], [4, 0.75]], [[0, 0], [0, 0.25]])
    again = joined([Resampled(values, shifts)] * 2, axis=0)
    assert again.values.tolist() == [*values.tolist()] * 2
    assert again.shifts.tolist() == [*shifts.tolist()] * 2


def test_labels_of_one_image_each_are_not_taken_to_be_certain() -> None:
    # Resamples hold other labels each; none of them varies itself.
    whole = over(*(at % 2 for at in range(20)))
    rng = np.random.default_rng(0)
    found = []
    for _ in range(400):
        there = np.isin(np.arange(20), rng.integers(0, 20, 20))
        mine = LabelMean(np.where(there, whole.values, np.nan), there)
        found.append(pair(float(whole.values[there].mean()), mine, whole))
    values, shifts = np.array(found).T.tolist()
    # Filled in with what all data have, they would not lie apart at all.
    assert 0.05 < np.std(of_one(values, shifts, (0, 1))) < 0.15


IMAGES = 20


def classes(folder: Path) -> dict[str, Any]:
    """Cats and birds, nearly all right; one dog, called a cat."""
    names = ["cat", "bird"] * (IMAGES // 2)
    truth = ["dog", *names]
    scores = [(0.8, 0.1, 0.1) if one != "bird" else (0.1, 0.8, 0.1) for one in truth]
    scores[3] = (0.1, 0.8, 0.1)
    rows = [
        f"{at},{one},{','.join(map(str, score))}"
        for at, (one, score) in enumerate(zip(truth, scores, strict=True))
    ]
    (folder / "s.csv").write_text("sample_id,label,cat,bird,dog\n" + "\n".join(rows) + "\n")
    return {
        "task": "classification",
        "data": {"samples": str(folder / "s.csv")},
        "metrics": ["balanced_accuracy", "recall", "precision", "f1", "average_precision"],
    }


def test_a_rare_label_keeps_its_part_of_every_mean(tmp_path: Path) -> None:
    result = api.evaluate({**classes(tmp_path), "interval": {"resamples": 200, "seed": 0}})
    rows = [row for row in result.metrics if row.label is None and row.interval is not None]
    assert len(rows) >= 5
    for row in rows:
        low, high = row.interval
        assert low - 1e-12 <= row.value <= high + 1e-12, row
        # The rare label has 0 of it wherever it is drawn. Without it the mean would be near 1.
        if row.value < 0.7:
            assert high < 0.95, row
