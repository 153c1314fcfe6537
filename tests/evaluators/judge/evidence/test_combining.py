"""What several raters find of a sample, as one outcome, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from valor_cli.evaluators.judge.evidence.combining import combined
from valor_cli.evaluators.judge.evidence.one_word import rating_outcome
from valor_cli.evaluators.judge.metrics.custom_judge import CUSTOM_JUDGE
from valor_cli.evaluators.judge.metrics.faithfulness import FAITHFULNESS
from valor_cli.evaluators.judge.metrics.one_word_verdicts import SEXISM
from valor_cli.evaluators.judge.metrics.opinions import BIAS
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.verdicts import unreadable, verdict
from valor_cli.metric import Metric
from valor_cli.models.settings import Combine
from valor_cli.results import JudgeCalls, Verdict


def valued(value: float, **more: Any) -> Outcome:
    return Outcome({"value": value}, **more)


def passes(*outcomes: Outcome | int) -> list[Outcome]:
    return [one if isinstance(one, Outcome) else verdict(bool(one)) for one in outcomes]


def of(
    metric: Metric[Any],
    found: list[Outcome],
    combine: Combine | None = None,
    names: list[tuple[str, int]] | None = None,
) -> Outcome:
    """One outcome; each of a judge of its own if nothing else is said."""
    return combined(metric, names or [(f"j{at}", 0) for at in range(len(found))], found, combine)


@pytest.mark.parametrize(
    ("said", "passed"), [((1, 1, 0), 1), ((1, 0, 0), 0), ((1, 0), 0), ((0, 1), 0), ((1, 1), 1)]
)
def test_verdicts_stand_by_majority_and_ties_fail(said: tuple[int, ...], passed: int) -> None:
    for combine in (None, "majority"):
        found = of(SEXISM, passes(*said), combine)  # type: ignore[arg-type]
        assert found.values["pass"] == passed
        assert found.values["fail"] == 1 - passed
        assert found.values["parse_failures"] == 0


def test_verdicts_by_mean_are_parts() -> None:
    found = of(SEXISM, passes(1, 1, 0), "mean")
    assert found.values["pass"] == pytest.approx(2 / 3)
    assert found.values["generation_failures"] == pytest.approx(1 / 3)
    assert found.values["retrieval_failures"] is None


def test_values_stand_by_their_mean_or_by_majority_of_ties_the_worse() -> None:
    three = [valued(0.5), valued(0.5), valued(1.0)]
    assert of(FAITHFULNESS, three).values["value"] == pytest.approx(2 / 3)
    assert of(FAITHFULNESS, three, "majority").values["value"] == 0.5
    tie = [valued(0.25), valued(1.0)]
    assert of(FAITHFULNESS, tie, "majority").values["value"] == 0.25
    assert of(BIAS, tie, "majority").values["value"] == 1.0


def rating(number: int) -> Outcome:
    return rating_outcome(number, f"r{number}", passed=number >= 3, details={"cut": 3})


@pytest.mark.parametrize(
    ("ratings", "combine", "passed", "value"),
    [
        # Two of three pass; the mean of all ratings.
        ((5, 3, 1), None, 1, 3.0),
        ((1, 3, 5), None, 1, 3.0),
        ((5, 5, 1), "mean", 2 / 3, 11 / 3),
        # Of the two that pass, a tie of 5 and 3: the worse; whoever comes first.
        ((5, 3, 1), "majority", 1, 3),
        ((1, 3, 5), "majority", 1, 3),
        ((4, 4, 3, 1), "majority", 1, 4),
        # One passes, one fails: it fails, with the rating of the one that fails.
        ((5, 2), "majority", 0, 2),
        ((5, 2), None, 0, 3.5),
    ],
)
def test_ratings_beside_verdicts(
    ratings: tuple[int, ...], combine: Combine | None, passed: float, value: float
) -> None:
    found = of(CUSTOM_JUDGE, [rating(one) for one in ratings], combine)
    assert found.values["pass"] == pytest.approx(passed)
    assert found.values["rating"] == pytest.approx(value)


def test_the_words_are_of_a_rater_on_the_side_that_stands() -> None:
    # Pass stands; 4 is nearer to the mean 3.25 than 5.
    found = of(CUSTOM_JUDGE, [rating(5), rating(1), rating(4), rating(3)], None)
    assert found.reason == "r3"
    assert of(CUSTOM_JUDGE, [rating(5), rating(1)], None).reason == "r1"
    # 0 is nearer to the mean 1/6 than 0.5.
    zeros = [valued(0.5, reason="half"), valued(0.0, reason="none"), valued(0.0)]
    assert of(FAITHFULNESS, zeros).reason == "none"


def test_repeats_of_a_judge_have_one_voice() -> None:
    # x: pass pass fail -> pass; y: fail -> a tie of two voices, fails, though 2 of 4 raters pass.
    names = [("x", 0), ("x", 1), ("x", 2), ("y", 0), ("z", 0)]
    found = of(SEXISM, passes(1, 1, 1, 0, 0), None, names)
    assert found.values["pass"] == 0
    # Values: x (0 + 1) / 2 = 0.5, y 1 -> 0.75, not the mean of three, 2/3.
    values = [valued(0.0), valued(1.0), valued(1.0)]
    mean = of(FAITHFULNESS, values, None, [("x", 0), ("x", 1), ("y", 0)])
    assert mean.values["value"] == 0.75


def test_raters_that_found_nothing_have_no_voice() -> None:
    silent = unreadable("no verdict")
    found = of(SEXISM, passes(silent, 1, silent))
    assert (found.status, found.values["pass"]) == ("ok", 1)
    values = [valued(0.5), Outcome(status="judge_error", reason="down")]
    assert of(FAITHFULNESS, values).values["value"] == 0.5


def test_where_all_found_nothing_what_most_met_stands() -> None:
    error, skipped = (
        Outcome(status=status, reason=status)  # type: ignore[arg-type]
        for status in ("judge_error", "skipped")
    )
    found = of(FAITHFULNESS, [error, skipped, skipped])
    assert (found.status, found.reason, found.values) == ("skipped", "skipped", {})
    assert of(FAITHFULNESS, [error, skipped]).status == "judge_error"
    both = of(SEXISM, [unreadable("x"), unreadable("y")])
    assert both.values["parse_failures"] == 1.0


def test_details_tell_what_each_rater_found() -> None:
    named = verdict(True, reason="so", details={"class": "kind"})
    found = of(CUSTOM_JUDGE, [named, unreadable("no verdict")])
    assert found.details == {
        "class": "kind",
        "raters": [
            {
                "judge": "j0",
                "repeat": 0,
                "status": "ok",
                "values": dict(named.values),
                "reason": "so",
                "class": "kind",
            },
            {
                "judge": "j1",
                "repeat": 0,
                "status": "parse_failure",
                "values": {},
                "reason": "no verdict",
            },
        ],
    }


def test_calls_add_up_and_verdicts_say_whose_they_are() -> None:
    told = Verdict("claim", "1", True, "seen")
    bare = Verdict("claim", "0", False, "")
    found = of(
        FAITHFULNESS,
        [
            valued(1.0, verdicts=(told,), asked=JudgeCalls(2, 1, ("a", "b"))),
            valued(0.0, verdicts=(told,), asked=JudgeCalls(1, 0, ("c",))),
            valued(0.0, verdicts=(bare,), asked=JudgeCalls(1, 0, ("d",))),
        ],
        None,
        [("x", 0), ("x", 1), ("y", 0)],
    )
    assert found.asked == JudgeCalls(4, 1, ("a", "b", "c", "d"))
    # Those of the first of a judge's repeats.
    assert [one.reason for one in found.verdicts] == ["x: seen", "y"]
    alone = of(FAITHFULNESS, [valued(1.0, verdicts=(told,))] * 2, None, [("x", 0), ("x", 1)])
    assert alone.verdicts == (told,)
