"""Cohen'\''s kappa: worked by hand, against scikit-learn, and where it is undefined."""

from __future__ import annotations

import pytest

from tests.evaluators.classification.asking import plain, repeated, scored, weighed
from tests.oracles import classification as oracle
from tests.oracles.classification import Row, random_rows
from valor_cli.evaluators.classification.cohen_kappa import cohen_kappa

# Truth cat, cat, cat, dog; top label cat, cat, none, cow.
ROWS = [
    Row(0, [(0, 0.9), (1, 0.1)]),
    Row(0, [(0, 0.5), (1, 0.5)]),
    Row(0, []),
    Row(1, [(2, 0.7), (1, 0.3)]),
]


def test_worked_by_hand() -> None:
    # Observed 2/4; by chance cat 3/4 * 2/4, dog 0: 3/8. (1/2 - 3/8) / (1 - 3/8).
    assert cohen_kappa(scored(ROWS)).value == pytest.approx(1 / 5)


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_against_scikit_learn(seed: int, partial: bool) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rows = random_rows(seed, partial=partial)
    for read, found in ((plain(rows), scored(rows)), (repeated(rows), weighed(rows))):
        expected = sklearn.cohen_kappa_score(
            [row.truth for row in read], list(map(oracle.top, read))
        )
        assert cohen_kappa(found).value == pytest.approx(expected, abs=1e-14)
        assert cohen_kappa(found).n == len(read)


def test_one_label_on_both_sides_says_nothing() -> None:
    found = cohen_kappa(scored([Row(0, [(0, 1.0)]), Row(0, [(0, 0.5)])]))
    assert found.value is None
    assert found.undefined is not None
    assert found.undefined.startswith("0/0")


def test_no_prediction_at_all_is_no_better_than_chance() -> None:
    assert cohen_kappa(scored([Row(0, []), Row(1, [])])).value == 0


def test_no_samples() -> None:
    assert cohen_kappa(scored([])).undefined == "no samples"
    assert cohen_kappa(scored([])).value is None
