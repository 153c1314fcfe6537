"""What the metrics of top labels have in common: scikit-learn's numbers, nothing of nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.evaluators.classification.asking import plain, repeated, scored, weighed
from tests.oracles import classification as oracle
from tests.oracles.classification import random_rows
from valor_cli.evaluators.classification.evidence.scores import Scored
from valor_cli.evaluators.classification.metrics.accuracy import accuracy
from valor_cli.evaluators.classification.metrics.balanced_accuracy import balanced_accuracy
from valor_cli.evaluators.classification.metrics.cohen_kappa import cohen_kappa
from valor_cli.evaluators.classification.metrics.matthews_corrcoef import matthews_corrcoef
from valor_cli.results import MetricValue

Compute = Callable[[Scored], MetricValue]

METRICS = [
    (accuracy, "accuracy_score"),
    (balanced_accuracy, "balanced_accuracy_score"),
    (cohen_kappa, "cohen_kappa_score"),
    (matthews_corrcoef, "matthews_corrcoef"),
]


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("metric", "name"), METRICS)
def test_against_scikit_learn(metric: Compute, name: str, seed: int, partial: bool) -> None:
    reference = getattr(pytest.importorskip("sklearn.metrics"), name)
    rows = random_rows(seed, partial=partial)
    for read, found in ((plain(rows), scored(rows)), (repeated(rows), weighed(rows))):
        expected = reference([row.truth for row in read], list(map(oracle.top, read)))
        assert metric(found).value == pytest.approx(expected, abs=1e-14)
        assert metric(found).n == len(read)


@pytest.mark.parametrize(("metric", "name"), METRICS)
def test_no_samples(metric: Compute, name: str) -> None:
    assert metric(scored([])).undefined == "no samples"
    assert metric(scored([])).value is None
