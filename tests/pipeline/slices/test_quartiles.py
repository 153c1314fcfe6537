"""Ranges of the numbers of a column."""

from __future__ import annotations

import pytest

from valor_cli.pipeline.slices.quartiles import Range, number_of, quartile_ranges


def test_quartiles_are_numbers_that_occur() -> None:
    # Of 1..8 the quarters end with the 2nd, the 4th and the 6th number.
    names = list(map(str, quartile_ranges([8, 1, 5, 3, 7, 2, 6, 4])))
    assert names == ["[1, 2)", "[2, 4)", "[4, 6)", "[6, 8]"]


def test_equal_borders_are_one() -> None:
    assert list(map(str, quartile_ranges([0, 0, 0, 0, 0, 5]))) == ["[0, 5]"]
    assert list(map(str, quartile_ranges([0.25, 0, 0, 0.5]))) == ["[0, 0.25)", "[0.25, 0.5]"]
    assert list(map(str, quartile_ranges([3, 3]))) == ["[3, 3]"]


def test_every_number_is_in_one_range() -> None:
    numbers = [0.1, 0.2, 0.2, 3, 4, 4, 9, 1e9, -7]
    ranges = quartile_ranges(numbers)
    assert [sum(one.holds(number) for one in ranges) for number in numbers] == [1] * 9
    assert str(ranges[-1]).endswith("1000000000]")


def test_the_upper_bound_is_in_the_last_range_alone() -> None:
    assert not Range(1, 2).holds(2)
    assert Range(1, 2, last=True).holds(2)
    assert Range(1, 2).holds("1.5")
    assert not Range(0, 2).holds(True)
    assert not Range(0, 2).holds(None)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0),
        ("3", 3.0),
        ("-.5e1", -5.0),
        (True, None),
        (None, None),
        ("nan", None),
        ("1_000", None),
        ("1e999", None),
        ("٣", None),
        (10**400, None),
        ("9" * 50, None),
        ("", None),
    ],
)
def test_what_is_a_number(value: object, number: float | None) -> None:
    assert number_of(value) == number  # type: ignore[arg-type]
