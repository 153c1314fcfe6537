"""Compared values in words."""

from __future__ import annotations

from tests.oracles.compared import row
from valor_cli.reports.digests.compared_values import compared_values, probability, remarks
from valor_cli.reports.digests.compared_values import tested as told_tests


def test_p_values_are_never_nothing_and_unadjusted_ones_are_marked() -> None:
    assert [probability(p) for p in (1.0, 0.05, 0.0496, 0.0494, 0.0005, 0.00049, 0.0)] == [
        "1.000", "0.050", "0.0496", "0.049", "0.001", "<0.001", "<0.001",
    ]  # fmt: skip
    rows = [row("a", 1, 0, p=0.2, p_adjusted=0.4), row("b", 1, 0, p=0.2), row("c", 1, 0)]
    assert [one.p for one in compared_values(rows)] == ["0.400", "0.200*", "–"]


def test_a_value_in_words() -> None:
    lower = row("wer", 0.1, 0.3, direction="lower", interval=(-0.25, 1.7e-17), p=0.01,
                effect=-0.416, effect_kind="cohens_d", label="cat",
                slice="weather=rain")  # fmt: skip
    told = compared_values([lower])[0]
    assert (told.other, told.value, told.difference) == ("0.300", "0.100", "−0.200")
    assert told.interval == "[−0.250, 0.000]"
    assert (told.effect, told.where, told.n) == ("d −0.42", "cat / weather=rain", "200")


def test_equal_is_told_from_cannot_tell() -> None:
    """A mean may stay the same while samples change."""
    rows = [
        row("a", 0.5, 0.5, wins=0, losses=0),
        row("a", 0.5, 0.5, wins=3, losses=3, p=1.0),
        row("a", 0.5, 0.5, test="paired_bootstrap"),
        row("a", 0.5, None),
        row("a", 0.5, 0.5, test="paired_bootstrap", interval=(-0.1, 0.1), p=1.0),
        row("a", 0.5, 0.5, test="paired_bootstrap", interval=(-1e-17, 0.0)),
    ]
    assert [one.outcome for one in compared_values(rows)] == [
        *("equal", "cannot tell", "equal", "not tested", "cannot tell", "equal"),
    ]


def test_siblings_are_told_apart_by_their_parameters() -> None:
    rows = [row("recall", 1, 0, parameters={"at": t, "same": 1}) for t in (0.5, 0.75)]
    assert [one.name for one in compared_values(rows)] == ["recall (at=0.5)", "recall (at=0.75)"]


def test_reasons_and_tests_are_said_once() -> None:
    counts = (5, 9, 9, 7, 1000)
    rows = [row(name, 1, 0, reason="too few", n=n) for name, n in zip("abcde", counts, strict=True)]
    told = compared_values([*rows, row("f", 1, 0, test="mcnemar", n=1000)])
    assert remarks(told) == ["a, b, c and 2 more: too few"]
    assert told_tests(told) == "sign permutation (n 5 to 1,000), McNemar's test (n 1,000)"
