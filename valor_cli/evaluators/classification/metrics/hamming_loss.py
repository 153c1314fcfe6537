"""Hamming loss: the share of wrong decisions on labels.

Labels that no sample has and no model of the run lists are decisions, too, if `classes` has them.
"""

from __future__ import annotations

import numpy as np

from valor_cli.evaluators.classification.evidence.decisions import (
    LABEL_SETS,
    count_of_rows,
    label_counts,
)
from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.parameters import ScoreThreshold
from valor_cli.evaluators.ratios import over_samples
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.metric import Metric, Output
from valor_cli.results import MetricValue


def hamming_loss(evidence: Evidence, *, score_threshold: ScoreThreshold = 0.5) -> MetricValue:
    """The share of pairs of a sample and a label that are decided wrongly.

    A label is positive where its score is at least the threshold, and not 0. Labels are all that
    the ground truth, `classes` or any model of the run lists.

    Formula:
        Σ (FP + FN) over labels / (n · labels)

    Pitfalls:
        Where samples have few of many labels it is near 0 for a model that predicts none: the share
        of true labels. More labels under `classes` lower it.

    Example:
        Labels cat, dog, fox; true labels {cat, dog}, {cat} and positive labels {cat}, {cat, fox}:
        dog is missed once and fox is wrong once, 2 / (2 · 3) = 0.333.
    """
    found, n = label_counts(evidence, score_threshold, hardmax=False), count_of_rows(evidence)
    wrong = found.fp.sum(axis=1) + found.fn.sum(axis=1)
    share = quotient(wrong, n * len(evidence.labels), np.nan)
    return over_samples(share, n, none="no labels")


HAMMING_LOSS = Metric(
    name="hamming_loss",
    compute=hamming_loss,
    needs=LABEL_SETS,
    reference="sklearn.metrics.hamming_loss",
    citation="Schapire and Singer, BoosTexter, Machine Learning 39, 2000",
    outputs=(Output(better="lower"),),
    condensed=True,
)
