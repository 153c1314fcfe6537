"""Average precision of each label against the rest, and its mean.

The area under the steps of precision over recall, at the distinct scores: no interpolation, unlike
the average precision of detection. A sample that does not list the label scores 0 for it and is
tied with all others of that score, as in scikit-learn where the score is written out.
"""

from __future__ import annotations

from valor_cli.evaluators.classification.evidence.binary_problems import (
    areas_of_labels,
    label_areas,
)
from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.ratios import NO_LABEL, mean_over_labels
from valor_cli.kernels.ranking import binary_ranking
from valor_cli.metric import Metric
from valor_cli.results import Findings


def average_precision(evidence: Evidence) -> Findings:
    """Area under the precision-recall curve of each label, and the mean over labels.

    A label without ground truth has none and does not enter the mean; one that no sample has a
    score for has its share of the samples, the precision of taking them all.

    Formula:
        Σ (R(i) − R(i−1)) · P(i) over the distinct scores i, highest first
        P(i), R(i): precision and recall of the label in all samples that score at least i; R(0) = 0

    Pitfalls:
        A guess has the label's share of the samples, so values of labels or data with different
        shares do not compare. It is not the interpolated number of object detection that has this
        name.

    Example:
        By score: cat, dog, cat, and there are 2 cats. Precision is 1 where recall reaches 1/2, and
        2/3 where it reaches 1: 1/2·1 + 1/2·2/3 = 0.833.
    """
    areas = label_areas(evidence, binary_ranking.average_precision)
    mean = mean_over_labels(areas.values, areas.samples, NO_LABEL)
    return Findings([*areas_of_labels(evidence, binary_ranking.average_precision), mean])


AVERAGE_PRECISION = Metric(
    name="average_precision",
    compute=average_precision,
    reference="sklearn.metrics.average_precision_score",
    citation="Zhu, Recall, precision and average precision, University of Waterloo, 2004",
    condensed=True,
)
