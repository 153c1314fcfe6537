"""Real predictions, where what scikit-learn 1.9.1 says of them is not what is said here."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.evaluators.classification.asking import ask, by_label, row_of
from valor_cli.data.shapes.scores.dataset import ClassificationDataset
from valor_cli.evaluators.classification.evidence.scores import score_samples
from valor_cli.evaluators.classification.load.dataset import load_classification
from valor_cli.evaluators.classification.load.inputs import ClassificationInputs
from valor_cli.kernels.ranking.scores import DenseScores
from valor_cli.metric import NoOptions, Selection

DATA = Path(__file__).parents[2] / "real_data" / "classification"
DIGITS = "digits-899-naivebayes-overconfident"


def near(value: Any) -> Any:
    return pytest.approx(value, abs=1e-9, rel=0)


def expected(name: str) -> Any:
    return json.loads((DATA / name / "expected.json").read_text())


def loaded(**paths: Path) -> ClassificationDataset:
    inputs = ClassificationInputs.model_validate({side: str(path) for side, path in paths.items()})
    (dataset,) = load_classification(inputs, NoOptions(), Selection()).datasets.values()
    return dataset


def pair(name: str) -> ClassificationDataset:
    folder = DATA / name
    return loaded(ground_truth=folder / "groundtruth.csv", predictions=folder / "predictions.csv")


def test_top_k_accuracy_prefers_the_first_listed_unless_asked() -> None:
    # Six true labels of naive Bayes have a probability of exactly 0. Two more of them stand in the
    # first five if the zeros count in the order of the columns: 892 of 899, not 890.
    found = row_of(ask("top_k_accuracy", score_samples(pair(DIGITS), None), k=5))
    assert found.value == 892 / 899


@pytest.mark.parametrize("name", ["cifar10-10000", DIGITS, "digits-899-randomforest"])
def test_scikit_learns_mean_area_is_that_of_rows_of_sum_1(name: str) -> None:
    # Dividing them by their sums makes and breaks ties.
    dataset = pair(name)
    assert isinstance(dataset.scores, DenseScores)
    score = dataset.scores.score / dataset.scores.score.sum(axis=1, keepdims=True)
    divided = replace(dataset, scores=dataclasses.replace(dataset.scores, score=score))
    mean = row_of(ask("mean_roc_auc", score_samples(divided, None)))
    assert mean.value == near(expected(name)["roc_auc_ovr_macro"])


@pytest.mark.parametrize("name", ["precision", "recall", "f1"])
def test_averages_have_what_people_said_and_nothing_is(name: str) -> None:
    folder, numbers = DATA / "human-edge-16", expected("human-edge-16")
    found = by_label(ask(name, score_samples(loaded(samples=folder / "labels.csv"), None)))
    # The 16 labels that something is; the metric's own average has "na" as a 17th.
    over = numbers["macro_over_16_true_classes"][name]
    assert np.mean([found[label] for label in numbers["per_class"]]) == near(over)
    assert found[None] == near(over * 16 / 17)
