"""Classification wing: predicted labels and scores compared with true labels."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from valor_cli.data.shapes.scores.dataset import ClassificationDataset
from valor_cli.evaluators.classification.evidence.scores import (
    Scored,
    by_key,
    condense,
    merge_scored,
    plan_scoring,
    score_samples,
)
from valor_cli.evaluators.classification.load.dataset import load_classification
from valor_cli.evaluators.classification.load.inputs import ClassificationInputs
from valor_cli.evaluators.classification.metrics.accuracy import ACCURACY
from valor_cli.evaluators.classification.metrics.average_precision import AVERAGE_PRECISION
from valor_cli.evaluators.classification.metrics.balanced_accuracy import BALANCED_ACCURACY
from valor_cli.evaluators.classification.metrics.brier_score import BRIER_SCORE
from valor_cli.evaluators.classification.metrics.cohen_kappa import COHEN_KAPPA
from valor_cli.evaluators.classification.metrics.confusion_matrix import CONFUSION_MATRIX
from valor_cli.evaluators.classification.metrics.counts import COUNTS, counted
from valor_cli.evaluators.classification.metrics.detailed_pr_curve import DETAILED_PR_CURVE
from valor_cli.evaluators.classification.metrics.expected_calibration_error import (
    EXPECTED_CALIBRATION_ERROR,
)
from valor_cli.evaluators.classification.metrics.hamming_loss import HAMMING_LOSS
from valor_cli.evaluators.classification.metrics.label_set_scores import LABEL_SET_SCORES
from valor_cli.evaluators.classification.metrics.log_loss import LOG_LOSS
from valor_cli.evaluators.classification.metrics.matthews_corrcoef import MATTHEWS_CORRCOEF
from valor_cli.evaluators.classification.metrics.pr_curve import PR_CURVE
from valor_cli.evaluators.classification.metrics.precision_recall import (
    F1,
    JACCARD,
    PRECISION,
    RECALL,
)
from valor_cli.evaluators.classification.metrics.roc_auc import MEAN_ROC_AUC, ROC_AUC
from valor_cli.evaluators.classification.metrics.sample_scores import SAMPLE_SCORES
from valor_cli.evaluators.classification.metrics.subset_accuracy import SUBSET_ACCURACY
from valor_cli.evaluators.classification.metrics.top_k_accuracy import TOP_K_ACCURACY
from valor_cli.kernels.ranking.scores import DenseScores, SparseScores
from valor_cli.metric import MissingConfig, Stream, Task, Wing

__all__ = ["CLASSIFICATION"]

WING = Wing(
    metrics=(
        ACCURACY,
        BALANCED_ACCURACY,
        TOP_K_ACCURACY,
        COUNTS,
        PRECISION,
        RECALL,
        F1,
        JACCARD,
        SUBSET_ACCURACY,
        HAMMING_LOSS,
        MATTHEWS_CORRCOEF,
        COHEN_KAPPA,
        ROC_AUC,
        MEAN_ROC_AUC,
        AVERAGE_PRECISION,
        PR_CURVE,
        DETAILED_PR_CURVE,
        CONFUSION_MATRIX,
        LOG_LOSS,
        BRIER_SCORE,
        EXPECTED_CALIBRATION_ERROR,
        SAMPLE_SCORES,
        LABEL_SET_SCORES,
    ),
    plan=plan_scoring,
    evidence=score_samples,
    merge=merge_scored,
    condense=condense,
    stored=(Scored, DenseScores, SparseScores),
    parts=by_key,
    counted=counted,
    built_from="ranges",
)


def _in_pieces() -> Stream[ClassificationDataset]:
    from valor_cli.evaluators.classification.load.streaming import STREAM

    return STREAM


def _variant(inputs: ClassificationInputs) -> tuple[ClassificationInputs, Task[Any]]:
    """Whether samples have one label or a set of labels."""
    from valor_cli.evaluators.classification.load.recognition import has_label_lists

    if inputs.multi_label is None:
        inputs = inputs.model_copy(update={"multi_label": has_label_lists(inputs)})
    return inputs, MULTI_LABEL if inputs.multi_label else CLASSIFICATION


CLASSIFICATION = Task(
    name="classification",
    description="Labels of samples, one each or several, against labels or scores of labels that a "
    "model gives.",
    inputs=ClassificationInputs,
    load=load_classification,
    stream=_in_pieces,
    wings=(WING,),
    defaults=(
        "accuracy",
        "precision",
        "recall",
        "f1",
        "counts",
        "roc_auc",
        "mean_roc_auc",
        "confusion_matrix",
        # Where the scores are probabilities.
        "expected_calibration_error",
    ),
    primary=(
        ("accuracy", "value"),
        ("f1", "value"),
        ("precision", "value"),
        ("recall", "value"),
        ("mean_roc_auc", "value"),
        ("log_loss", "value"),
        ("expected_calibration_error", "value"),
    ),
    by_sample="sample_scores",
    variant=_variant,
    lacks={
        "label_sets": MissingConfig(
            "needs samples with sets of labels, and these have one label each",
            "For one label per sample there is `accuracy`; `multi_label: true` under `data:` "
            "makes sets of them.",
        )
    },
)

MULTI_LABEL = replace(
    CLASSIFICATION,
    defaults=(
        "subset_accuracy",
        "hamming_loss",
        "precision",
        "recall",
        "f1",
        "counts",
        "roc_auc",
        "mean_roc_auc",
        "label_set_scores",
    ),
    primary=(
        ("subset_accuracy", "value"),
        ("f1", "value"),
        ("precision", "value"),
        ("recall", "value"),
        ("mean_roc_auc", "value"),
        ("hamming_loss", "value"),
    ),
    by_sample="label_set_scores",
    instead={"hardmax": False, "score_threshold": 0.5},
    lacks={
        "one_label": MissingConfig(
            "needs one label per sample, and these have sets of labels",
            "Metrics of sets of labels: "
            + ", ".join(one.name for one in WING.metrics if "one_label" not in one.needs)
            + ".",
        ),
        "hardmax: true": MissingConfig(
            "has `hardmax: true`, with which at most one label per sample is positive, and these "
            "have sets of labels",
            "Leave `hardmax` out: each label is a decision of its own.",
        ),
    },
)
