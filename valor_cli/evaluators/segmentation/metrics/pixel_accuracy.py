"""Pixel accuracy."""

from __future__ import annotations

import numpy as np

from valor_cli.evaluators.segmentation.evidence.confusions import Confusions
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.metric import Metric
from valor_cli.results import MetricValue
from valor_cli.statistics.label_means import first_and_all

NO_PIXELS = "no pixel that counts"


def pixel_accuracy(confusions: Confusions) -> MetricValue:
    """The share of pixels, ignored ones excluded, that are predicted correctly.

    Pixels of an excluded background count too: they are right where no label is predicted.

    Formula:
        right / pixels
        right: pixels predicted as their label; pixels: all that are not ignored

    Pitfalls:
        Large regions decide: small objects can be missed altogether without a trace. Look at
        `mean_iou` beside it.

    Example:
        Of 1,000 pixels 900 are road and 100 person, and all are predicted as road: 900 / 1,000 =
        0.9.
    """
    images, weights = confusions.images(), confusions.unit_weights
    pixels, right = weights @ images.pixels, weights @ images.right
    value, why, replicas = first_and_all(quotient(right, pixels, np.nan), NO_PIXELS)
    return MetricValue(value, why, n=int(pixels[0]), replicas=replicas)


PIXEL_ACCURACY = Metric(
    name="pixel_accuracy",
    compute=pixel_accuracy,
    reference="sklearn.metrics.accuracy_score",
    citation="Long et al., Fully Convolutional Networks for Semantic Segmentation, CVPR 2015",
    aliases=("Accuracy", "accuracy", "aAcc"),
)
