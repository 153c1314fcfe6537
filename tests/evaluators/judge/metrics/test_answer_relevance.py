"""Answer relevance: worked by hand."""

from __future__ import annotations

from tests.oracles.judge_replies import asked, outcome, questions, statements, verdicts
from tests.oracles.judges import judged
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.answer_relevance import ANSWER_RELEVANCE
from valor_cli.evaluators.judge.metrics.faithfulness import FAITHFULNESS
from valor_cli.results import Verdict

DATA = samples(
    ["Paris. The weather is fine."],
    user_input=["What is the capital of France?"],
    retrieved_contexts=[["Paris is the capital."]],
)


def test_worked_by_hand() -> None:
    # 1 of 4 statements bears on the question.
    replies = [statements("a", "b", "c", "d"), verdicts(0, 1, 0, 0)]
    found = judged(ANSWER_RELEVANCE, DATA, replies)
    assert found.values == [0.25]
    assert asked(found) == ["statements", "answer_relevance"]
    one = outcome(found)
    assert one.reason == "1 of 4 statements relevant"
    assert one.verdicts[:2] == (
        Verdict("a", "irrelevant", False, "r1"),
        Verdict("b", "relevant", True, "r2"),
    )


def test_what_is_asked() -> None:
    _, second = questions(judged(ANSWER_RELEVANCE, DATA, [statements("stated"), verdicts(1)]))
    assert "What is the capital of France?" in second
    assert "stated" in second


def test_all_statements_at_once() -> None:
    replies = [statements(*"abcdefghijkl"), verdicts(*[1] * 12)]
    assert judged(ANSWER_RELEVANCE, DATA, replies).values == [1.0]


def test_no_statements() -> None:
    data = samples(["Hello!", ""], user_input=["q", "q"])
    found = judged(ANSWER_RELEVANCE, data, [statements()])
    assert [outcome(found, at).status for at in range(2)] == ["not_applicable"] * 2
    assert outcome(found, 1).reason == "the response makes no statements"
    assert outcome(found, 1).asked is not None
    assert found.findings[0].values[0].value is None


def test_statements_are_shared() -> None:
    replies = [statements("a", "b"), verdicts(1, 1), verdicts(0, 1)]
    found = judged([(ANSWER_RELEVANCE, {}), (FAITHFULNESS, {})], DATA, replies)
    assert asked(found) == ["statements", "answer_relevance", "faithfulness"]
    assert outcome(found, call=0).values == {"value": 1.0}
    assert outcome(found, call=1).values == {"value": 0.5}
    assert [one.asked[0].calls for one in found.outcomes] == [2, 1]


def test_missing() -> None:
    data = samples([None, "x"], user_input=["q", None])
    found = judged(ANSWER_RELEVANCE, data, [])
    assert [outcome(found, at).reason for at in range(2)] == ["no response", "no user_input"]
