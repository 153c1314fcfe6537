"""Matthews correlation: worked by hand, against scikit-learn, and where it is undefined."""

from __future__ import annotations

import pytest

from tests.evaluators.classification.asking import plain, repeated, scored, weighed
from tests.oracles import classification as oracle
from tests.oracles.classification import Row, random_rows
from valor_cli.evaluators.classification.matthews_corrcoef import matthews_corrcoef

# Truth cat, cat, cat, dog; top label cat, cat, none, cow.
ROWS = [
    Row(0, [(0, 0.9), (1, 0.1)]),
    Row(0, [(0, 0.5), (1, 0.5)]),
    Row(0, []),
    Row(1, [(2, 0.7), (1, 0.3)]),
]


def test_worked_by_hand() -> None:
    # n 4, right 2; truths cat 3, dog 1; predictions cat 2, cow 1, none 1.
    # (4*2 - 3*2) / sqrt((16 - 9 - 1) * (16 - 4 - 1 - 1)) = 2 / sqrt(6 * 10)
    assert matthews_corrcoef(scored(ROWS)).value == pytest.approx(2 / 60**0.5)


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_against_scikit_learn(seed: int, partial: bool) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rows = random_rows(seed, partial=partial)
    for read, found in ((plain(rows), scored(rows)), (repeated(rows), weighed(rows))):
        expected = sklearn.matthews_corrcoef(
            [row.truth for row in read], list(map(oracle.top, read))
        )
        assert matthews_corrcoef(found).value == pytest.approx(expected, abs=1e-14)
        assert matthews_corrcoef(found).n == len(read)


def test_a_single_label_correlates_with_nothing() -> None:
    one = matthews_corrcoef(scored([Row(0, [(0, 1.0)]), Row(0, [(1, 1.0)])]))
    assert (one.value, one.undefined) == (None, "a single label has ground truth")
    other = matthews_corrcoef(scored([Row(0, [(0, 1.0)]), Row(1, [(0, 1.0)])]))
    assert (other.value, other.undefined) == (None, "a single label is predicted")


def test_large_counts_do_not_overflow() -> None:
    # 3 million samples: the product of the squares has 26 digits.
    rows = [
        Row(0, [(0, 1.0)], weight=1_000_000),
        Row(1, [(1, 1.0)], weight=1_000_000),
        Row(0, [(1, 1.0)], weight=500_000),
        Row(1, [(0, 1.0)], weight=500_000),
    ]
    # (2/3 of the rows right - 1/3 wrong), both sides even.
    assert matthews_corrcoef(weighed(rows)).value == pytest.approx(1 / 3, abs=1e-15)


def test_no_samples() -> None:
    assert matthews_corrcoef(scored([])).undefined == "no samples"
    assert matthews_corrcoef(scored([])).value is None
