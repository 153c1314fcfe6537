"""ROC AUC of each label against the rest, and its mean.

A label's curve is the true positive rate over the false positive rate as the score threshold
falls; samples of one score come together. The area is the probability that a sample of the label
scores higher than one of another label, ties counting half: Hanley and McNeil, 1982. A sample that
does not list the label scores 0 for it.
"""

from __future__ import annotations

from valor_cli.evaluators.classification.evidence.binary_problems import (
    areas_of_labels,
    label_areas,
    roc_curves,
)
from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.ratios import NO_SAMPLES, mean_over_labels
from valor_cli.kernels.ranking.binary_ranking import area_under_roc
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricCurve, MetricValue

REFERENCE = 'sklearn.metrics.roc_auc_score, multi_class="ovr"'
CITATION = (
    "Hanley and McNeil, The meaning and use of the area under a receiver operating "
    "characteristic (ROC) curve, Radiology 143, 1982"
)


def roc_auc(evidence: Evidence) -> Findings:
    """ROC AUC of each label against the rest.

    A label without samples, or of all samples, has no area; one that no sample has a score for
    scores 0 throughout, and its area is 0.5. With up to 100 labels each one's curve is drawn by at
    most 101 of its points; the first is reached by no score, so that its score is null.

    Formula:
        P(s > o) + P(s = o) / 2
        s: the label's score in a sample of the label; o: in one of another label

    Pitfalls:
        For a rare label it looks good while most alarms are false: one false alarm in 100 is 100 of
        them in 10,000 samples; `average_precision` shows that. It sees the order of scores alone,
        not what a threshold gives or whether they are probabilities.

    Example:
        Cats score 0.9 and 0.4, other samples 0.6 and 0.1: of the 4 pairs the cat is higher in 3,
        and 3 / 4 = 0.75.
    """
    values = areas_of_labels(evidence, area_under_roc, "every sample has this label")
    return Findings(values, curves=() if evidence.resampled else _curves(evidence))


def mean_roc_auc(evidence: Evidence) -> MetricValue:
    """Mean ROC AUC over the labels for which it is defined.

    `n` is the number of samples.

    Formula:
        Σ AUC(L) / number of labels L that have an AUC
        AUC(L): as `roc_auc`

    Pitfalls:
        Labels without an area drop out, whatever the model: see `roc_auc` for which. A rare label
        weighs as much as a frequent one, and one that the model never scores is worth 0.5.

    Example:
        Cat has 0.9, dog 0.7, and fox has no ground truth: (0.9 + 0.7) / 2 = 0.8.
    """
    areas = label_areas(evidence, area_under_roc)
    none = "no label has an area under its curve" if areas.samples[0] else NO_SAMPLES
    return mean_over_labels(areas.values, areas.samples, none)


def _curves(evidence: Evidence) -> list[MetricCurve]:
    return [
        MetricCurve(
            {
                "score": [None, *curve.score[1:].tolist()],
                "false_positive_rate": curve.false_positive_rate.tolist(),
                "true_positive_rate": curve.true_positive_rate.tolist(),
            },
            label=label,
        )
        for label, curve in zip(evidence.labels, roc_curves(evidence), strict=True)
        if curve is not None
    ]


ROC_AUC = Metric(
    name="roc_auc",
    compute=roc_auc,
    condensed=True,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("ROCAUC",),
)
MEAN_ROC_AUC = Metric(
    name="mean_roc_auc",
    compute=mean_roc_auc,
    condensed=True,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("mROCAUC",),
)
