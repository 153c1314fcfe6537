"""Mean IoU and pixel accuracy of each image, their spread, and the worst images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from valor_cli.evaluators.ratios import mean_over_images
from valor_cli.evaluators.segmentation.evidence.confusions import Confusions, Ints
from valor_cli.kernels.columns.grouping import nulls, quotient
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings, MetricCurve, MetricExample, MetricSamples

Floats = NDArray[np.float64]

QUANTILES = [step / 20 for step in range(21)]
NOTHING = "no pixel of any label in the ground truth"


def image_scores(
    confusions: Confusions, *, worst: Annotated[int, Interval(ge=0, le=100)] = 12
) -> Findings:
    """Mean IoU and pixel accuracy of each image, their means and spread, and the worst images.

    Mean IoU of an image is over the labels that its ground truth has; an image without any has
    none and does not enter the mean. The `worst` images are those of lowest mean IoU, of equal
    ones those with the most wrong pixels. The curve has the value below which each part of the
    images stays.

    Formula:
        of one image: mean_iou = mean over the labels L of its ground truth of IoU(L) in that image
        of one image: pixel_accuracy = right pixels / pixels that are not ignored
        value: mean over the images that have one

    Pitfalls:
        It is not `mean_iou`, which pools pixels first: here a small image counts as much as a large
        one. A label that is predicted but not in an image's ground truth has no IoU there, and
        costs only what it covers.

    Example:
        One image has a mean IoU of 0.9, another of 0.3: (0.9 + 0.3) / 2 = 0.6.
    """
    images = confusions.images()
    columns = confusions.once("image scores", lambda: _columns(confusions))
    means = [
        mean_over_images(name, column, confusions.unit_weights) for name, column in columns.items()
    ]
    if confusions.weights is not None:
        return Findings(means)
    errors = images.pixels - images.right
    whole = {"pixels": images.pixels.tolist(), "errors": errors.tolist()}
    return Findings(
        means,
        curves=list(_spread(columns)),
        examples=list(_worst(confusions, columns["mean_iou"], errors, worst)),
        samples=MetricSamples(
            confusions.sample_ids,
            {**{name: nulls(column) for name, column in columns.items()}, **whole},
            [NOTHING if np.isnan(value) else None for value in columns["mean_iou"]],
        ),
    )


def _columns(confusions: Confusions) -> dict[str, Floats]:
    """By output, (units,) values; NaN where an image has none."""
    images = confusions.images()
    return {
        "mean_iou": _mean_ious(confusions),
        "pixel_accuracy": quotient(images.right, images.pixels, np.nan),
    }


def _mean_ious(confusions: Confusions) -> Floats:
    """(units,) mean IoU over the labels of each image's ground truth; NaN without one."""
    rows = confusions.image_labels()
    seen = rows.pixels.truth > 0
    image, count = rows.image[seen], confusions.unit_count
    ious = quotient(rows.pixels.both[seen], rows.pixels.union[seen], np.nan)
    return quotient(np.bincount(image, ious, count), np.bincount(image, minlength=count), np.nan)


def _spread(columns: dict[str, Floats]) -> Iterator[MetricCurve]:
    points: dict[str, list[float | None]] = {}
    for name, column in columns.items():
        defined = column[~np.isnan(column)]
        points[name] = (
            np.quantile(defined, QUANTILES).tolist() if len(defined) else [None] * len(QUANTILES)
        )
    if any(not np.isnan(column).all() for column in columns.values()):
        yield MetricCurve({"quantile": QUANTILES, **points})


def _worst(
    confusions: Confusions, ious: Floats, errors: Ints, most: int
) -> Iterator[MetricExample]:
    """Images without a mean IoU come last; images are in order of their ids."""
    wrong = np.flatnonzero(errors)
    order = np.lexsort((wrong, -errors[wrong], ious[wrong]))
    values = nulls(ious)
    for image in wrong[order][:most].tolist():
        sample = confusions.sample_ids[image]
        yield MetricExample("worst_image", sample, value=values[image])


IMAGE_SCORES = Metric(
    name="image_scores",
    compute=image_scores,
    reference="sklearn.metrics.jaccard_score and accuracy_score, of each image",
    citation="Csurka et al., What is a good evaluation measure for semantic segmentation?, BMVC "
    "2013",
    outputs=(Output("mean_iou", "higher"), Output("pixel_accuracy", "higher")),
)
