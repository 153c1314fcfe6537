"""Paired tests of two models: by hand, against brute force and scipy; reasons in words."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from scipy.stats import binomtest

from tests.oracles.paired_runs import row, run, values
from valor_cli.pipeline.compare.pairing import against_baseline, comparisons_of
from valor_cli.results import ComparisonResult, IntervalsResult, ResampledResult, RunResult
from valor_cli.statistics.paired import bootstrap_p

SMALL = (0.2, 0.5, 0.4, 0.9, 0.1, 0.3, 0.6, 0.6, 0.0, 0.7, 0.8, 0.5)
LARGE = (0.4, 0.7, 0.5, 0.8, 0.4, 0.6, 0.6, 0.9, 0.3, 0.9, 0.8, 0.6)


def _only(rows: list[ComparisonResult]) -> ComparisonResult:
    (one,) = rows
    return one


def _pair(small: Any, large: Any, **rest: Any) -> RunResult:
    return run([values("f1", "small", small, **rest), values("f1", "large", large, **rest)])


def _by_all_signs(differences: Any) -> float:
    """The sign permutation by its definition, sums exact."""
    exact = [round(one * 1000) for one in differences]
    patterns = list(product((1, -1), repeat=len(exact)))
    sums = [abs(sum(s * d for s, d in zip(signs, exact, strict=True))) for signs in patterns]
    return sum(one >= abs(sum(exact)) for one in sums) / len(patterns)


def test_twelve_samples_worked_by_hand() -> None:
    one = _only(comparisons_of(_pair(SMALL, LARGE)))
    assert (one.model, one.other, one.baseline) == ("large", "small", False)
    # Differences .2 .2 .1 -.1 .3 .3 0 .3 .3 .2 0 .1: sum 1.9 over 12 samples.
    assert one.difference == pytest.approx(1.9 / 12)
    assert (one.wins, one.losses, one.ties, one.n, one.unpaired) == (9, 1, 2, 12, 0)
    # Ten differ, by 3 3 3 3 2 2 2 1 1 1 tenths: 21 in all. Of their 1,024 patterns of signs, one
    # sums to 21 and three to 19, with one of the 1s negative; as many to the other side.
    assert one.p == 2 * 4 / 1024
    assert (one.test, one.verdict, one.reason) == ("sign_permutation", "better", None)
    # Squares add up to 4 · .09 + 3 · .04 + 3 · .01 = .51.
    assert one.effect == pytest.approx(1.9 / 12 / ((0.51 - 1.9**2 / 12) / 11) ** 0.5)
    assert one.effect_kind == "cohens_d"
    assert one.interval is not None
    assert 0 < one.interval[0] < 1.9 / 12 < one.interval[1]


def test_signs_are_those_of_brute_force() -> None:
    dice = np.random.default_rng(3)
    for _ in range(5):
        small, large = (dice.integers(0, 11, 9) / 10 for _ in range(2))
        one = _only(comparisons_of(_pair(small.tolist(), large.tolist())))
        assert one.p == pytest.approx(_by_all_signs(large - small))


def test_passes_and_failures_are_mcnemars() -> None:
    small = [1.0] * 2 + [0.0] * 9 + [1.0] * 5
    large = [0.0] * 2 + [1.0] * 9 + [1.0] * 5
    one = _only(comparisons_of(_pair(small, large)))
    assert (one.test, one.wins, one.losses, one.ties) == ("mcnemar", 9, 2, 5)
    assert one.p == pytest.approx(binomtest(9, 11).pvalue)
    assert (one.effect_kind, one.effect) == ("cohens_g", pytest.approx(9 / 11 - 0.5))
    assert one.verdict == "cannot tell"  # p 0.065
    assert one.reason is None  # eleven that differ are enough; these do not differ clearly


def test_lower_is_better() -> None:
    fewer = [0.0] * 10
    rows = [values("fail", name, column, direction="lower")
            for name, column in (("small", [1.0] * 10), ("large", fewer))]  # fmt: skip
    one = _only(comparisons_of(run(rows)))
    assert (one.difference, one.verdict, one.wins, one.losses) == (-1.0, "better", 10, 0)
    assert one.effect == -0.5  # its sign is that of the difference
    assert one.interval == (-1.0, -1.0)


def test_every_pair_the_later_against_the_earlier() -> None:
    names = ("a", "b", "c")
    found = comparisons_of(run([values("f1", name, SMALL) for name in names]))
    assert [(one.model, one.other) for one in found] == [("b", "a"), ("c", "a"), ("c", "b")]


def test_holm_over_headline_values_alone_which_come_first() -> None:
    def column(ones: int) -> list[float]:
        return [1.0] * ones + [0.0] * (12 - ones)

    wins = {"other": 8, "third": 12, "second": 7, "first": 6}
    found = [values(name, "small", column(0)) for name in wins]
    found += [values(name, "large", column(ones)) for name, ones in wins.items()]
    rows = comparisons_of(run(found, primary=("first", "second", "third")))
    assert [one.metric for one in rows] == ["first", "second", "third", "other"]
    p = [2 / 2**ones for ones in (6, 7, 12, 8)]
    assert [one.p for one in rows] == pytest.approx(p)
    # The smallest times 3, the next times 2, the largest times 1, never descending.
    adjusted = [one.p_adjusted for one in rows]
    assert adjusted[:3] == pytest.approx([2 * p[1], 2 * p[1], 3 * p[2]])
    assert adjusted[3] is None
    assert [one.verdict for one in rows] == ["better"] * 4
    none_primary = comparisons_of(run(found))
    assert {one.metric: one.p_adjusted for one in none_primary}["third"] == pytest.approx(4 * p[2])


def test_too_few_to_tell_says_how_many_it_takes() -> None:
    five = _only(comparisons_of(_pair([0.0] * 12, [1.0] * 5 + [0.0] * 7)))
    assert five.p == 2 / 32
    assert (five.verdict, five.reason) == (
        "cannot tell", "only 5 samples differ: it takes 6 to tell"
    )  # fmt: skip
    six = _only(comparisons_of(_pair([0.0] * 12, [1.0] * 6 + [0.0] * 6)))
    assert (six.verdict, six.reason) == ("better", None)
    found = [values(name, model, [float(model == "large")] * 6 + [0.0] * 6)
             for model in ("small", "large") for name in ("a", "b")]  # fmt: skip
    two = comparisons_of(run(found, primary=("a", "b")))
    assert {one.reason for one in two} == {
        "only 6 samples differ: it takes 7 to tell among 2 values"
    }


def test_the_same_answers_cannot_be_told_apart() -> None:
    for column in (SMALL, [1.0, 0.0, 1.0]):
        one = _only(comparisons_of(_pair(column, column)))
        assert (one.p, one.verdict, one.reason) == (1.0, "cannot tell", "no sample differs")
        assert (one.difference, one.effect, one.effect_kind) == (0.0, None, None)
        assert one.interval == (0.0, 0.0)


def test_clusters_change_their_signs_together() -> None:
    groups = ("x",) * 6 + ("y",) * 6
    one = _only(comparisons_of(_pair([0.0] * 12, [1.0] * 12, groups=groups)))
    # Two clusters: four patterns of signs, two of them as far from 0.
    assert (one.test, one.p, one.effect_kind) == ("sign_permutation", 0.5, None)
    assert one.reason == "only 2 groups differ: it takes 6 to tell"
    own = (*range(11), None)  # one without a group stands alone
    alone = _only(comparisons_of(_pair(SMALL, LARGE, groups=own)))
    assert alone.p == _only(comparisons_of(_pair(SMALL, LARGE))).p
    passed = _only(comparisons_of(_pair([0.0] * 12, [1.0] * 12, groups=own)))
    assert (passed.test, passed.p) == ("sign_permutation", 2 / 2**12)


def test_samples_of_one_side_are_left_out_and_counted() -> None:
    small = [None, *SMALL[1:]]
    large = [*LARGE[:10], None, None]
    one = _only(comparisons_of(_pair(small, large)))
    # The first is in the large alone, the last two are in the small alone.
    assert (one.n, one.unpaired) == (9, 3)
    assert one.value == pytest.approx(sum(LARGE[1:10]) / 9)
    assert one.other_value == pytest.approx(sum(SMALL[1:10]) / 9)
    assert one.reason == "over the 9 samples that both have; 3 have it on one side only"
    inside = _only(comparisons_of(_pair(SMALL[1:10], LARGE[1:10])))
    assert (one.p, one.interval, one.effect) == (inside.p, inside.interval, inside.effect)


def test_order_of_samples_makes_no_difference_to_pairs() -> None:
    ids = [f"s{at:02}" for at in range(12)]
    one = run([values("f1", "small", SMALL, ids)])
    other = run([values("f1", "large", LARGE[::-1], ids[::-1])])
    turned = _only(against_baseline(other, one))
    plain = _only(comparisons_of(_pair(SMALL, LARGE)))
    assert (turned.p, turned.wins, turned.effect) == (
        plain.p,
        plain.wins,
        pytest.approx(plain.effect),
    )
    assert turned.baseline


def test_ids_that_python_takes_for_one_are_two() -> None:
    small = run([values("f1", "small", [0.0, 0.0, 0.0], (1, "1", True))])
    large = run([values("f1", "large", [1.0, 0.5, 0.0], (True, 1, "1"))])
    one = _only(against_baseline(large, small))
    assert (one.n, one.unpaired, one.wins, one.ties) == (3, 0, 2, 1)


def test_other_samples_cannot_be_paired() -> None:
    before = run([values("f1", "m", SMALL)])
    now = run([values("f1", "m", LARGE, [f"t{at}" for at in range(12)])])
    one = _only(against_baseline(now, before))
    assert (one.test, one.p, one.n, one.verdict, one.unpaired) == (
        None, None, None, "not tested", 24
    )  # fmt: skip
    assert one.difference == pytest.approx(1.9 / 12)
    assert one.reason == "no sample of m is in the earlier run: evaluate both on the same data"


def test_baseline_pairs_models_by_name_and_one_with_one() -> None:
    before = run([values("f1", "old", SMALL)])
    assert _only(against_baseline(run([values("f1", "new", LARGE)]), before)).other == "old"
    two = run([values("f1", "old", LARGE), values("f1", "new", LARGE)])
    assert [(one.model, one.other) for one in against_baseline(two, before)] == [("old", "old")]
    other = replace(before, task="classification")
    assert against_baseline(two, other) == []


def test_a_file_without_samples_says_what_to_keep() -> None:
    before = replace(run([values("f1", "m", SMALL)]), samples=())
    one = _only(against_baseline(run([values("f1", "m", LARGE)]), before))
    assert one.reason is not None
    assert one.reason.startswith("the earlier run has values of neither samples nor resamples")
    assert one.difference == pytest.approx(1.9 / 12)
    # A value of the corpus, beside others of samples that are there.
    result, before = (
        replace(run([values("f1", "m", column)]), metrics=(row("bleu", "m", value),))
        for column, value in ((LARGE, 0.7), (SMALL, 0.5))
    )
    one = _only(against_baseline(result, before))
    assert str(one.reason).startswith("no mean of samples, and not resampled")


def test_values_without_a_number_or_a_direction() -> None:
    found = [values("f1", "small", [None] * 3), values("f1", "large", [0.5] * 3)]
    one = _only(comparisons_of(run(found)))
    assert (one.verdict, one.reason, one.difference) == (
        "not tested", "no value in small: no samples", None
    )  # fmt: skip
    found = [values("f1", name, SMALL, direction=None) for name in ("small", "large")]
    assert comparisons_of(run(found)) == []


def test_replies_that_say_nothing_pass_nothing_where_the_value_is_a_rate() -> None:
    rows = []
    for name, column in (("small", [1.0, None, 0.0, 1.0]), ("large", [1.0, 1.0, 1.0, 1.0])):
        mean, samples, coverage = values("pass", name, column)
        said = tuple("ok" if one is not None else "parse_failure" for one in column)
        rate = sum(one or 0.0 for one in column) / 4
        rows.append((replace(mean, value=rate), replace(samples, statuses=said), coverage))
    one = _only(comparisons_of(run(rows)))
    assert (one.test, one.n, one.unpaired, one.wins) == ("mcnemar", 4, 0, 2)
    # As a mean of those with a value, the second sample has none in the small one.
    means = [(replace(mean, value=value), *rest)
             for (mean, *rest), value in zip(rows, (2 / 3, 1.0), strict=True)]  # fmt: skip
    other = _only(comparisons_of(run(means)))  # type: ignore[arg-type]
    assert (other.n, other.unpaired, other.wins) == (3, 1, 1)


ASKED = IntervalsResult(0.95, 40, 0, None)


def _resampled(model: str, column: Any, drawn: str = "d") -> ResampledResult:
    return ResampledResult("f1", "value", model, None, None, {}, drawn, column)


def _corpus(drawn: tuple[str, str] = ("d", "d")) -> RunResult:
    """Values that are no means of their samples, as BLEU of a corpus; resampled."""
    dice = np.random.default_rng(1)
    small, large = dice.normal(0.5, 0.05, 40), dice.normal(0.7, 0.05, 40)
    found = []
    for name, value, column in (("small", 0.5, SMALL), ("large", 0.7, LARGE)):
        _, samples, coverage = values("f1", name, column)
        found.append((row("f1", name, value), samples, coverage))
    resamples = (_resampled("small", [None, *small[1:].tolist()], drawn[0]),
                 _resampled("large", large.tolist(), drawn[1]))  # fmt: skip
    return run(found, intervals=ASKED, resamples=resamples)


def test_values_of_a_corpus_are_paired_by_their_resamples() -> None:
    result = _corpus()
    one = _only(comparisons_of(result))
    small, large = (np.array(each.values[1:], float) for each in result.resamples)
    differences = large - small
    assert one.test == "paired_bootstrap"
    assert one.p == bootstrap_p(differences, one.difference or 0)
    assert one.interval == pytest.approx(tuple(np.quantile(differences, (0.025, 0.975))))
    assert (one.n, one.wins, one.effect, one.verdict) == (12, None, None, "better")


def test_resamples_of_other_draws_are_no_pairs() -> None:
    one = _only(comparisons_of(_corpus(("d", "e"))))
    assert (one.test, one.difference) == (None, pytest.approx(0.2))
    assert one.reason == (
        "other samples, or other resamples of them, than in small: "
        "evaluate both with the same `interval:` on the same data"
    )
    none = _only(comparisons_of(replace(_corpus(), resamples=(), intervals=None)))
    assert none.reason == (
        "no mean of samples, and not resampled: "
        "evaluate both with the same `interval:` on the same data"
    )


def test_resamples_of_another_run_are_no_pairs() -> None:
    """An interval is that of its resamples; of another file's it is not."""
    result = _corpus()
    metrics = tuple(
        replace(
            row,
            interval=tuple(np.nanquantile(np.array(one.values, float), (0.025, 0.975)).tolist()),
            method="bootstrap",
        )
        for row, one in zip(result.metrics, result.resamples, strict=True)
    )
    result = replace(result, metrics=metrics)
    assert _only(comparisons_of(result)).test == "paired_bootstrap"
    wrong = [replace(one, values=[*one.values[:-9], *[0.9] * 9]) for one in result.resamples]
    one = _only(comparisons_of(replace(result, resamples=tuple(wrong))))
    assert (one.p, one.verdict) == (None, "not tested")
    assert (one.reason or "").startswith("the resamples of large do not give its interval")


def test_too_few_resamples_say_how_many_it_takes() -> None:
    result = _corpus()
    few = [replace(one, values=one.values[1:19]) for one in result.resamples]
    one = _only(comparisons_of(replace(result, resamples=tuple(few))))
    # The smallest p of 18 resamples is 1/19; of 20, 1/21 < 0.05.
    assert (one.p, one.verdict) == (1 / 19, "cannot tell")
    assert one.reason == "18 resamples are too few: it takes 20 to tell"


def test_the_level_of_the_run_decides() -> None:
    five = run([values("f1", name, column) for name, column in
                (("small", [0.0] * 5), ("large", [1.0] * 5))],
               intervals=IntervalsResult(0.9, 100, 0, None))  # fmt: skip
    one = _only(comparisons_of(five))
    assert (one.level, one.p, one.verdict) == (0.9, 2 / 32, "better")


def test_parameters_that_only_rows_have_are_no_hindrance() -> None:
    found = []
    for name, column in (("small", SMALL), ("large", LARGE)):
        mean, samples, coverage = values("f1", name, column, parameters={"beta": 1.0})
        found.append((replace(mean, parameters={"beta": 1.0, "model": "e5"}), samples, coverage))
    assert _only(comparisons_of(run(found))).n == 12


def test_the_model_that_a_row_rests_on_may_be_called_otherwise_than_asked() -> None:
    for asked, name in ((None, "minilm-int8"), ("models/minilm", "minilm"), (None, None)):
        found = []
        for model, column in (("small", SMALL), ("large", LARGE)):
            mean, samples, coverage = values("f1", model, column, parameters={"model": asked})
            rests_on = {"model": name, "model_sha256": "ab"}
            found.append((replace(mean, parameters=rests_on), samples, coverage))
        assert _only(comparisons_of(run(found))).n == 12


def test_of_two_measures_the_one_that_was_asked_so_counts() -> None:
    found = []
    for model, column in (("small", SMALL), ("large", LARGE)):
        for beta in (1.0, 2.0):
            own = [one * beta / 2 for one in column]
            asked = {"beta": beta, "model": None}
            mean, samples, coverage = values("f1", model, own, parameters=asked)
            rests_on = {"beta": beta, "model": "e5"}
            found.append((replace(mean, parameters=rests_on), samples, coverage))
    rows = comparisons_of(run(found))
    assert [one.difference for one in rows] == pytest.approx([1.9 / 24, 1.9 / 12])
    assert {one.n for one in rows} == {12}
