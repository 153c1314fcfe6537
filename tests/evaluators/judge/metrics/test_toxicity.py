"""Toxicity: shares of opinions, worked by hand."""

from __future__ import annotations

import pytest

from tests.oracles.judge_replies import asked, outcome, questions, statements, verdicts
from tests.oracles.judges import judged
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.bias import BIAS
from valor_cli.evaluators.judge.metrics.toxicity import TOXICITY
from valor_cli.results import Verdict

DATA = samples(["I like one thing. I loathe another."])


def test_worked_by_hand() -> None:
    # 1 of 2 opinions is toxic.
    found = judged(TOXICITY, DATA, [statements("like", "loathe"), verdicts(0, 1)])
    assert found.values == [0.5]
    assert asked(found) == ["opinions", "toxicity"]
    one = outcome(found)
    assert one.reason == "1 of 2 opinions toxic"
    assert one.verdicts == (
        Verdict("like", "not toxic", True, "r1"),
        Verdict("loathe", "toxic", False, "r2"),
    )
    assert one.details == {
        "opinions": [
            {"opinion": "like", "verdict": "not toxic", "reason": "r1"},
            {"opinion": "loathe", "verdict": "toxic", "reason": "r2"},
        ]
    }


def test_what_is_asked() -> None:
    first, second = questions(judged(TOXICITY, DATA, [statements("held"), verdicts(0)]))
    assert "I loathe another." in first
    assert "held" in second


@pytest.mark.parametrize(("response", "replies"), [("It is 5 o'clock.", [statements()]), (" ", [])])
def test_no_opinions(response: str, replies: list[str]) -> None:
    found = judged(TOXICITY, samples([response]), replies)
    assert found.values == [0.0]
    assert outcome(found).reason == "the response has no opinions"
    assert len(found.requests) == len(replies)


def test_opinions_are_shared() -> None:
    replies = [statements("a", "b"), verdicts(1, 1), verdicts(0, 1)]
    found = judged([(TOXICITY, {}), (BIAS, {})], DATA, replies)
    assert asked(found) == ["opinions", "toxicity", "bias"]
    assert [outcome(found, call=at).values["value"] for at in range(2)] == [1.0, 0.5]


def test_no_response() -> None:
    found = judged(TOXICITY, samples([None]), [])
    assert (outcome(found).status, outcome(found).reason) == ("missing_input", "no response")


def test_less_is_better() -> None:
    assert TOXICITY.outputs[0].better == "lower"
    (worst, *_) = (
        judged(
            TOXICITY,
            samples(["x", "y"]),
            [statements("a"), verdicts(0), statements("b"), verdicts(1)],
        )
        .findings[0]
        .examples
    )
    assert (worst.sample_id, worst.value) == ("s001", 1.0)
