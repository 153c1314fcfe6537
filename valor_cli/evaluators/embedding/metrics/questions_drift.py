"""Questions drift: whether the questions change from the first to the last samples.

The distance is that of H2O Sonar's Questions Drift Evaluator, which averages vectors that its
embedder has normalised to length 1; here the vectors of every embedder are normalised. Any two
groups of questions differ somewhat, small ones more so, so a permutation test is reported with the
distance.
"""

from __future__ import annotations

from math import floor
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval
from msgspec.structs import replace

from valor_cli.evaluators.missing_inputs import missing_input
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Ints, Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.kernels.vectors.cosines import (
    centroid,
    centroid_drift,
    distances_from,
    permutation_p,
    permuted_drifts,
)
from valor_cli.metric import Metric, Output
from valor_cli.results import STATUSES, Findings, MetricInsight, MetricValue

QUESTIONS = "questions"
"""The vectors of the questions."""

BANDS = ((0.05, "negligible"), (0.15, "low"), (0.3, "moderate"), (0.5, "high"), (2.0, "extreme"))
"""Where each kind of drift ends, and what it is called; the end belongs to the next one."""

CHANCE = 0.05
"""What chance does more often than that, it may have done."""

_NOT_APPLICABLE = STATUSES.index("not_applicable")


def questions_drift(
    texts: ModelTexts,
    *,
    split_ratio: Annotated[float, Interval(ge=0.1, le=0.9)] = 0.5,
    min_test_cases: Annotated[int, Interval(ge=2)] = 10,
    permutations: Annotated[int, Interval(ge=1, le=1_000_000)] = 1_000,
    seed: int = 0,
) -> Outcomes:
    """Cosine distance between the mean vectors of the first and the later questions.

    One number for all questions, the same for every model. Rows must be in
    the order of time: the first `split_ratio` of the questions that are not blank, rounded down,
    are one group, the others the second. Vectors are normalised to length 1 before averaging. 0 is
    no drift; below 0.05 it is negligible, below 0.15 low, below 0.3 moderate, below 0.5 high.
    `p_value` is how often questions that are shuffled drift as far, of `permutations` times and
    this one. Fewer questions than `min_test_cases` have no value. The value of a single question
    is its distance from the mean of the first ones.

    Formula:
        value = 1 − cos(mean vector of the first questions, that of the later ones)
        p_value = (1 + shuffles that drift as far) / (1 + permutations)

    Pitfalls:
        Rows out of the order of time make it meaningless, and two small groups differ by chance:
        read `p_value` first. Changes that cancel out in the mean are not seen, and the scale is the
        embedder's: under MiniLM halves of a hundred questions of one kind are up to 0.43 apart.

    Example:
        Five questions with the vector (1, 0), then five with (0.6, 0.8): 1 − 0.6 = 0.4.

    Args:
        texts: All samples of a model, in the order of time.
        split_ratio: The share of the first group.
        min_test_cases: Questions that are needed.
        permutations: How often questions are shuffled.
        seed: Decides how they are shuffled.
    """
    asked = texts.data.user_input
    found = [missing_input("user_input", one) or Outcome() for one in asked]
    rows = [at for at, one in enumerate(found) if one.status == "ok"]
    vectors = {}
    if rows:
        (units,) = texts.unit_vectors([[asked[at] or "" for at in rows]])
        vectors[QUESTIONS] = np.zeros((len(found), units.shape[1]))
        vectors[QUESTIONS][rows] = units
    return Outcomes.of(found, ["value"], vectors, beside=texts.models.embedder.beside)


def drift_of_questions(sampled: Sampled) -> Findings:
    """The drift of questions, its p-value, and an explanation."""
    rows = np.flatnonzero(sampled.scored)
    if not len(rows):
        return _undefined(sampled, sampled.why_none(), 0)
    asked = sampled.parameters
    # 0.29 of 100 are 29, whatever 0.29 is in binary.
    first = floor(len(rows) * asked["split_ratio"] + 1e-9)
    if len(rows) < asked["min_test_cases"]:
        why = f"{len(rows):,} questions are fewer than min_test_cases, {asked['min_test_cases']:,}"
        return _undefined(sampled, why, len(rows))
    if not first:
        why = f"{asked['split_ratio']:g} of {len(rows):,} questions are none"
        return _undefined(sampled, why, len(rows))
    vectors = sampled.outcomes.numbers[QUESTIONS][rows]
    value = centroid_drift(vectors, first)
    if value is None:
        why = "the vectors of a group are zeros, or cancel each other out"
        return _undefined(sampled, why, len(rows))
    by_chance = permuted_drifts(vectors, first, asked["permutations"], asked["seed"])
    p = permutation_p(value, by_chance)
    values = [MetricValue(value, n=len(rows)), MetricValue(p, output="p_value", n=len(rows))]
    told = replace(sampled, outcomes=_with_distances(sampled.outcomes, rows, first))
    return told.findings(values, insights=[_insight(sampled, value, p)])


def _undefined(sampled: Sampled, why: str, n: int) -> Findings:
    values = [MetricValue(None, why, one.name, n=n) for one in sampled.metric.outputs]
    scored, found = sampled.scored, sampled.outcomes
    outcomes = replace(
        found,
        status=np.where(scored, np.int8(_NOT_APPLICABLE), found.status),
        reasons=tuple(
            why if asked else reason for asked, reason in zip(scored, found.reasons, strict=True)
        ),
    )
    return replace(sampled, outcomes=outcomes).findings(values)


def _with_distances(found: Outcomes, rows: Ints, first: int) -> Outcomes:
    """Details of single questions: their group, and distance from the first group."""
    vectors = found.numbers[QUESTIONS][rows]
    middle = centroid(vectors[:first])
    column = np.full(len(found.status), np.nan)
    details: list[Any] = list(found.details)
    if middle is not None:
        column[rows] = distances_from(middle, vectors)
    for at, row in enumerate(rows.tolist()):
        details[row] = {"group": "first" if at < first else "later"}
    return replace(found, columns={"value": column}, details=tuple(details))


def _insight(sampled: Sampled, value: float, p: float) -> MetricInsight:
    limit = sampled.call.threshold
    if limit is None:
        limit = sampled.metric.threshold or 0.0
    if value <= limit:
        step = f"within {limit:g}: keep watching"
    elif p > CHANCE:
        step = f"past {limit:g}, and chance does as much: evaluate more questions"
    else:
        step = (
            f"past {limit:g}: find out who asks what now, and whether the data and the model "
            "still fit"
        )
    message = f"questions drift {value:.3f}: {_band(value)}, p = {p:.3g}; {step}"
    return MetricInsight("questions_drift", message, value)


def _band(value: float) -> str:
    below = 0.0
    for end, name in BANDS[:-1]:
        if value < end:
            return f"{name} ({below:g} to {end:g})"
        below = end
    return f"{BANDS[-1][1]} ({below:g} and more)"


QUESTIONS_DRIFT = Metric(
    name="questions_drift",
    measure=questions_drift,
    compute=drift_of_questions,
    outputs=(Output("value", "lower", (0, 2), "distance"), Output("p_value", None)),
    reference="H2O Sonar, Questions Drift Evaluator",
    needs=("user_input",),
    asks=("embedder",),
    resampled=False,
    threshold=0.1,
    aliases=("Questions Drift Evaluator", "QuestionsDrift"),
)
