"""Real predictions: every number that scikit-learn 1.9.1 has of the same files."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.evaluators.classification.asking import by_label, row_of
from tests.evaluators.loaded import metadata_of
from valor_cli.data.shapes.scores.dataset import ClassificationDataset
from valor_cli.evaluators.classification.evidence.scores import Scored, score_samples
from valor_cli.evaluators.classification.load.dataset import load_classification
from valor_cli.evaluators.classification.load.inputs import ClassificationInputs
from valor_cli.evaluators.classification.metrics.accuracy import accuracy
from valor_cli.evaluators.classification.metrics.average_precision import average_precision
from valor_cli.evaluators.classification.metrics.balanced_accuracy import balanced_accuracy
from valor_cli.evaluators.classification.metrics.brier_score import brier_score
from valor_cli.evaluators.classification.metrics.cohen_kappa import cohen_kappa
from valor_cli.evaluators.classification.metrics.confusion_matrix import confusion_matrix
from valor_cli.evaluators.classification.metrics.expected_calibration_error import (
    expected_calibration_error,
)
from valor_cli.evaluators.classification.metrics.log_loss import log_loss
from valor_cli.evaluators.classification.metrics.matthews_corrcoef import matthews_corrcoef
from valor_cli.evaluators.classification.metrics.precision_recall import f1, precision, recall
from valor_cli.evaluators.classification.metrics.roc_auc import mean_roc_auc, roc_auc
from valor_cli.evaluators.classification.metrics.top_k_accuracy import top_k_accuracy
from valor_cli.kernels.ranking.scores import DenseScores
from valor_cli.metric import NoOptions, Selection
from valor_cli.results import MetricValue

DATA = Path(__file__).parents[2] / "real_data" / "classification"
PEOPLE = "human-edge-16"
SETS = (
    "breastcancer-342-binary",
    "cifar10-10000",
    "digits-899-naivebayes-overconfident",
    "digits-899-randomforest",
)
RATIOS = {"precision": precision, "recall": recall, "f1": f1}
PLAIN: dict[str, Callable[[Scored], MetricValue]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "cohen_kappa": cohen_kappa,
    "mcc": matthews_corrcoef,
    "log_loss_row_normalised_probs": log_loss,
    "brier_multiclass_sum": brier_score,
}


def near(value: Any) -> Any:
    return pytest.approx(value, abs=1e-9, rel=0)


def expected(name: str) -> Any:
    return json.loads((DATA / name / "expected.json").read_text())


@cache
def evidence(name: str) -> Scored:
    return score_samples(loaded(name), None)


@cache
def loaded(name: str) -> ClassificationDataset:
    folder = DATA / name
    if name == PEOPLE:
        inputs = ClassificationInputs(samples=str(folder / "labels.csv"))
    else:
        inputs = ClassificationInputs(
            ground_truth=str(folder / "groundtruth.csv"),
            predictions=str(folder / "predictions.csv"),
        )
    (dataset,) = load_classification(inputs, NoOptions(), Selection()).datasets.values()
    return dataset


@pytest.mark.parametrize("name", SETS)
def test_values_over_all_labels(name: str) -> None:
    found = {key: metric(evidence(name)).value for key, metric in PLAIN.items()}
    assert found == near({key: expected(name)[key] for key in PLAIN})


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("metric", RATIOS)
def test_precision_recall_and_f1(name: str, metric: str) -> None:
    numbers = expected(name)
    for average in ("macro", "micro", "weighted"):
        found = by_label(RATIOS[metric](evidence(name), average=average))
        each = {label: row[metric] for label, row in numbers["per_class"].items()}
        assert found == near({**each, None: numbers[average][metric]})
    for label, row in numbers["per_class"].items():
        assert row_of(RATIOS[metric](evidence(name)), label).n == row["support"]


@pytest.mark.parametrize("name", SETS)
def test_confusion_matrix(name: str) -> None:
    (table,) = confusion_matrix(evidence(name)).tables
    assert table.matrix == expected(name)["confusion_matrix_rows_gt_cols_pred"]
    assert not any(table.unmatched_ground_truths)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("bins", [10, 15])
def test_calibration(name: str, bins: int) -> None:
    found = expected_calibration_error(evidence(name), bins=bins)
    numbers = expected(name)
    assert [value.value for value in found.values] == near(
        [numbers[f"{kind}_top_label_{bins}_equal_width_bins"] for kind in ("ece", "mce")]
    )


@pytest.mark.parametrize("name", SETS[1:])
@pytest.mark.parametrize("k", [3, 5])
def test_top_k_accuracy(name: str, k: int) -> None:
    # scikit-learn prefers the last of equal scores: of the two sets of digits this is visible.
    found = top_k_accuracy(evidence(name), k=k, ties="last_listed")
    assert found.value == near(expected(name)[f"top{k}_accuracy"])


def test_top_k_accuracy_prefers_the_first_listed_unless_asked() -> None:
    # Six true labels of naive Bayes have a probability of exactly 0. Two more of them stand in the
    # first five if the zeros count in the order of the columns: 892 of 899, not 890.
    assert top_k_accuracy(evidence("digits-899-naivebayes-overconfident"), k=5).value == 892 / 899


@pytest.mark.parametrize("name", SETS[1:])
def test_roc_auc(name: str) -> None:
    numbers = expected(name)
    each = numbers["roc_auc_ovr_per_class"]
    assert by_label(roc_auc(evidence(name))) == near(each)
    assert mean_roc_auc(evidence(name)).value == near(np.mean(list(each.values())))
    # scikit-learn's mean wants rows of sum 1: dividing them makes and breaks ties.
    dataset = loaded(name)
    assert isinstance(dataset.scores, DenseScores)
    score = dataset.scores.score / dataset.scores.score.sum(axis=1, keepdims=True)
    divided = replace(dataset, scores=dataclasses.replace(dataset.scores, score=score))
    mean = mean_roc_auc(score_samples(divided, None)).value
    assert mean == near(numbers["roc_auc_ovr_macro"])


def test_areas_of_two_labels() -> None:
    numbers = expected(SETS[0])
    area = by_label(roc_auc(evidence(SETS[0])))["benign"]
    assert area == near(numbers["roc_auc_positive_benign"])
    area = by_label(average_precision(evidence(SETS[0])))["benign"]
    assert area == near(numbers["average_precision_positive_benign"])


def test_labels_that_people_gave() -> None:
    numbers, found = expected(PEOPLE), evidence(PEOPLE)
    assert accuracy(found).value == near(numbers["accuracy"])
    assert cohen_kappa(found).value == near(numbers["cohen_kappa_labels_incl_na"])
    for name, metric in RATIOS.items():
        values = by_label(metric(found))
        each = {label: values[label] for label in numbers["per_class"]}
        assert each == near({label: row[name] for label, row in numbers["per_class"].items()})
        # The 16 labels that something is; the metric's own average has "na" as a 17th, which
        # people said and nothing is.
        over = numbers["macro_over_16_true_classes"][name]
        assert np.mean(list(each.values())) == near(over)
        assert values[None] == near(over * 16 / 17)
    (table,) = confusion_matrix(found).tables
    order = [table.labels.index(label) for label in numbers["labels"]]
    matrix = np.array(table.matrix)[np.ix_(order, order)]
    assert matrix.tolist() == numbers["confusion_matrix_rows_gt_cols_pred"]


def test_slices_by_person() -> None:
    inputs = ClassificationInputs(samples=str(DATA / PEOPLE / "labels.csv"))
    people = load_classification(inputs, NoOptions(), Selection(metadata=("subject",)))
    who = np.array(metadata_of(people)["subject"])
    for person, value in expected(PEOPLE)["accuracy_by_subject"].items():
        assert accuracy(evidence(PEOPLE).select(who == person)).value == near(value)
