"""Expected calibration error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from valor_cli.evaluators.classification.evidence.probabilities import NEEDS, divisors
from valor_cli.evaluators.classification.evidence.scores import Evidence, Scored
from valor_cli.evaluators.classification.metrics.accuracy import NO_SAMPLES
from valor_cli.kernels.columns.grouping import nulls, quotient, summed
from valor_cli.kernels.ranking.exact_sums import ExactSums, exact_sums
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings, MetricCurve, MetricValue

Bins = Annotated[int, Interval(ge=1, le=1000)]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def expected_calibration_error(
    evidence: Evidence, *, bins: Bins = 15, normalize: bool = False
) -> Findings:
    """Expected calibration error: mean gap between confidence and accuracy over bins.

    Probabilities of top labels fall into `bins` bins of equal width, upper ends included (0 is in
    the first). `value` is the mean over bins, by their samples; `maximum` is the worst bin's. The
    curve is the reliability table. A sample without a prediction has confidence 0 and counts as
    wrong. Rows whose sum is 1 but for rounding (1e-3) are divided by it, with `normalize` all are.

    Formula:
        value = Σ n(b)/n · |accuracy(b) − confidence(b)| over bins b; maximum = the largest such gap
        confidence(b): mean probability of the top labels in bin b; accuracy(b): share that is right
        n(b), n: samples in the bin, in all

    Pitfalls:
        It depends on the number of bins, and `maximum` is often that of a bin with hardly a sample:
        look at the table. A model that gives every sample the same label, with the probability of
        being right, has 0: calibrated is not accurate.

    Example:
        10 samples are in a bin of mean confidence 0.9, and 7 are right: a gap of 0.2. 10 others are
        in a bin without a gap: value (10·0.2 + 10·0) / 20 = 0.1, maximum 0.2.
    """
    # 7/35 and linspace's eighth of 36 differ in the last bit; a score that is either is in the bin
    # below.
    edges = np.maximum(np.linspace(0, 1, bins + 1), np.arange(bins + 1) / bins)
    found = _binned(evidence, edges, normalize=normalize)
    n = int(found.n.sum())
    if not n:
        values = [MetricValue(None, NO_SAMPLES, output, n=0) for output in ("value", "maximum")]
        return Findings(values)
    gap = np.abs(found.confidence - found.right)
    return Findings(
        [
            MetricValue(float(gap.sum() / n), n=n),
            MetricValue(float(quotient(gap, found.n, 0).max()), output="maximum", n=n),
        ],
        curves=[_reliability(found, edges)],
    )


class _Placed(NamedTuple):
    """(n,) the bin of each row, the confidence in its top label, and whether that is right."""

    place: Ints
    confidence: Floats
    right: NDArray[np.bool_]


class Calibration(NamedTuple):
    """(bins,) rows, summed confidence, and correct rows of each bin."""

    n: Ints
    confidence: ExactSums
    right: Ints

    @staticmethod
    def merged(parts: Sequence[Calibration]) -> Calibration:
        """Sum over parts."""
        n, confidence, right = zip(*parts, strict=True)
        return Calibration(sum(n), ExactSums.merged(confidence), sum(right))


class _Binned(NamedTuple):
    """As `Calibration`, with rounded sums."""

    n: Ints
    confidence: Floats
    right: Ints


def _placed(scored: Scored, edges: Floats, *, normalize: bool) -> _Placed:
    confidence = scored.top_score / divisors(scored, normalize=normalize)
    place = np.minimum(np.searchsorted(edges[1:], confidence, side="left"), len(edges) - 2)
    return _Placed(place, confidence, scored.top == scored.truth)


def _binned(evidence: Evidence, edges: Floats, *, normalize: bool) -> _Binned:
    """The sums of each bin; of a resample, of which there are many, those of floats are rounded."""
    bins, name = len(edges) - 1, ("calibration", len(edges) - 1, normalize)

    def found(scored: Scored) -> _Placed:
        return scored.once(name, lambda: _placed(scored, edges, normalize=normalize))

    if isinstance(evidence, Scored) and evidence.row_weights is not None:
        rows, weights = found(evidence), evidence.row_weights
        return _Binned(
            summed(rows.place, weights, bins),
            np.bincount(rows.place, rows.confidence * weights, bins).astype(np.float64),
            summed(rows.place, rows.right * weights, bins),
        )
    sums = evidence.tally(name, lambda scored: _calibrated(found(scored), bins))
    return _Binned(sums.n, sums.confidence.rounded(), sums.right)


def _calibrated(rows: _Placed, bins: int) -> Calibration:
    return Calibration(
        summed(rows.place, None, bins),
        exact_sums(rows.confidence, rows.place, bins),
        summed(rows.place, rows.right, bins),
    )


def _reliability(found: _Binned, edges: Floats) -> MetricCurve:
    """A row per bin: its ends, its rows, their mean confidence, and how many are right."""
    return MetricCurve(
        {
            "confidence_low": edges[:-1].tolist(),
            "confidence_high": edges[1:].tolist(),
            "n": found.n.tolist(),
            "confidence": nulls(quotient(found.confidence, found.n, np.nan)),
            "accuracy": nulls(quotient(found.right, found.n, np.nan)),
        }
    )


EXPECTED_CALIBRATION_ERROR = Metric(
    name="expected_calibration_error",
    compute=expected_calibration_error,
    reference="torchmetrics.classification.MulticlassCalibrationError, norm l1 and max",
    citation="Guo et al., On calibration of modern neural networks, ICML 2017",
    outputs=(Output("value", "lower"), Output("maximum", "lower")),
    needs=NEEDS,
    condensed=True,
    aliases=("ECE", "ece"),
)
