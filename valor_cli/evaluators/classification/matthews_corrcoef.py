"""Matthews correlation coefficient of true and top labels, for any number of labels."""

from __future__ import annotations

import math

from valor_cli.evaluators.classification.accuracy import NO_SAMPLES
from valor_cli.evaluators.classification.decisions import agreement
from valor_cli.evaluators.classification.scored import Evidence
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def matthews_corrcoef(evidence: Evidence) -> MetricValue:
    """Correlation of true label and top label: 1 for perfect, 0 for no better than chance.

    No prediction is one more predicted label. With a single label on either side there is nothing
    to correlate, and no value, where scikit-learn has 0.
    """
    found = agreement(evidence)
    n = found.total
    if not n:
        return MetricValue(None, NO_SAMPLES, n=0)
    # Whole numbers of any size: products of squares overflow 64 bits from 100,000 samples on.
    truths, predictions = found.truths.tolist(), found.predictions.tolist()
    both = sum(map(int.__mul__, truths, predictions))
    of_truths = n * n - sum(count * count for count in truths)
    of_predictions = n * n - sum(count * count for count in predictions)
    if not of_truths:
        return MetricValue(None, "a single label has ground truth", n=n)
    if not of_predictions:
        return MetricValue(None, "a single label is predicted", n=n)
    covariance = n * int(found.right.sum()) - both
    return MetricValue(covariance / math.sqrt(of_truths * of_predictions), n=n)


MATTHEWS_CORRCOEF = Metric(
    name="matthews_corrcoef",
    compute=matthews_corrcoef,
    reference="sklearn.metrics.matthews_corrcoef",
    citation="Gorodkin, Comparing two K-category assignments by a K-category correlation "
    "coefficient, Computational Biology and Chemistry, 2004",
    bounds=(-1, 1),
    aliases=("MCC", "mcc"),
    condensed=True,
)
