"""Calibration error: worked by hand, against plain loops, and the reliability table."""

from __future__ import annotations

import pytest

from tests.evaluators.classification.asking import plain, repeated, row_of, scored, weighed
from tests.oracles import classification as oracle
from tests.oracles.classification import Row, random_rows
from valor_cli.evaluators.classification.metrics.expected_calibration_error import (
    expected_calibration_error,
)

# Confidence and whether right: .6 yes, .75 yes, .75 no (upper end of a bin of .25), 1 yes, 0 no.
ROWS = [
    Row(0, [(0, 0.625), (1, 0.375)]),
    Row(0, [(0, 0.75), (1, 0.25)]),
    Row(0, [(1, 0.75), (0, 0.25)]),
    Row(1, [(1, 1.0)]),
    Row(1, []),
]


def test_worked_by_hand() -> None:
    found = expected_calibration_error(scored(ROWS), bins=4)
    # (.5, .75]: confidence 2.125/3, right 2/3: gap .125/3. (.75, 1]: none. [0, .25]: none.
    assert row_of(found, None).value == pytest.approx(0.125 / 5, abs=1e-15)
    assert row_of(found, None, "maximum").value == pytest.approx(0.125 / 3, abs=1e-15)
    assert row_of(found, None).n == 5
    (table,) = found.curves
    assert dict(table.points) == {
        "confidence_low": [0, 0.25, 0.5, 0.75],
        "confidence_high": [0.25, 0.5, 0.75, 1],
        "n": [1, 0, 3, 1],
        "confidence": [0, None, pytest.approx(2.125 / 3), 1],
        "accuracy": [0, None, pytest.approx(2 / 3), 1],
    }


def test_a_row_is_divided_by_its_sum_if_asked() -> None:
    rows = [Row(0, [(0, 0.4), (1, 0.1)])]
    assert row_of(expected_calibration_error(scored(rows)), None).value == pytest.approx(0.6)
    asked = expected_calibration_error(scored(rows), normalize=True)
    assert row_of(asked, None).value == pytest.approx(0.2)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("bins", [1, 10, 15])
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_against_plain_loops(seed: int, partial: bool, bins: int, normalize: bool) -> None:
    rows = random_rows(seed, partial=partial)
    for read, found in ((plain(rows), scored(rows)), (repeated(rows), weighed(rows))):
        value, maximum = oracle.calibration(read, bins, normalize=normalize)
        got = expected_calibration_error(found, bins=bins, normalize=normalize)
        assert row_of(got, None).value == pytest.approx(value, abs=1e-12)
        assert row_of(got, None, "maximum").value == pytest.approx(maximum, abs=1e-12)
        assert sum(n or 0 for n in got.curves[0].points["n"]) == len(read)


def test_no_samples() -> None:
    found = expected_calibration_error(scored([]))
    assert [value.value for value in found.values] == [None, None]
    assert all(value.undefined == "no samples" for value in found.values)
    assert not found.curves
