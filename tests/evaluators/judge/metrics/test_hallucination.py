"""Hallucination: worked by hand."""

from __future__ import annotations

from tests.oracles.judge_replies import asked, outcome, questions, verdicts
from tests.oracles.judges import judged
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.hallucination import HALLUCINATION
from valor_cli.results import Verdict

DATA = samples(["an answer"], retrieved_contexts=[["first passage", "second passage"]])


def test_worked_by_hand() -> None:
    # 1 of 2 contexts is contradicted; 1 is the verdict on a contradiction.
    found = judged(HALLUCINATION, DATA, [verdicts(0, 1)])
    assert found.values == [0.5]
    assert asked(found) == ["hallucination"]
    one = outcome(found)
    assert one.reason == "1 of 2 contexts contradicted"
    assert one.verdicts == (
        Verdict("first passage", "not contradicted", True, "r1"),
        Verdict("second passage", "contradicted", False, "r2"),
    )


def test_less_is_better() -> None:
    assert HALLUCINATION.outputs[0].better == "lower"
    assert judged(HALLUCINATION, DATA, [verdicts(0, 0)]).values == [0.0]
    assert judged(HALLUCINATION, DATA, [verdicts(1, 1)]).values == [1.0]


def test_what_is_asked() -> None:
    (told,) = questions(judged(HALLUCINATION, DATA, [verdicts(0, 1)]))
    for text in ("an answer", "first passage", "second passage"):
        assert text in told


def test_missing() -> None:
    data = samples([None, "x", "x"], retrieved_contexts=[["c"], [], None])
    found = judged(HALLUCINATION, data, [])
    assert [outcome(found, at).reason for at in range(3)] == [
        "no response",
        "the retrieved contexts are empty",
        "no retrieved contexts",
    ]
    assert {outcome(found, at).status for at in range(3)} == {"missing_input"}
