"""Choose the examples of detection metrics, in a deterministic order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.kernels.columns.grouping import places_in_runs
from valor_cli.results import MetricExample, ObjectRef, Scalar

Ints = NDArray[np.int64]


def first_of_each(group: Ints, order: Sequence[NDArray[np.generic]], most: int) -> Ints:
    """The first rows of each group.

    Args:
        group: (n,) which group each row belongs to.
        order: (n,) columns that rows of a group are ordered by, the most important one first.
        most: Rows of a group at most.
    """
    rows = np.lexsort((*reversed(order), group))
    return np.asarray(rows[places_in_runs(group[rows]) < most])


def example(
    matches: Matches,
    kind: str,
    *,
    detection: int | None = None,
    ground_truth: int | None = None,
    at: Mapping[str, Scalar | Sequence[Scalar]] | None = None,
) -> MetricExample:
    """An example of one detection, one ground truth, or a pair of both.

    It stands under the label of its ground truth, else of its detection.
    """
    objects = []
    label = image = -1
    if detection is not None:
        objects.append(ObjectRef("prediction", int(matches.number[detection]), kind))
        label, image = matches.label[detection], matches.image[detection]
    if ground_truth is not None:
        objects.insert(0, ObjectRef("ground_truth", int(matches.gt_number[ground_truth]), kind))
        label, image = matches.gt_label[ground_truth], matches.gt_image[ground_truth]
    sample: Scalar = matches.image_ids[image].item()
    return MetricExample(kind, sample, matches.labels[label], tuple(objects), None, at or {})
