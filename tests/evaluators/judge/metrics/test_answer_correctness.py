"""Answer correctness: F1 of statements and similarity, worked by hand."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.oracles.judge_replies import asked, compared, outcome, questions, statements
from tests.oracles.judges import judged
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.answer_correctness import ANSWER_CORRECTNESS, Weights
from valor_cli.evaluators.judge.metrics.context_recall import CONTEXT_RECALL
from valor_cli.metric import Call
from valor_cli.results import Verdict

DATA = samples(["an answer"], user_input=["a question"], references=[["right answer"]])
TWO = samples(["an answer"], references=[["first", "second"]])


def test_worked_by_hand() -> None:
    # tp 2, fp 1, fn 1: 2 / (2 + 0.5 · 2) = 2/3.
    replies = [
        statements("a", "b", "c"),
        statements("A", "B", "D"),
        compared(["a", "b"], ["c"], ["D"]),
    ]
    found = judged(ANSWER_CORRECTNESS, DATA, replies)
    assert found.values == [2 / 3]
    assert asked(found) == ["statements", "statements", "answer_correctness"]
    one = outcome(found)
    assert one.reason == "2 statements right, 1 wrong, 1 lacking"
    assert one.verdicts == (
        Verdict("a", "right", True),
        Verdict("b", "right", True),
        Verdict("c", "wrong", False),
        Verdict("D", "lacking", False),
    )
    assert one.details == {
        "references": [
            {
                "value": 2 / 3,
                "best": True,
                "f1": 2 / 3,
                "tp": ["a", "b"],
                "fp": ["c"],
                "fn": ["D"],
            }
        ]
    }


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "value"),
    [
        (["a"], [], [], 1.0),
        # 1 / (1 + 0.5 · 3) = 0.4.
        (["a"], ["b"], ["C", "D"], 0.4),
        ([], ["a", "b"], ["C"], 0.0),
    ],
)
def test_f1(tp: list[str], fp: list[str], fn: list[str], value: float) -> None:
    own = [*tp, *fp]
    other = [*(text.upper() for text in tp), *fn]
    replies = [statements(*own), statements(*other), compared(tp, fp, fn)]
    assert judged(ANSWER_CORRECTNESS, DATA, replies).values == [value]


def test_what_is_asked() -> None:
    replies = [statements("stated"), statements("expected"), compared(["stated"], [], [])]
    first, second, third = questions(judged(ANSWER_CORRECTNESS, DATA, replies))
    assert "an answer" in first
    assert "right answer" in second
    assert "a question" in third
    assert "stated" in third
    assert "expected" in third


def test_best_reference_and_the_order_of_calls() -> None:
    # The first: 1 / (1 + 0.5 · 2) = 0.5; the second: 1 / (1 + 0.5 · 1) = 2/3.
    replies = [
        statements("a", "b"),
        statements("A", "C"),
        compared(["a"], ["b"], ["C"]),
        statements("A"),
        compared(["a"], ["b"], []),
    ]
    found = judged(ANSWER_CORRECTNESS, TWO, replies)
    assert found.values == [2 / 3]
    assert asked(found) == [
        "statements",
        "statements",
        "answer_correctness",
        "statements",
        "answer_correctness",
    ]
    one = outcome(found)
    assert one.reason == "1 statements right, 1 wrong, 0 lacking (best of 2 references)"
    assert one.details is not None
    assert [(own["value"], own["best"]) for own in one.details["references"]] == [
        (0.5, False),
        (2 / 3, True),
    ]


@pytest.mark.parametrize(("response", "replies"), [("Hi!", [statements()]), ("  ", [])])
def test_a_response_without_statements(response: str, replies: list[str]) -> None:
    data = samples([response], references=[["first", "second"]])
    found = judged(ANSWER_CORRECTNESS, data, replies)
    assert found.values == [0.0]
    assert len(found.requests) == len(replies)
    reason = "the response makes no statements (best of 2 references)"
    assert outcome(found).reason == reason


def test_a_reference_without_statements() -> None:
    replies = [statements("a"), statements(), statements("A"), compared(["a"], [], [])]
    found = judged(ANSWER_CORRECTNESS, TWO, replies)
    assert found.values == [1.0]
    assert asked(found) == ["statements"] * 3 + ["answer_correctness"]
    found = judged(ANSWER_CORRECTNESS, DATA, [statements("a"), statements()])
    assert found.values == [0.0]
    assert outcome(found).reason == "the reference makes no statements"


# The cosine of (1, 0) and (3, 4) is 0.6, that of (1, 0) and (0, 1) is 0.
VECTORS = {
    "an answer": [1.0, 0.0],
    "right answer": [3.0, 4.0],
    "first": [0.0, 1.0],
    "second": [3.0, 4.0],
    "against": [-1.0, 0.0],
}
HALF = [statements("a", "b"), statements("A", "C"), compared(["a"], ["b"], ["C"])]
"""Replies for an F1 of 0.5."""


@pytest.mark.parametrize(
    ("weights", "value"),
    [
        # 0.75 · 0.5 + 0.25 · 0.6; weights need not sum to 1.
        ((0.75, 0.25), 0.525),
        ((3, 1), 0.525),
        ((1, 1), 0.55),
        ((2, 0), 0.5),
    ],
)
def test_weights(weights: tuple[float, float], value: float) -> None:
    vectors = VECTORS if weights[1] else {}
    found = judged(ANSWER_CORRECTNESS, DATA, HALF, vectors=vectors, weights=weights)
    assert found.values == [pytest.approx(value, abs=1e-15)]
    assert found.unused == 0
    if weights[1]:
        assert outcome(found).reason == "1 statements right, 1 wrong, 1 lacking; similarity 0.600"


def test_similarity_alone_asks_no_judge() -> None:
    found = judged(ANSWER_CORRECTNESS, DATA, [], vectors=VECTORS, weights=(0, 1))
    assert found.values == [pytest.approx(0.6, abs=1e-15)]
    assert outcome(found).reason == "similarity 0.600"


def test_the_best_reference_is_that_of_the_weighted_value() -> None:
    # F1 0.5 with similarity 0: 0.375. F1 0.4 with similarity 0.6: 0.45, though its F1 is less.
    replies = [
        *HALF,
        statements("A", "D", "E"),
        compared(["a"], ["b"], ["D", "E"]),
    ]
    found = judged(ANSWER_CORRECTNESS, TWO, replies, vectors=VECTORS, weights=(0.75, 0.25))
    assert found.values == [pytest.approx(0.45, abs=1e-15)]
    details = outcome(found).details
    assert details is not None
    assert [one["best"] for one in details["references"]] == [False, True]
    assert [one["similarity"] for one in details["references"]] == pytest.approx([0, 0.6])


def test_opposite_and_blank_texts_are_not_alike() -> None:
    data = samples(["an answer"], references=[["against"]])
    replies = [statements("a"), statements("B"), compared([], ["a"], ["B"])]
    found = judged(ANSWER_CORRECTNESS, data, replies, vectors=VECTORS, weights=(0.5, 0.5))
    assert found.values == [0.0]
    blank = samples([""], references=[["first"]])
    assert judged(ANSWER_CORRECTNESS, blank, [], weights=(0.5, 0.5)).values == [0.0]


def test_an_embedder_is_needed_for_the_second_weight_alone() -> None:
    assert Call(ANSWER_CORRECTNESS, {"weights": (1.0, 0.0)}).asks == ("judge",)
    assert Call(ANSWER_CORRECTNESS, {"weights": (0.75, 0.25)}).asks == ("judge", "embedder")


def test_no_vector() -> None:
    found = judged(ANSWER_CORRECTNESS, DATA, HALF, weights=(0.5, 0.5))
    assert outcome(found).status == "judge_error"


@pytest.mark.parametrize("weights", [(0, 0), (-1, 2), (1,), (1, 1, 1), (float("nan"), 1)])
def test_weights_that_cannot_be_used(weights: tuple[float, ...]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Weights).validate_python(weights)


def test_statements_of_references_are_shared() -> None:
    data = samples(["an answer"], references=[["right"]], retrieved_contexts=[["c"]])
    verdicts = '{"verdicts": [{"reason": "", "verdict": 1, "context": 1}]}'
    replies = [statements("a"), statements("A"), compared(["a"], [], []), verdicts]
    found = judged([(ANSWER_CORRECTNESS, {}), (CONTEXT_RECALL, {})], data, replies)
    assert asked(found) == ["statements", "statements", "answer_correctness", "context_recall"]
    assert outcome(found, call=1).values == {"value": 1.0}


def test_a_response_that_is_the_reference_is_taken_apart_once() -> None:
    data = samples(["same"], references=[["same"]])
    found = judged(ANSWER_CORRECTNESS, data, [statements("a"), compared(["a"], [], [])])
    assert asked(found) == ["statements", "answer_correctness"]


def test_missing() -> None:
    found = judged(ANSWER_CORRECTNESS, samples([None, "x"], references=[["r"], []]), [])
    assert [outcome(found, at).reason for at in range(2)] == ["no response", "no reference"]
