"""Correctness and score of every sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.evidence.decisions import ONE_LABEL, count_of_rows
from valor_cli.evaluators.classification.evidence.probabilities import PROBABILITIES, mean_of_rows
from valor_cli.evaluators.classification.evidence.scores import Scored
from valor_cli.evaluators.classification.metrics.log_loss import losses
from valor_cli.evaluators.ratios import over_samples
from valor_cli.kernels.columns.grouping import nulls
from valor_cli.metric import ByParameters, Metric, Output
from valor_cli.results import Findings, MetricSamples, MetricValue, ParameterValue

Floats = NDArray[np.float64]

NO_LABEL = "has no label of this key"
NO_PROBABILITIES = "probabilities: false; scores may be anything"


def sample_scores(
    scored: Scored, *, probabilities: bool = True, normalize: bool = False
) -> Findings:
    """Correctness and true-label score of each sample, and their means.

    `correct` is 1 where the top label is right, as in accuracy, else 0, also without a prediction.
    `true_label_score` is the score of the true label as it is given, 0 where it is not listed.
    `log_loss` is the sample's part of that metric, which has `normalize` too. For scores that are
    no probabilities set `probabilities: false`; then there is `correct` alone.

    Formula:
        correct = 1 if the top label is the true one, else 0
        true_label_score = score of the true label; log_loss = −ln of its probability
        value of the run: mean over samples

    Pitfalls:
        These say where a model fails, and nothing that the metrics of the run do not: the mean of
        `correct` is accuracy. A true label may score high in a wrong answer and low in a right one.

    Example:
        A cat with cat 0.4, dog 0.35, fox 0.25: correct 1, `true_label_score` 0.4, `log_loss` −ln
        0.4 = 0.916.
    """
    columns = _columns(scored, probabilities=probabilities, normalize=normalize)
    means = [_mean(scored, name, column, normalize=normalize) for name, column in columns.items()]
    return Findings(means, samples=samples_of(scored, columns))


def samples_of(scored: Scored, columns: Mapping[str, Floats | None]) -> MetricSamples | None:
    """The values of single samples; None of a resample.

    Args:
        scored: Rows of one label key.
        columns: By output, the (n,) values of all rows; None: there are none.
    """
    if scored.resampled:
        return None
    return MetricSamples(
        [name.decode() for name in scored.sample_ids.tolist()],
        {name: nulls(_of_units(scored, column)) for name, column in columns.items()},
        _reasons(scored),
        texts=_labels(scored),
    )


def _labels(scored: Scored) -> Mapping[str, list[str | None]]:
    """The true and the top label of each sample, where samples have one label."""
    if len(scored.keys) > 1 or scored.truths is not None:
        return {}
    names = [*scored.labels, None]
    columns = np.full((2, scored.unit_count), -1)
    columns[:, scored.unit] = scored.truth, scored.top
    truth, top = ([names[label] for label in column] for column in columns.tolist())
    return {"ground_truth": truth, "prediction": top}


def _columns(
    scored: Scored, *, probabilities: bool, normalize: bool
) -> Mapping[str, Floats | None]:
    """By output, the (n,) values of all rows; None: there are none."""
    correct = scored.once("correct", lambda: (scored.top == scored.truth).astype(np.float64))
    return {
        "correct": correct,
        "true_label_score": scored.true_score if probabilities else None,
        "log_loss": losses(scored, normalize=normalize) if probabilities else None,
    }


def _mean(scored: Scored, output: str, column: Floats | None, *, normalize: bool) -> MetricValue:
    n = count_of_rows(scored)
    if column is None:
        return over_samples(np.full(len(n), np.nan), n, output, NO_PROBABILITIES)
    means = mean_of_rows(scored, (output, normalize), lambda _: column)
    return over_samples(means, n, output, proportion=output == "correct")


def _of_units(scored: Scored, column: Floats | None) -> Floats:
    """(units,) what each sample has; NaN where it has no row of this key, or there is nothing."""
    found = np.full(scored.unit_count, np.nan)
    if column is not None:
        found[scored.unit] = column
    return found


def _reasons(scored: Scored) -> list[str | None]:
    known = np.zeros(scored.unit_count, bool)
    known[scored.unit] = True
    return [None if one else NO_LABEL for one in known.tolist()]


def _needs(parameters: Mapping[str, ParameterValue]) -> tuple[str, ...]:
    return (PROBABILITIES,) if parameters["probabilities"] else ()


SAMPLE_SCORES: Final[Metric[Any]] = Metric(
    name="sample_scores",
    compute=sample_scores,
    needs=ONE_LABEL,
    reference="sklearn.metrics.accuracy_score and log_loss, sample by sample",
    citation="Good, Rational decisions, Journal of the Royal Statistical Society B, 1952",
    outputs=(
        Output("correct", "higher"),
        Output("true_label_score", "higher"),
        Output("log_loss", "lower", (0, None), "nats"),
    ),
    by_parameters=ByParameters(needs=_needs),
)
