"""Means over labels at resamples that do not hold all of them."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from valor_cli import api
from valor_cli.results import LabelMean
from valor_cli.statistics.label_means import centred, held_mean


def over(*values: float | None) -> LabelMean:
    """None: the label is not there."""
    column = np.array([np.nan if one is None else one for one in values])
    return LabelMean(column, ~np.isnan(column))


def test_a_missing_label_shifts_a_resample_by_its_part_of_the_mean() -> None:
    whole = over(0.9, 0.3)
    # By hand: with the 0.3 of all data the 0.8 would be (0.8 + 0.3) / 2 = 0.55.
    assert held_mean(0.8, over(0.8, None), whole) == pytest.approx(0.8 + 0.25j)
    assert held_mean(0.25, over(None, 0.25), whole) == pytest.approx(0.25 - 0.325j)
    # Where all labels are there, and of what is no mean over labels, there is nothing to shift.
    assert held_mean(0.625, over(0.75, 0.5), whole) == 0.625
    assert held_mean(0.8, None, None) == 0.8
    # A resample without any label says nothing; one that all data lack takes no part either.
    assert isnan(held_mean(None, None, whole).real)
    assert isnan(held_mean(0.0, over(None, None), whole).real)
    assert held_mean(0.8, over(0.8, None, None), over(0.9, None, 0.3)) == pytest.approx(0.8 + 0.25j)


def test_resamples_are_centred_and_lie_apart_as_they_did() -> None:
    found = np.array([0.8 + 0.25j, 0.6, 0.5, complex(np.nan), 0.9 + 0.35j])
    # By hand: (0.25 + 0.35) / 4 of those that have a value.
    expected = [0.65, 0.45, 0.35, np.nan, 0.75]
    assert centred(found, (0, 1)).tolist() == pytest.approx(expected, nan_ok=True)
    assert centred(np.array([0.1 + 0.4j, 0.0]), (0, None)).tolist() == [0.0, 0.0]
    plain = np.array([0.1 + 0j, 0.7])
    assert centred(plain, (0, 1)).tolist() == [0.1, 0.7]


def test_labels_of_one_image_each_are_not_taken_to_be_certain() -> None:
    # Resamples hold other labels each; none of them varies itself.
    whole = over(*(at % 2 for at in range(20)))
    rng = np.random.default_rng(0)
    found = []
    for _ in range(400):
        there = np.isin(np.arange(20), rng.integers(0, 20, 20))
        mine = LabelMean(np.where(there, whole.values, np.nan), there)
        found.append(held_mean(float(whole.values[there].mean()), mine, whole))
    # Filled in with what all data have, they would not lie apart at all.
    assert 0.05 < centred(np.array(found), (0, 1)).std() < 0.15


IMAGES = 20
SEEDS = range(3)


def detections(folder: Path) -> dict[str, Any]:
    """A cat in every image, found in all but two; one dog, never found."""
    box = {"bbox": [0, 0, 10, 10], "area": 100, "iscrowd": 0}
    truth = [{**box, "id": at, "image_id": at, "category_id": 1} for at in range(1, IMAGES + 1)]
    truth.append({**box, "id": 99, "image_id": 7, "category_id": 2, "bbox": [50, 50, 10, 10]})
    found = [{**box, "image_id": at, "category_id": 1, "score": 0.9} for at in range(3, IMAGES + 1)]
    categories = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
    images = [{"id": at, "width": 99, "height": 99} for at in range(1, IMAGES + 1)]
    document = {"images": images, "categories": categories, "annotations": truth}
    (folder / "gt.json").write_text(json.dumps(document))
    (folder / "dt.json").write_text(json.dumps(found))
    return {
        "task": "object_detection",
        "data": {"ground_truth": str(folder / "gt.json"), "predictions": str(folder / "dt.json")},
        "metrics": ["coco", "mean_average_precision", "mean_average_recall", "recall", "best_f1"],
    }


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


def label_maps(folder: Path) -> dict[str, Any]:
    """Sky in every image, nearly all right; a bird in one, called sky."""
    for at in range(IMAGES):
        truth = np.zeros((4, 4), np.uint8)
        found = truth.copy()
        if at == 7:
            truth[0, 0] = 1
        if at in (2, 3):
            found[0, :2] = 1
        for side, pixels in (("truth", truth), ("found", found)):
            (folder / side).mkdir(exist_ok=True)
            Image.fromarray(pixels).save(folder / side / f"{at:02}.png")
    return {
        "task": "semantic_segmentation",
        "data": {
            "ground_truth": str(folder / "truth"),
            "predictions": str(folder / "found"),
            "labels": ["sky", "bird"],
        },
        "metrics": ["mean_iou", "mean_accuracy", "recall", "f1", "boundary_iou"],
    }


@pytest.mark.parametrize("data", [detections, classes, label_maps])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_rare_label_keeps_its_part_of_every_mean(tmp_path: Path, data: Any, seed: int) -> None:
    interval = {"resamples": 200, "seed": seed}
    result = api.evaluate({**data(tmp_path), "interval": interval})
    rows = [row for row in result.metrics if row.label is None and row.interval is not None]
    assert len(rows) >= 5
    for row in rows:
        low, high = row.interval
        assert low - 1e-12 <= row.value <= high + 1e-12, row
        # The rare label has 0 of it wherever it is drawn. Without it the mean would be near 1.
        if row.value < 0.7:
            assert high < 0.95, row
