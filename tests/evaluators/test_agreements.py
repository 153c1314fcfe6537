"""Agreement of judges and of repeats, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from valor_cli.evaluators.agreements import agreements_of

NONE = np.nan
IDS = ("a", "b", "c", "d")


def of(*values: float) -> np.ndarray:
    return np.array(values, np.float64)


def test_one_rater_agrees_with_nobody() -> None:
    assert agreements_of({}, IDS, rated=True) == ()
    assert agreements_of({("j", 0): of(1, 0, 1, 0)}, IDS, rated=True) == ()


def test_verdicts_of_two_judges() -> None:
    # Same on a, b, c. P = 3/4; passes 3 + 2 of 8: Pe = (5/8)^2 + (3/8)^2 = 34/64;
    # kappa = (48 - 34) / (64 - 34) = 14/30.
    raters = {("x", 0): of(1, 1, 0, 1), ("y", 0): of(1, 1, 0, 0)}
    (found,) = agreements_of(raters, IDS, rated=True)
    assert (found.kind, found.judge, found.raters) == ("judges", None, ("x", "y"))
    assert found.values == [0.75, 0.5]
    assert (found.n, found.agreement, found.spread) == (4, 0.75, 0.25)
    assert found.statistic == "Fleiss' kappa"
    assert found.coefficient == pytest.approx(14 / 30)
    assert (found.disagreements, found.disagreeing) == (("d",), 1)


def test_values_of_three_judges_and_the_widest_apart_first() -> None:
    # d lacks a judge: it counts for alpha alone. b is 0.5 apart, c 0.5, a 0.25; ties as they stand.
    raters = {
        ("x", 0): of(0.5, 0.0, 1.0, 1.0),
        ("y", 0): of(0.5, 0.5, 0.5, 1.0),
        ("z", 0): of(0.75, 0.25, 0.5, NONE),
    }
    (found,) = agreements_of(raters, IDS, rated=False)
    assert found.n == 3
    assert found.agreement == 0.0
    assert found.spread == pytest.approx((0.25 + 0.5 + 0.5) / 3)
    assert found.disagreements == ("b", "c", "a")
    assert found.values == pytest.approx([2.5 / 4, 2.5 / 4, 1.5 / 3])
    assert found.statistic == "Krippendorff's alpha"
    # 11 values. Squared differences of ordered pairs within: a 2 * (0 + .0625 + .0625) = .25,
    # b 2 * (.25 + .0625 + .0625) = .75, c 2 * (.25 + .25) = 1, d 0; over m - 1 = 2: sum 1 -> 1/11.
    pooled = of(0.5, 0, 1, 1, 0.5, 0.5, 0.5, 1, 0.75, 0.25, 0.5)
    expected = ((pooled[:, None] - pooled[None]) ** 2).sum() / (11 * 10)
    assert found.coefficient == pytest.approx(1 - (1 / 11) / expected)


def test_repeats_are_one_voice_among_judges_and_held_against_each_other() -> None:
    # x: a 1 0 1 -> pass; b 1 0 none -> tie, fail; c none -> none; d 1 1 1 -> pass.
    raters = {
        ("x", 0): of(1, 1, NONE, 1),
        ("x", 1): of(0, 0, NONE, 1),
        ("x", 2): of(1, NONE, NONE, 1),
        ("y", 0): of(1, 1, 1, 1),
    }
    judges, repeats = agreements_of(raters, IDS, rated=True)
    assert (judges.n, judges.agreement, judges.disagreements) == (3, pytest.approx(2 / 3), ("b",))
    assert judges.values == pytest.approx([2 / 3, 1.0])
    assert (repeats.kind, repeats.judge, repeats.raters) == ("repeats", "x", ("1", "2", "3"))
    # All three answered on a and d alone; a: 2 of 3 pass.
    assert (repeats.n, repeats.agreement, repeats.disagreements) == (2, 0.5, ("a",))
    # P = (1/3 + 1) / 2 = 2/3; shares 5/6 and 1/6: Pe = 26/36; kappa = (24 - 26) / (36 - 26).
    assert repeats.coefficient == pytest.approx(-0.2)


def test_ratings_of_a_metric_that_passes_or_fails_are_values() -> None:
    raters = {("x", 0): of(4, 3, 2, 1), ("y", 0): of(4, 4, 2, 1)}
    (found,) = agreements_of(raters, IDS, rated=True)
    assert found.statistic == "Krippendorff's alpha"
    assert found.disagreements == ("b",)


def test_judges_without_a_sample_in_common_and_all_alike() -> None:
    apart = {("x", 0): of(1, NONE), ("y", 0): of(NONE, 1)}
    (found,) = agreements_of(apart, ("a", "b"), rated=True)
    assert (found.n, found.agreement, found.spread, found.coefficient) == (0, None, None, None)
    silent = {("x", 0): of(NONE, NONE), ("y", 0): of(1, 0)}
    (found,) = agreements_of(silent, ("a", "b"), rated=True)
    assert found.values == [None, 0.5]
    alike = {("x", 0): of(1, 1), ("y", 0): of(1, 1)}
    (found,) = agreements_of(alike, ("a", "b"), rated=True)
    assert (found.agreement, found.coefficient, found.disagreeing) == (1.0, None, 0)


def test_the_list_of_disagreements_is_bounded_and_counted() -> None:
    ids = tuple(map(str, range(30)))
    raters = {("x", 0): np.zeros(30), ("y", 0): np.linspace(0.1, 1, 30)}
    (found,) = agreements_of(raters, ids, rated=False)
    assert found.disagreements == tuple(str(at) for at in range(29, 9, -1))
    assert found.disagreeing == 30
