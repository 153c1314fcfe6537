"""Counts: worked by hand, against plain loops and scikit-learn, and their sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.evaluators.classification.asking import (
    LABELS,
    by_label,
    plain,
    repeated,
    row_of,
    scored,
    weighed,
)
from tests.oracles import classification as oracle
from tests.oracles.classification import Row, random_rows
from valor_cli.evaluators.classification.metrics.counts import counts
from valor_cli.results import Findings

OUTPUTS = ("tp", "fp", "fn", "tn")

# Three labels, cat dog cow (0 1 2); what is positive at 0.3:
#   truth  cat   dog   cow     hardmax   else
#   cat    .6    .4    0       cat       cat, dog
#   cat    .3    .3    .4      cow       all
#   dog    .5    .5    0       cat, of equal ones the first   cat, dog
#   cow    .2    .2    .2      none      none
#   cow    0     0     0       none      none
ROWS = [
    Row(0, [(0, 0.6), (1, 0.4), (2, 0.0)]),
    Row(0, [(0, 0.3), (1, 0.3), (2, 0.4)]),
    Row(1, [(0, 0.5), (1, 0.5), (2, 0.0)]),
    Row(2, [(0, 0.2), (1, 0.2), (2, 0.2)]),
    Row(2, [(0, 0.0), (1, 0.0), (2, 0.0)]),
]


def outcomes(findings: Findings, labels: tuple[str, ...] = LABELS) -> list[tuple[Any, ...]]:
    """tp, fp, fn, tn of each label."""
    columns = [by_label(findings, output) for output in OUTPUTS]
    return [tuple(column[label] for column in columns) for label in labels]


def test_worked_by_hand() -> None:
    found = scored(ROWS, LABELS[:3])
    # cat: rows 0, 1 have it; positive in 0 and 2. dog: row 2 has it, nowhere positive. cow: rows 3
    # and 4 have it, positive in row 1.
    assert outcomes(counts(found, score_threshold=0.3), LABELS[:3]) == [
        (1, 1, 1, 2),
        (0, 0, 1, 4),
        (0, 1, 2, 2),
    ]
    # cat: positive in 0, 1, 2. dog too. cow: in row 1.
    assert outcomes(counts(found, score_threshold=0.3, hardmax=False), LABELS[:3]) == [
        (2, 1, 0, 2),
        (1, 2, 0, 2),
        (0, 1, 2, 2),
    ]
    # At 0 row 3 says cat under hardmax, all labels else; row 4 still says nothing.
    assert outcomes(counts(found), LABELS[:3]) == [(1, 2, 1, 1), (0, 0, 1, 4), (0, 1, 2, 2)]
    assert outcomes(counts(found, hardmax=False), LABELS[:3]) == [
        (2, 2, 0, 1),
        (1, 3, 0, 1),
        (1, 1, 1, 2),
    ]


def test_a_threshold_is_reached_by_what_equals_it() -> None:
    found = scored([Row(0, [(0, 0.25)])])
    assert row_of(counts(found, score_threshold=0.25), "cat", "tp").value == 1
    assert row_of(counts(found, score_threshold=0.26), "cat", "tp").value == 0


def test_a_score_of_zero_is_never_positive() -> None:
    found = scored([Row(0, [(0, 0.0), (1, -1.0)])])
    for hardmax in (True, False):
        least = counts(found, score_threshold=-0.5, hardmax=hardmax)
        assert row_of(least, "cat", "tp").value == 0
        assert row_of(least, "dog", "fp").value == 0


@pytest.mark.parametrize("hardmax", [True, False])
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.5])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_against_plain_loops(seed: int, threshold: float, partial: bool, hardmax: bool) -> None:
    rows = random_rows(seed, partial=partial)
    same = dict.fromkeys(range(5), threshold)
    found = counts(scored(rows), score_threshold=threshold, hardmax=hardmax)
    assert outcomes(found) == oracle.counts(plain(rows), 5, same, hardmax=hardmax)
    found = counts(weighed(rows), score_threshold=threshold, hardmax=hardmax)
    assert outcomes(found) == oracle.counts(rows, 5, same, hardmax=hardmax)


@pytest.mark.parametrize("hardmax", [True, False])
def test_each_label_has_its_threshold(hardmax: bool) -> None:
    rows = random_rows(4, partial=True)
    by_name = {"dog": 0.3, "owl": 0.6}
    found = counts(scored(rows), score_threshold=by_name, hardmax=hardmax)
    assert outcomes(found) == oracle.counts(plain(rows), 5, {1: 0.3, 3: 0.6}, hardmax=hardmax)
    assert row_of(found, "dog", "fp").at == {"score_threshold": 0.3}
    assert row_of(found, "cat", "fp").at == {"score_threshold": 0.0}
    assert row_of(counts(scored(rows)), "cat", "fp").at == {}


@pytest.mark.parametrize("hardmax", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_every_ground_truth_is_found_or_missed_once(seed: int, hardmax: bool) -> None:
    rows = random_rows(seed, partial=True)
    for rows_read, found in ((plain(rows), scored(rows)), (repeated(rows), weighed(rows))):
        for label, (tp, fp, fn, tn) in enumerate(
            outcomes(counts(found, score_threshold=0.3, hardmax=hardmax))
        ):
            truths = sum(row.truth == label for row in rows_read)
            assert tp + fn == truths
            assert tp + fp + fn + tn == len(rows_read)
            assert row_of(counts(found), LABELS[label], "tp").n == truths


@pytest.mark.parametrize("hardmax", [True, False])
def test_against_scikit_learn(hardmax: bool) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(11)
    score, truth = rng.dirichlet(np.ones(5), 200), rng.integers(0, 5, 200)
    rows = [Row(int(t), list(enumerate(s))) for t, s in zip(truth, score.tolist(), strict=True)]
    if hardmax:
        tables = sklearn.multilabel_confusion_matrix(truth, score.argmax(axis=1))
    else:
        tables = sklearn.multilabel_confusion_matrix(np.eye(5, dtype=int)[truth], score >= 0.3)
    found = counts(scored(rows), score_threshold=0.0 if hardmax else 0.3, hardmax=hardmax)
    assert outcomes(found) == [(t[1, 1], t[0, 1], t[1, 0], t[0, 0]) for t in tables]


def test_no_samples() -> None:
    assert outcomes(counts(scored([]))) == [(0, 0, 0, 0)] * 5
    assert outcomes(counts(scored([]), hardmax=False)) == [(0, 0, 0, 0)] * 5
