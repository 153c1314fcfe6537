"""Scores of samples: worked by hand, against scikit-learn, and the metrics whose means they are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.evaluators.classification.asking import (
    HALF_RIGHT,
    repeated,
    row_of,
    scored,
    weighed,
)
from tests.oracles.classification import Row, random_rows
from tests.oracles.classification_problems import random_samples
from valor_cli.evaluators.classification.evidence.decisions import ONE_LABEL
from valor_cli.evaluators.classification.evidence.scores import Scored, by_key, score_samples
from valor_cli.evaluators.classification.metrics.accuracy import accuracy
from valor_cli.evaluators.classification.metrics.log_loss import log_loss
from valor_cli.evaluators.classification.metrics.sample_scores import SAMPLE_SCORES, sample_scores
from valor_cli.metric import Call
from valor_cli.results import Findings, MetricSamples

OUTPUTS = ("correct", "true_label_score", "log_loss")


def samples_of(findings: Findings) -> MetricSamples:
    assert findings.samples is not None
    return findings.samples


def test_worked_by_hand() -> None:
    found = sample_scores(scored(HALF_RIGHT))
    own = samples_of(found)
    assert own.columns["correct"] == [1, 1, 0, 0]
    assert own.columns["true_label_score"] == [0.9, 0.5, 0, 0.3]
    # A label that is not listed has the smallest probability there is, 2⁻⁵².
    expected = [-math.log(0.9), math.log(2), 52 * math.log(2), -math.log(0.3)]
    assert own.columns["log_loss"] == pytest.approx(expected, abs=1e-12)
    assert own.undefined == [None] * 4
    assert len(own.sample_ids) == len(set(own.sample_ids)) == 4
    assert all(isinstance(one, str) for one in own.sample_ids)
    assert row_of(found, None, "correct").value == 0.5
    assert row_of(found, None, "true_label_score").value == pytest.approx(1.7 / 4)
    assert row_of(found, None, "log_loss").value == pytest.approx(sum(expected) / 4)


def test_a_sample_without_a_prediction_is_wrong() -> None:
    own = samples_of(sample_scores(scored([Row(0, [(0, 0.0), (1, 0.0)]), Row(0, [])])))
    assert own.columns["correct"] == [0, 0]
    assert own.columns["true_label_score"] == [0, 0]


def test_scores_that_are_no_probabilities() -> None:
    logits = scored([Row(0, [(0, 7.5), (1, -2.0)]), Row(1, [(0, 3.0), (1, 2.0)])])
    found = sample_scores(logits, probabilities=False)
    assert samples_of(found).columns == {
        "correct": [1, 0],
        "true_label_score": [None, None],
        "log_loss": [None, None],
    }
    assert row_of(found, None, "correct").value == 0.5
    for output in OUTPUTS[1:]:
        value = row_of(found, None, output)
        assert value.value is None
        assert value.undefined == "probabilities: false; scores may be anything"
    assert Call(SAMPLE_SCORES, {"probabilities": False}).needs == ONE_LABEL
    assert "probabilities" in Call(SAMPLE_SCORES, {"probabilities": True}).needs


@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_means_are_accuracy_and_log_loss(seed: int, partial: bool) -> None:
    rows = random_rows(seed, partial=partial)
    for evidence in (scored(rows), weighed(rows)):
        found = sample_scores(evidence, normalize=True)
        right = row_of(found, None, "correct")
        assert right.value == pytest.approx(accuracy(evidence).value, abs=1e-15)
        assert right.n == accuracy(evidence).n
        loss = log_loss(evidence, normalize=True)
        assert row_of(found, None, "log_loss").value == pytest.approx(loss.value, abs=1e-12)


def test_against_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(6)
    score, truth = rng.dirichlet(np.full(5, 0.3), 200), rng.integers(0, 5, 200)
    rows = [Row(int(t), list(enumerate(s))) for t, s in zip(truth, score.tolist(), strict=True)]
    columns = samples_of(sample_scores(scored(rows))).columns
    alone = [
        sklearn.log_loss([one], given[None], labels=range(5))
        for one, given in zip(truth, score, strict=True)
    ]
    assert columns["log_loss"] == pytest.approx(alone, abs=1e-12)
    assert columns["correct"] == (score.argmax(axis=1) == truth).tolist()
    assert columns["true_label_score"] == score[np.arange(200), truth].tolist()


def test_resamples_weigh_the_means_and_have_no_samples() -> None:
    rows = random_rows(4, partial=True)
    again = sample_scores(weighed(rows))
    assert again.samples is None
    drawn = sample_scores(scored(repeated(rows)))
    for output in OUTPUTS:
        expected = row_of(drawn, None, output).value
        assert row_of(again, None, output).value == pytest.approx(expected, abs=1e-12)


def test_samples_with_several_labels_have_scores_of_each_key() -> None:
    whole = score_samples(random_samples(3, samples=12, keys=2), None)
    # The first sample has lost its row of the second key.
    kept = whole._rows(np.arange(len(whole.truth)) != 1)
    (_, first), (at, second) = by_key(kept)
    assert at == {"label_key": "key 1"}
    assert samples_of(sample_scores(first)).undefined == [None] * 12
    own = samples_of(sample_scores(second))
    assert own.undefined == ["has no label of this key", *[None] * 11]
    assert [column[0] for column in own.columns.values()] == [None] * 3
    assert None not in own.columns["correct"][1:]
    assert row_of(sample_scores(second), None, "correct").n == 11


def test_no_samples() -> None:
    for evidence in (scored([]), weighed([Row(0, [], weight=0)])):
        for output in OUTPUTS:
            value = row_of(sample_scores(evidence), None, output)
            assert (value.value, value.undefined, value.n) == (None, "no samples", 0)


def proportions(findings: Findings) -> set[tuple[str, str | None]]:
    return {(one.output, one.label) for one in findings.values if one.proportion}


def test_a_share_of_samples_is_said_to_be_one() -> None:
    evidence: Scored = scored(HALF_RIGHT)
    assert proportions(sample_scores(evidence)) == {("correct", None)}
