"""Context recall: several references, worked by hand."""

from __future__ import annotations

from tests.oracles.judge_replies import asked, outcome, questions, statements, verdicts
from tests.oracles.judges import judged
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.context_recall import CONTEXT_RECALL
from valor_cli.results import Verdict

DATA = samples(
    ["an answer"],
    user_input=["a question"],
    references=[["Thirst and tiredness."]],
    retrieved_contexts=[["Thirst is a sign.", "So is hunger."]],
)
TWO = samples(["x"], references=[["first", "second"]], retrieved_contexts=[["c", "d"]])


def test_worked_by_hand() -> None:
    # 1 of 2 statements of the reference stands in the contexts: in context 1.
    replies = [statements("thirst", "tiredness"), verdicts(1, 0, contexts=[1, None])]
    found = judged(CONTEXT_RECALL, DATA, replies)
    assert found.values == [0.5]
    assert asked(found) == ["statements", "context_recall"]
    one = outcome(found)
    assert one.reason == "1 of 2 statements attributed"
    assert one.verdicts == (
        Verdict("thirst", "attributed", True, "r1"),
        Verdict("tiredness", "not attributed", False, "r2"),
    )
    assert one.details == {
        "references": [
            {
                "value": 0.5,
                "best": True,
                "statements": [
                    {"statement": "thirst", "verdict": "attributed", "reason": "r1", "context": 1},
                    {
                        "statement": "tiredness",
                        "verdict": "not attributed",
                        "reason": "r2",
                        "context": None,
                    },
                ],
            }
        ]
    }


def test_what_is_asked() -> None:
    replies = [statements("stated"), verdicts(1, contexts=[2])]
    first, second = questions(judged(CONTEXT_RECALL, DATA, replies))
    assert "a question" in first
    assert "Thirst and tiredness." in first
    assert "stated" in second
    assert "Thirst is a sign." in second
    assert "So is hunger." in second
    assert "an answer" not in first + second


def test_best_reference() -> None:
    # 1/3 of the first, 1/2 of the second.
    replies = [
        statements("a", "b", "c"),
        verdicts(0, 0, 1, contexts=[None, None, 2]),
        statements("d", "e"),
        verdicts(1, 0, contexts=[1, None]),
    ]
    found = judged(CONTEXT_RECALL, TWO, replies)
    assert found.values == [0.5]
    assert asked(found) == ["statements", "context_recall"] * 2
    one = outcome(found)
    assert one.reason == "1 of 2 statements attributed (best of 2 references)"
    assert [verdict.text for verdict in one.verdicts] == ["d", "e"]
    assert one.details is not None
    assert [(own["value"], own["best"]) for own in one.details["references"]] == [
        (1 / 3, False),
        (0.5, True),
    ]


def test_of_equal_references_the_first() -> None:
    replies = [statements("a"), verdicts(0), statements("b"), verdicts(0)]
    found = judged(CONTEXT_RECALL, TWO, replies)
    assert found.values == [0.0]
    assert outcome(found).verdicts[0].text == "a"


def test_a_reference_without_statements_is_left_out() -> None:
    found = judged(CONTEXT_RECALL, TWO, [statements(), statements("a"), verdicts(0)])
    assert found.values == [0.0]
    details = outcome(found).details
    assert details is not None
    assert details["references"][0] == {"value": None, "best": False, "statements": []}


def test_no_reference_states_anything() -> None:
    found = judged(CONTEXT_RECALL, TWO, [statements(), statements()])
    assert outcome(found).status == "not_applicable"
    assert outcome(found).reason == "the references make no statements"
    blank = samples(["x"], references=[[" "]], retrieved_contexts=[["c"]])
    found = judged(CONTEXT_RECALL, blank, [])
    assert outcome(found).reason == "the references are empty"


def test_missing() -> None:
    data = samples(
        ["x"] * 3,
        references=[[], ["r"], ["r"]],
        retrieved_contexts=[["c"], None, [""]],
    )
    found = judged(CONTEXT_RECALL, data, [])
    assert [outcome(found, at).reason for at in range(3)] == [
        "no reference",
        "no retrieved contexts",
        "the retrieved contexts are empty",
    ]
    assert {outcome(found, at).status for at in range(3)} == {"missing_input"}
