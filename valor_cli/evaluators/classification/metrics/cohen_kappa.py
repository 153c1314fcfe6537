"""Cohen's kappa."""

from __future__ import annotations

from valor_cli.evaluators.classification.evidence.decisions import ONE_LABEL, agreement
from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.ratios import over_samples
from valor_cli.kernels.columns.grouping import exact_quotient
from valor_cli.metric import Metric, Output
from valor_cli.results import MetricValue


def cohen_kappa(evidence: Evidence) -> MetricValue:
    """Agreement of true and top labels, corrected for chance.

    No prediction is one more predicted label. Without weights: every disagreement counts alike.

    Formula:
        (o − e) / (1 − e)
        o = right / n; e = Σ t(L)·p(L) / n², sum over labels L
        t(L), p(L): how often L is true, how often it is predicted; n: samples

    Pitfalls:
        At the same accuracy it is lower the more unequal the labels are, so values of different
        data do not compare. For labels that are steps of a scale, being one step off costs as much
        as five.

    Example:
        6 of 8 cats and 3 of 4 dogs are right, so 7 cats and 5 dogs are predicted: o is 9/12, e (8·7
        + 4·5) / 144 = 76/144, and (9/12 − 76/144) / (1 − 76/144) = 32/68 = 0.471.
    """
    found = agreement(evidence)
    # (observed - expected) / (1 - expected), both times n squared: whole numbers of any size.
    n = found.total.astype(object)
    expected = (found.truths.astype(object) * found.predictions).sum(axis=1)
    kappas = exact_quotient(n * found.correct - expected, n * n - expected)
    none = "0/0: both sides have one and the same label only"
    return over_samples(kappas, found.total, none=none)


COHEN_KAPPA = Metric(
    name="cohen_kappa",
    compute=cohen_kappa,
    needs=ONE_LABEL,
    reference="sklearn.metrics.cohen_kappa_score",
    citation="Cohen, A coefficient of agreement for nominal scales, Educational and Psychological "
    "Measurement, 1960",
    outputs=(Output(bounds=(-1, 1)),),
    aliases=("CohenKappa",),
    condensed=True,
)
