"""Summary coherence: ratings."""

from __future__ import annotations

import pytest

from tests.oracles.judge_replies import asked, outcome, questions, rating
from tests.oracles.judges import judged
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.summary_coherence import SUMMARY_COHERENCE
from valor_cli.results import Verdict

DATA = samples(["the summary"], user_input=["the long text"])


@pytest.mark.parametrize("points", [1, 2, 3, 4, 5])
def test_rated(points: int) -> None:
    found = judged(SUMMARY_COHERENCE, DATA, [rating(points)])
    assert found.values == [float(points)]
    assert asked(found) == ["summary_coherence"]
    one = outcome(found)
    assert one.reason == f"rated {points} of 5: because"
    assert one.verdicts == (Verdict("", str(points), None, "because"),)
    assert one.details == {"rating": points, "reason": "because"}


@pytest.mark.parametrize("said", [rating(0), rating(6), rating(4.5), rating(-1)])
def test_out_of_the_scale(said: str) -> None:
    found = judged(SUMMARY_COHERENCE, DATA, [said, rating(2)])
    assert found.values == [2.0]
    assert asked(found) == ["summary_coherence"] * 2
    assert outcome(judged(SUMMARY_COHERENCE, DATA, [said, said])).status == "parse_failure"


def test_mean_in_points() -> None:
    data = samples(["x", "y", "z"], user_input=["q", "q", None])
    found = judged(SUMMARY_COHERENCE, data, [rating(5), rating(2)])
    assert found.output("value") == 3.5
    (output,) = SUMMARY_COHERENCE.outputs
    assert (output.bounds, output.unit) == ((1, 5), "points")
    assert outcome(found, 2).reason == "no user_input"


def test_what_is_asked() -> None:
    (told,) = questions(judged(SUMMARY_COHERENCE, DATA, [rating(3)]))
    assert "the long text" in told
    assert "the summary" in told
