"""Error breakdown: average precision lost to each kind of error (TIDE, ECCV 2020).

Bolya et al., TIDE: A General Toolbox for Identifying Object Detection Errors, ECCV 2020. The cost
of a kind of error is the average precision, at one IoU threshold and averaged over labels with
ground truth, that would be gained if these errors alone were fixed: wrong labels and places
corrected (for each false negative, by its best-scored detection; other detections removed),
duplicates, background and the rest removed, missed ground truth not counted. Two more costs are
those of all false positives and of all false negatives. Costs do not add up, since one error may
hide another. Unlike tidecv, labels without ground truth are not averaged, and detections of equal
score keep their order when one is fixed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.error_types import (
    CLASSIFICATION,
    LOCALISATION,
    REASONS,
    ErrorTypes,
    error_types,
)
from valor_cli.evaluators.detection.evidence.examples import example, first_of_each
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import (
    ENCOUNTERS,
    BackgroundIou,
    IouThreshold,
    MaxDetections,
)
from valor_cli.evaluators.parameters import MaxExamples
from valor_cli.evaluators.ratios import NO_LABEL
from valor_cli.kernels.columns.grouping import ranked, tie_broken_ranks
from valor_cli.kernels.ranking.precision_recall import RECALLS, Hits, interpolate
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings, MetricExample, MetricValue

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

MISSED = "missed"
KINDS = (*REASONS, MISSED)
FALSE_POSITIVE, FALSE_NEGATIVE = "false_positive", "false_negative"


def error_breakdown(
    matches: Matches,
    *,
    iou_threshold: IouThreshold = 0.5,
    background_iou: BackgroundIou = 0.1,
    max_detections: MaxDetections = 100,
    max_examples: MaxExamples = 3,
) -> Findings:
    """Error counts by reason, and the average precision that each kind costs.

    Wrong label, wrong place, both, duplicate, background, or missed; counted for all labels and
    for each, with examples by score, then image. The costs are those of all labels together, and
    of false positives and false negatives as a whole. They have no intervals.

    Formula:
        cost(kind) = mAP with the errors of that kind fixed − mAP, at least 0
        localisation: IoU from b to t with its own label; classification: from t on with another
        duplicate: from t on, but found already; background: up to b with all; both: any other
        missed: objects without another error; t: iou_threshold, b: background_iou

    Pitfalls:
        Costs do not add up to what mAP is short of 1: each kind is fixed alone, and one error may
        hide another. Many errors of a kind may cost little where they score low, so read counts and
        costs together.

    Example:
        Of two cats one is found and one is detected as a dog, with IoU 0.8. AP of cat is 51/101 =
        0.505, and 1 with the label fixed: `classification` 1, `classification_cost` 0.495.
    """
    found = error_types(matches, iou_threshold, background_iou, max_detections=max_detections)
    counts = np.array(
        [
            *(
                np.bincount(matches.label[found.reason == at], minlength=len(matches.labels))
                for at in range(len(REASONS))
            ),
            np.bincount(matches.gt_label[found.missed], minlength=len(matches.labels)),
        ]
    )
    return Findings(
        [*_counts(matches, counts), *_costs(matches, found)],
        examples=list(_examples(matches, found, max_examples)),
    )


def _counts(matches: Matches, counts: Ints) -> Iterator[MetricValue]:
    truths = matches.ground_truth_count[0].tolist()
    for kind, by_label in zip(KINDS, counts.tolist(), strict=True):
        yield MetricValue(sum(by_label), output=kind, n=sum(truths))
        for label, count, n in zip(matches.labels, by_label, truths, strict=True):
            yield MetricValue(count, output=kind, label=label, n=n)


def _costs(matches: Matches, found: ErrorTypes) -> Iterator[MetricValue]:
    truths = matches.ground_truth_count[0]
    n = int(truths.sum())
    names = (*KINDS, FALSE_POSITIVE, FALSE_NEGATIVE)
    if not n:
        for name in names:
            yield MetricValue(None, NO_LABEL, f"{name}_cost", n=n)
        return
    ranking = _Ranking(matches, found)
    before = ranking.mean_average_precision()
    after = [ranking.without(at) for at in range(len(REASONS))]
    after += [ranking.without_missed(), ranking.right_first(), ranking.nothing_missed()]
    for name, value in zip(names, after, strict=True):
        # As tidecv: rounding may take a cost of nothing below 0.
        yield MetricValue(max(value - before, 0.0), output=f"{name}_cost", n=n)


class _Ranking:
    """The evaluated detections, and their average precision after one kind of error is fixed."""

    def __init__(self, matches: Matches, found: ErrorTypes) -> None:
        self.matches = matches
        self.found = found
        self.counted = found.outcomes.counted
        self.right = found.outcomes.right
        self.truths = matches.ground_truth_count[0]

    def without(self, reason: int) -> float:
        """With the errors of one reason fixed."""
        of_kind = self.found.reason == reason
        if reason not in (CLASSIFICATION, LOCALISATION):
            return self.mean_average_precision(counted=self.counted & ~of_kind)
        mended = self._best() & of_kind
        label = self.matches.label.copy()
        label[mended] = self.matches.gt_label[self.found.aim[mended]]
        return self.mean_average_precision(
            counted=self.counted & ~(of_kind & ~mended), right=self.right | mended, label=label
        )

    def _best(self) -> Flags:
        """Of the detections that stand for a ground truth that nothing found, its best."""
        aim, matches = self.found.aim, self.matches
        rows = np.flatnonzero(aim >= 0)
        rows = rows[self.found.outcomes.found_by[aim[rows]] < 0]
        order = [-matches.score[rows], matches.number[rows]]
        best = np.zeros(len(aim), bool)
        best[rows[first_of_each(aim[rows], order, 1)]] = True
        return best

    def without_missed(self) -> float:
        """Without the missed ground truth."""
        return self._asking_less(self.found.missed)

    def nothing_missed(self) -> float:
        """Without any unmatched ground truth."""
        return self._asking_less(self.found.outcomes.missed)

    def _asking_less(self, truths: Flags) -> float:
        gone = np.bincount(self.matches.gt_label[truths], minlength=len(self.truths))
        return self.mean_average_precision(truths=self.truths - gone)

    def right_first(self) -> float:
        """With every true positive before every false one."""
        score = np.where(self.right, 1.0, 0.0)
        return self.mean_average_precision(score=score)

    def mean_average_precision(
        self,
        *,
        counted: Flags | None = None,
        right: Flags | None = None,
        label: Ints | None = None,
        score: NDArray[np.float64] | None = None,
        truths: Ints | None = None,
    ) -> float:
        """Over labels that had ground truth; one that has neither that nor detections left is out.

        Args:
            counted, right, label, score: (n,) in place of what the evidence says.
            truths: (labels,) ground truths to find.
        """
        matches = self.matches
        counted = self.counted if counted is None else counted
        right = self.right if right is None else right
        truths = self.truths if truths is None else truths
        rows = np.flatnonzero(counted)
        if label is not None or score is not None:
            label = matches.label if label is None else label
            score = matches.score if score is None else score
            place = tie_broken_ranks(score, matches.nearest)[rows]
            rows = rows[ranked(label[rows], place, matches.image[rows], matches.number[rows])]
        else:
            label = matches.label
        of_label = label[rows]
        hit = np.flatnonzero(right[rows])
        begin = np.searchsorted(of_label, of_label[hit])
        starts = np.searchsorted(of_label[hit], np.arange(len(truths) + 1))
        hits = Hits(starts, None, hit - begin + 1)
        precision = interpolate(hits, truths, RECALLS).precision.mean(axis=0)
        left = (truths > 0) | (np.bincount(of_label, minlength=len(truths)) > 0)
        kept = precision[(self.truths > 0) & left]
        return float(np.nan_to_num(kept).mean()) if len(kept) else 1.0


def _examples(matches: Matches, found: ErrorTypes, most: int) -> Iterator[MetricExample]:
    for at, kind in enumerate(REASONS):
        rows = np.flatnonzero(found.reason == at)
        order = [-matches.score[rows], matches.image[rows], matches.number[rows]]
        for row in rows[first_of_each(np.zeros(len(rows), np.int64), order, most)].tolist():
            aim = int(found.aim[row])
            yield example(matches, kind, detection=row, ground_truth=aim if aim >= 0 else None)
    rows = np.flatnonzero(found.missed)
    order = [matches.gt_image[rows], matches.gt_number[rows]]
    for row in rows[first_of_each(np.zeros(len(rows), np.int64), order, most)].tolist():
        yield example(matches, MISSED, ground_truth=row)


ERROR_BREAKDOWN = Metric(
    name="error_breakdown",
    compute=error_breakdown,
    reference="tidecv.TIDE",
    citation="Bolya et al., TIDE: A General Toolbox for Identifying Object Detection Errors, "
    "ECCV 2020",
    evidence=(ENCOUNTERS,),
    resampled=False,
    outputs=(
        *(Output(f"{kind}_cost", "lower") for kind in (*KINDS, FALSE_POSITIVE, FALSE_NEGATIVE)),
        *(Output(kind, "lower", (0, None), "count") for kind in KINDS),
    ),
    aliases=("TIDE",),
)
