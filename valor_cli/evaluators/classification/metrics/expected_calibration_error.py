"""Expected calibration error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from valor_cli.evaluators.classification.evidence.probabilities import NEEDS, divisors
from valor_cli.evaluators.classification.evidence.scores import Evidence, Scored
from valor_cli.evaluators.ratios import over_samples
from valor_cli.kernels.columns.grouping import nulls, quotient
from valor_cli.kernels.ranking.exact_sums import (
    ExactSums,
    exact_parts,
    exact_sums,
    weighted_sums,
)
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings, MetricCurve

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
    n = found.n.sum(axis=1)
    gap = np.abs(found.confidence - found.right)
    worst = np.where(n, quotient(gap, found.n, 0).max(axis=1), np.nan)
    values = [
        over_samples(quotient(gap.sum(axis=1), n, np.nan), n),
        over_samples(worst, n, "maximum"),
    ]
    return Findings(values, curves=[_reliability(found, edges)] if n[0] else ())


class _Placed(NamedTuple):
    """(n,) the bin of each row, the confidence in its top label, and whether that is right."""

    place: Ints
    confidence: Floats
    right: NDArray[np.bool_]


class Calibration(NamedTuple):
    """Rows and correct rows of each bin, (replicas, bins), and its summed confidence."""

    n: Ints
    confidence: ExactSums
    right: Ints

    @staticmethod
    def merged(parts: Sequence[Calibration]) -> Calibration:
        """Sum over parts."""
        n, confidence, right = zip(*parts, strict=True)
        return Calibration(sum(n), ExactSums.merged(confidence), sum(right))


class _Binned(NamedTuple):
    """As `Calibration`; sums of confidence are (replicas, bins)."""

    n: Ints
    confidence: Floats
    right: Ints


def _placed(scored: Scored, edges: Floats, *, normalize: bool) -> _Placed:
    confidence = scored.top_score / divisors(scored, normalize=normalize)
    place = np.minimum(np.searchsorted(edges[1:], confidence, side="left"), len(edges) - 2)
    return _Placed(place, confidence, scored.top == scored.truth)


def _binned(evidence: Evidence, edges: Floats, *, normalize: bool) -> _Binned:
    bins, name = len(edges) - 1, ("calibration", len(edges) - 1, normalize)

    def found(scored: Scored) -> _Placed:
        return scored.once(name, lambda: _placed(scored, edges, normalize=normalize))

    def counted(scored: Scored) -> tuple[Ints, Ints]:
        rows = found(scored)
        cell = rows.place + bins * rows.right
        wrong, right = np.hsplit(scored.counts(name, cell, None, 2 * bins), 2)
        return wrong + right, right

    if isinstance(evidence, Scored) and evidence.resampled:
        n, right = counted(evidence)
        parts = evidence.once((*name, "parts"), lambda: _parts_of_bins(found(evidence), bins))
        weights = evidence.row_weights
        sums = [weighted_sums(weights[:, rows], confidence) for rows, confidence in parts]
        return _Binned(n, np.concatenate(sums).T, right)

    def calibrated(scored: Scored) -> Calibration:
        n, right = counted(scored)
        rows = found(scored)
        return Calibration(n, exact_sums(rows.confidence, rows.place, bins), right)

    whole = evidence.tally(name, calibrated)
    return _Binned(whole.n, whole.confidence.rounded()[None], whole.right)


def _parts_of_bins(rows: _Placed, bins: int) -> list[tuple[Ints, Floats]]:
    """The rows of each bin, and the `exact_parts` of their confidence."""
    order = np.argsort(rows.place, kind="stable")
    ends = np.cumsum(np.bincount(rows.place, minlength=bins))[:-1]
    return [(own, exact_parts(rows.confidence[None, own])) for own in np.split(order, ends)]


def _reliability(found: _Binned, edges: Floats) -> MetricCurve:
    """A row per bin of the first replica: its ends, its rows, their confidence, and accuracy."""
    return MetricCurve(
        {
            "confidence_low": edges[:-1].tolist(),
            "confidence_high": edges[1:].tolist(),
            "n": found.n[0].tolist(),
            "confidence": nulls(quotient(found.confidence, found.n, np.nan)[0]),
            "accuracy": nulls(quotient(found.right, found.n, np.nan)[0]),
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
