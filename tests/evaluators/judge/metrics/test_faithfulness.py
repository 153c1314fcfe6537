"""Faithfulness: claims in batches, worked by hand."""

from __future__ import annotations

import pytest

from tests.oracles.judge_replies import asked, outcome, questions, statements, verdicts
from tests.oracles.judges import judged
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.faithfulness import FAITHFULNESS
from valor_cli.results import Verdict

DATA = samples(
    ["Paris is the capital of France and has 2 million people."],
    user_input=["What is the capital of France?"],
    retrieved_contexts=[["Paris is the capital of France.", "Lyon lies on the Rhône."]],
)


def test_worked_by_hand() -> None:
    # 2 of 3 claims are implied; the third, on which the contexts are silent, counts against.
    found = judged(FAITHFULNESS, DATA, [statements("a", "b", "c"), verdicts(1, 0, 1)])
    assert found.values == [2 / 3]
    assert asked(found) == ["statements", "faithfulness"]
    one = outcome(found)
    assert one.reason == "2 of 3 claims supported"
    assert one.verdicts == (
        Verdict("a", "supported", True, "r1"),
        Verdict("b", "unsupported", False, "r2"),
        Verdict("c", "supported", True, "r3"),
    )
    assert one.details == {
        "claims": [
            {"claim": "a", "verdict": "supported", "reason": "r1"},
            {"claim": "b", "verdict": "unsupported", "reason": "r2"},
            {"claim": "c", "verdict": "supported", "reason": "r3"},
        ]
    }
    assert one.asked is not None
    assert one.asked.calls == 2


def test_what_is_asked() -> None:
    found = judged(FAITHFULNESS, DATA, [statements("claim a"), verdicts(1)])
    first, second = questions(found)
    assert "What is the capital of France?" in first
    assert "2 million people" in first
    assert "claim a" in second
    assert "Paris is the capital of France." in second
    assert "Lyon lies on the Rhône." in second
    assert "2 million" not in second


@pytest.mark.parametrize(
    ("claims", "batch_size", "batches"),
    [(5, 5, [5]), (6, 5, [5, 1]), (3, 1, [1, 1, 1]), (11, 4, [4, 4, 3]), (2, 100, [2])],
)
def test_batches(claims: int, batch_size: int, batches: list[int]) -> None:
    names = [f"claim-{at:02}" for at in range(claims)]
    replies = [statements(*names), *(verdicts(*[1] * size) for size in batches)]
    found = judged(FAITHFULNESS, DATA, replies, batch_size=batch_size)
    assert found.values == [1.0]
    assert found.unused == 0
    assert asked(found) == ["statements", *["faithfulness"] * len(batches)]
    told = "".join(questions(found)[1:])
    assert [told.count(name) for name in names] == [1] * claims


def test_a_batch_in_the_middle_is_asked_again() -> None:
    replies = [statements("a", "b", "c"), verdicts(1, 1), verdicts(0, 0), verdicts(0)]
    found = judged(FAITHFULNESS, DATA, replies, batch_size=2)
    assert found.values == [2 / 3]
    assert found.requests[2].messages[:2] == found.requests[3].messages[:2]


@pytest.mark.parametrize(("empty", "value"), [(None, None), (1, 1.0), (0, 0.0), (0.5, 0.5)])
@pytest.mark.parametrize(("response", "replies"), [("Hello!", [statements()]), (" \n", [])])
def test_no_claims(
    response: str, replies: list[str], empty: float | None, value: float | None
) -> None:
    data = samples([response], retrieved_contexts=[["x"]])
    found = judged(FAITHFULNESS, data, replies, empty=empty)
    assert found.values == [value]
    one = outcome(found)
    assert one.status == ("not_applicable" if value is None else "ok")
    assert one.reason == "the response makes no claims"
    assert len(found.requests) == len(replies)


def test_nothing_is_asked_without_contexts() -> None:
    data = samples(["x"] * 3, retrieved_contexts=[None, [], ["", " "]])
    found = judged(FAITHFULNESS, data, [])
    assert [outcome(found, at).status for at in range(3)] == ["missing_input"] * 3
    assert outcome(found, 0).reason == "no retrieved contexts"
    assert outcome(found, 2).reason == "the retrieved contexts are empty"


def test_mean_over_samples() -> None:
    # 1 / 2 and 1 / 1: the mean is 3 / 4, the third sample has no value.
    data = samples(["x", "y", None], retrieved_contexts=[["c"]] * 3)
    replies = [statements("a", "b"), verdicts(1, 0), statements("a"), verdicts(1)]
    found = judged(FAITHFULNESS, data, replies)
    assert found.output("value") == 0.75
    assert found.findings[0].statuses == {"ok": 2, "missing_input": 1}
