"""Context precision: worked by hand, with the examples of valor-lite's page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.judge_replies import asked, outcome, questions, verdict
from tests.oracles.judges import judged
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.context_precision import (
    CONTEXT_PRECISION,
    average_precision,
)
from valor_cli.results import Verdict

CONTEXTS = ["first passage", "second passage", "third passage", "fourth passage"]
DATA = samples(
    ["an answer"],
    user_input=["a question"],
    references=[["right one", "right two"]],
    retrieved_contexts=[CONTEXTS],
)


@pytest.mark.parametrize(
    ("useful", "value"),
    [
        # Precision at 1 is 1, at 4 it is 2/4: (1 + 0.5) / 2.
        ([1, 0, 0, 1], 0.75),
        # Precision at 2 is 1/2, at 4 it is 2/4: (0.5 + 0.5) / 2.
        ([0, 1, 0, 1], 0.5),
        # At 2, 3, 4: 1/2, 2/3, 3/4; their mean is 23/36.
        ([0, 1, 1, 1], 23 / 36),
        ([1, 1, 1, 1], 1.0),
        ([0, 0, 0, 1], 0.25),
        ([0, 0, 0, 0], 0.0),
    ],
)
def test_worked_by_hand(useful: list[int], value: float) -> None:
    found = judged(CONTEXT_PRECISION, DATA, [verdict(one) for one in useful])
    assert found.values == [pytest.approx(value, abs=1e-15)]
    assert asked(found) == ["context_precision"] * 4


def test_told() -> None:
    one = outcome(judged(CONTEXT_PRECISION, DATA, [verdict(word) for word in (0, 1, 0, 1)]))
    assert one.reason == "2 of 4 contexts useful, the first at rank 2"
    assert one.verdicts[:2] == (
        Verdict("first passage", "useless", False, "because"),
        Verdict("second passage", "useful", True, "because"),
    )
    assert one.details is not None
    assert one.details["contexts"][1] == {"context": 2, "verdict": "useful", "reason": "because"}
    none = outcome(judged(CONTEXT_PRECISION, DATA, [verdict(0)] * 4))
    assert none.reason == "0 of 4 contexts useful"


def test_a_context_at_a_time_with_all_references() -> None:
    found = judged(CONTEXT_PRECISION, DATA, [verdict(1)] * 4)
    for at, told in enumerate(questions(found)):
        assert [context in told for context in CONTEXTS] == [one == at for one in range(4)]
        assert "a question" in told
        assert "right one" in told
        assert "right two" in told
        assert "an answer" not in told


@pytest.mark.parametrize(("top_n", "value", "calls"), [(1, 0, 1), (2, 0.5, 2), (9, 0.5, 4)])
def test_top_n(top_n: int, value: float, calls: int) -> None:
    # Useful are ranks 2 and 4; at the first n: none; 1/2; (1/2 + 2/4) / 2.
    replies = [verdict(one) for one in (0, 1, 0, 1)][:calls]
    found = judged(CONTEXT_PRECISION, DATA, replies, top_n=top_n)
    assert found.values == [value]
    assert found.unused == 0


def test_the_response_in_place_of_references() -> None:
    data = samples(["an answer"], user_input=["q"], retrieved_contexts=[["c", "d"]])
    found = judged(CONTEXT_PRECISION, data, [verdict(0), verdict(1)])
    assert found.values == [0.5]
    assert all("an answer" in told for told in questions(found))


def test_missing() -> None:
    data = samples(
        [None, " ", "x", "x", "x"],
        user_input=["q", "q", None, "q", "q"],
        retrieved_contexts=[["c"], ["c"], ["c"], [], None],
    )
    found = judged(CONTEXT_PRECISION, data, [])
    assert [outcome(found, at).status for at in range(5)] == ["missing_input"] * 5
    assert [outcome(found, at).reason for at in range(5)] == [
        "no reference, and no response in its place",
        "no reference, and the response in its place is empty",
        "no user_input",
        "the retrieved contexts are empty",
        "no retrieved contexts",
    ]


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_average_precision_is_valors_formula(useful: list[bool]) -> None:
    # Σ (precision@k · v_k) / Σ v_k, as valor-lite's page writes it.
    total = sum(useful)
    weighted = sum(sum(useful[: k + 1]) / (k + 1) * one for k, one in enumerate(useful))
    assert average_precision(useful) == pytest.approx(weighted / total if total else 0)
