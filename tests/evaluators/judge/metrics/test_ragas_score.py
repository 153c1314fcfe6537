"""The Ragas score: the order of its parts, what they share, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.judge_replies import (
    UNFIT,
    asked,
    outcome,
    question,
    statements,
    verdict,
    verdicts,
)
from tests.oracles.judges import Judging, judged
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.answer_relevancy import ANSWER_RELEVANCY
from valor_cli.evaluators.judge.metrics.context_precision import CONTEXT_PRECISION
from valor_cli.evaluators.judge.metrics.context_recall import CONTEXT_RECALL
from valor_cli.evaluators.judge.metrics.faithfulness import FAITHFULNESS
from valor_cli.evaluators.judge.metrics.ragas_score import RAGAS_SCORE
from valor_cli.metric import Metric
from valor_cli.models.requests import NoAnswer, Stopped

DATA = samples(
    ["an answer"],
    user_input=["asked"],
    references=[["right"]],
    retrieved_contexts=[["c", "d"]],
)
VECTORS = {"asked": [1.0, 0.0], "near": [3.0, 4.0], "against": [-1.0, 0.0]}

FAITHFUL = [statements("a", "b"), verdicts(1, 0)]  # 1/2
RELEVANT = [question("near")] * 3  # 0.6
PRECISE = [verdict(0), verdict(1)]  # 1/2
RECALLED = [statements("A", "B", "C"), verdicts(1, 1, 1, contexts=[1, 2, 1])]  # 1
REPLIES = [*FAITHFUL, *RELEVANT, *PRECISE, *RECALLED]
ORDER = [
    *("statements", "faithfulness"),
    *["answer_relevancy"] * 3,
    *["context_precision"] * 2,
    *("statements", "context_recall"),
]
# 4 / (2 + 5/3 + 2 + 1) = 4 / (20/3) = 0.6.
VALUE = 0.6


def scored(replies: list[Any], *others: Metric[Any], first: bool = True, **more: Any) -> Judging:
    """The score, and other metrics behind it, or before it."""
    calls = [(RAGAS_SCORE, more), *((one, {}) for one in others)]
    return judged(calls if first else [*calls[1:], calls[0]], DATA, replies, vectors=VECTORS)


def test_worked_by_hand() -> None:
    found = scored(REPLIES)
    assert found.values == [pytest.approx(VALUE, abs=1e-15)]
    assert asked(found) == ORDER
    assert {request.purpose.metric for request in found.requests} == {"ragas_score"}
    one = outcome(found)
    parts = {name: value for name, value in one.values.items() if name != "value"}
    assert parts == {
        "faithfulness": 0.5,
        "answer_relevancy": pytest.approx(0.6),
        "context_precision": 0.5,
        "context_recall": 1.0,
    }
    assert one.reason == (
        "faithfulness 0.500, answer_relevancy 0.600, context_precision 0.500, context_recall 1.000"
    )
    assert len(one.verdicts) == 2 + 3 + 2 + 3
    assert one.details is not None
    assert one.details["faithfulness"]["reason"] == "1 of 2 claims supported"
    assert found.output("context_precision") == 0.5
    assert [output.name for output in RAGAS_SCORE.outputs] == ["value", *parts]


@pytest.mark.parametrize("first", [True, False])
def test_parts_that_are_listed_too_are_asked_once(first: bool) -> None:
    parts = (FAITHFULNESS, ANSWER_RELEVANCY, CONTEXT_PRECISION, CONTEXT_RECALL)
    found = scored(REPLIES, *parts, first=first)
    assert asked(found) == ORDER
    at = 0 if first else 4
    assert outcome(found, call=at).values["value"] == pytest.approx(VALUE, abs=1e-15)
    one = outcome(found, call=at).asked
    assert one is not None
    assert one.calls == (9 if first else 0)
    others = [outcome(found, call=at + (1 if first else 0)).values["value"] for at in range(4)]
    assert others == pytest.approx([0.5, 0.6, 0.5, 1.0])


def test_a_part_with_other_parameters_is_asked_anew() -> None:
    # Its statements are shared, its verdicts come one at a time.
    calls: list[tuple[Metric[Any], dict[str, Any]]] = [
        (FAITHFULNESS, {"batch_size": 1}),
        (RAGAS_SCORE, {}),
    ]
    replies = [statements("a", "b"), verdicts(1), verdicts(1), verdicts(1, 0), *REPLIES[2:]]
    found = judged(calls, DATA, replies, vectors=VECTORS)
    assert asked(found) == ["statements", "faithfulness", "faithfulness", *ORDER[1:]]
    assert outcome(found, call=0).values["value"] == 1.0
    assert outcome(found, call=1).values["faithfulness"] == 0.5


def test_parameters_of_the_parts() -> None:
    replies = [
        *(statements("a", "b"), verdicts(1), verdicts(1)),
        question("near"),
        verdict(1),
        *RECALLED,
    ]
    found = scored(replies, batch_size=1, num_questions=1, top_n=1)
    # 4 / (1 + 5/3 + 1 + 1) = 6/7.
    assert found.values == [pytest.approx(6 / 7, abs=1e-15)]
    assert found.unused == 0


@pytest.mark.parametrize(
    "replies",
    [
        [statements("a"), verdicts(0), *RELEVANT, *PRECISE, *RECALLED],
        [*FAITHFUL, *[question("against")] * 3, *PRECISE, *RECALLED],
        [*FAITHFUL, *RELEVANT, verdict(0), verdict(0), *RECALLED],
        [*FAITHFUL, *RELEVANT, *PRECISE, statements("A"), verdicts(0)],
    ],
    ids=["faithfulness", "answer_relevancy", "context_precision", "context_recall"],
)
def test_a_part_of_nothing(replies: list[str]) -> None:
    found = scored(replies)
    assert found.values == [0.0]
    assert found.unused == 0


@pytest.mark.parametrize(
    ("replies", "status", "reason"),
    [
        ([UNFIT, UNFIT], "parse_failure", None),
        ([*FAITHFUL, *RELEVANT, NoAnswer("gone")], "judge_error", "gone"),
        ([*FAITHFUL, Stopped("the budget is reached")], "skipped", "the budget is reached"),
        ([statements()], "not_applicable", "faithfulness: the response makes no claims"),
        (
            [*FAITHFUL, *RELEVANT, *PRECISE, statements()],
            "not_applicable",
            "context_recall: the reference makes no statements",
        ),
    ],
)
def test_a_part_without_a_value(replies: list[Any], status: str, reason: str | None) -> None:
    found = scored(replies)
    one = outcome(found)
    assert one.status == status
    assert reason is None or one.reason == reason
    assert found.values == [None]
    assert found.unused == 0
    assert len(found.requests) == len(replies)


def test_a_part_that_failed_before_is_not_asked_again() -> None:
    found = scored([UNFIT, UNFIT], FAITHFULNESS, first=False)
    assert [outcome(found, call=at).status for at in range(2)] == ["parse_failure"] * 2
    assert len(found.requests) == 2


def test_nothing_is_asked_of_a_sample_that_lacks_anything() -> None:
    data = samples(
        ["x", None, "x", "x", "x"],
        user_input=[None, "q", "q", "q", " "],
        references=[["r"], ["r"], [], ["r"], ["r"]],
        retrieved_contexts=[["c"], ["c"], ["c"], [], ["c"]],
    )
    found = judged(RAGAS_SCORE, data, [])
    assert [outcome(found, at).reason for at in range(5)] == [
        "no user_input",
        "no response",
        "no reference",
        "the retrieved contexts are empty",
        "the user_input is empty",
    ]
    assert {outcome(found, at).status for at in range(5)} == {"missing_input"}
