"""Cohen's kappa of true and top labels."""

from __future__ import annotations

from valor_cli.evaluators.classification.accuracy import NO_SAMPLES
from valor_cli.evaluators.classification.decisions import agreement
from valor_cli.evaluators.classification.scored import Evidence
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def cohen_kappa(evidence: Evidence) -> MetricValue:
    """Agreement of true label and top label beyond what their frequencies give by chance.

    No prediction is one more predicted label. Without weights: every disagreement counts alike.
    """
    found = agreement(evidence)
    n = found.total
    if not n:
        return MetricValue(None, NO_SAMPLES, n=0)
    # (observed - expected) / (1 - expected), both times n squared: whole numbers of any size.
    expected = sum(map(int.__mul__, found.truths.tolist(), found.predictions.tolist()))
    if expected == n * n:
        return MetricValue(None, "0/0: both sides have one and the same label only", n=n)
    return MetricValue((n * int(found.right.sum()) - expected) / (n * n - expected), n=n)


COHEN_KAPPA = Metric(
    name="cohen_kappa",
    compute=cohen_kappa,
    reference="sklearn.metrics.cohen_kappa_score",
    citation="Cohen, A coefficient of agreement for nominal scales, Educational and Psychological "
    "Measurement, 1960",
    bounds=(-1, 1),
    aliases=("CohenKappa",),
    condensed=True,
)
