"""Context relevance: worked by hand."""

from __future__ import annotations

from tests.oracles.judge_replies import asked, outcome, questions, verdicts
from tests.oracles.judges import judged
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.context_relevance import CONTEXT_RELEVANCE
from valor_cli.results import Verdict

DATA = samples(
    [None],
    user_input=["a question"],
    retrieved_contexts=[["first passage", "second passage", "third passage"]],
)


def test_worked_by_hand() -> None:
    # 2 of 3 contexts bear on the question; the judge is asked once, about all three.
    found = judged(CONTEXT_RELEVANCE, DATA, [verdicts(1, 0, 1)])
    assert found.values == [2 / 3]
    assert asked(found) == ["context_relevance"]
    one = outcome(found)
    assert one.reason == "2 of 3 contexts relevant"
    assert one.verdicts[1] == Verdict("second passage", "irrelevant", False, "r2")
    assert one.details is not None
    assert one.details["contexts"][2] == {"context": 3, "verdict": "relevant", "reason": "r3"}


def test_what_is_asked() -> None:
    (told,) = questions(judged(CONTEXT_RELEVANCE, DATA, [verdicts(1, 0, 1)]))
    for text in ("a question", "first passage", "second passage", "third passage"):
        assert text in told


def test_missing() -> None:
    data = samples(
        ["x"] * 3, user_input=[None, "q", "q"], retrieved_contexts=[["c"], [], ["", "\n"]]
    )
    found = judged(CONTEXT_RELEVANCE, data, [])
    assert [outcome(found, at).reason for at in range(3)] == [
        "no user_input",
        "the retrieved contexts are empty",
        "the retrieved contexts are empty",
    ]
    assert {outcome(found, at).status for at in range(3)} == {"missing_input"}
