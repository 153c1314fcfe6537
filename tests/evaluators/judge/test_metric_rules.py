"""What single metrics that ask a judge do beyond the others: weights, batches, parts, ratings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.evaluators.judge.asking import JUDGED, QUESTION, VECTORS, texts
from tests.oracles.judge_replies import (
    asked,
    compared,
    outcome,
    question,
    questions,
    rating,
    sentences,
    statements,
    verdict,
    verdicts,
)
from tests.oracles.judges import Judging, judged
from tests.oracles.text_samples import samples
from valor_cli import catalogue
from valor_cli.evaluators.judge.metrics.answer_correctness import Weights
from valor_cli.metric import Call
from valor_cli.models.requests import NoAnswer, Stopped
from valor_cli.results import Verdict

BOTH = texts(references=["other", "near"])


def found(name: str, data: Any, replies: Sequence[Any], **parameters: Any) -> Judging:
    return judged(JUDGED[name], data, replies, vectors=VECTORS, **parameters)


def values(name: str, data: Any, replies: Sequence[Any], **parameters: Any) -> list[float | None]:
    """Of each sample; every reply is used."""
    judging = found(name, data, replies, **parameters)
    assert judging.unused == 0
    return judging.values


def of_references(judging: Judging) -> Any:
    """Of each reference, its value, and whether it is the best."""
    return [(one["value"], one["best"]) for one in details(judging)["references"]]


def details(judging: Judging) -> Any:
    return outcome(judging).details


def split(name: str, *words: int, contexts: Any = None) -> list[str]:
    """A text that states so many things, and the verdicts on them."""
    return [
        statements(*(f"{name}{at}" for at in range(len(words)))),
        verdicts(*words, contexts=contexts),
    ]


# F1 of 1 / (1 + 2 / 2) = 0.5, of 1 / (1 + 1 / 2) = 2 / 3 and of 1 / (1 + 3 / 2) = 0.4.
OWN = statements("a", "b")
HALF = [statements("A", "C"), compared(["a"], ["b"], ["C"])]
TWO_THIRDS = [statements("A"), compared(["a"], ["b"], [])]
TWO_FIFTHS = [statements("A", "D", "E"), compared(["a"], ["b"], ["D", "E"])]


def test_the_best_reference_counts_and_statements_are_asked_for_once() -> None:
    judging = found("answer_correctness", BOTH, [OWN, *HALF, *TWO_THIRDS])
    assert judging.values == [2 / 3]
    assert asked(judging) == ["statements", *("statements", "answer_correctness") * 2]
    reason = "1 statements right, 1 wrong, 0 lacking (best of 2 references)"
    assert outcome(judging).reason == reason
    assert of_references(judging) == [(0.5, False), (2 / 3, True)]
    # One that states nothing is passed over; a response that is its reference is split once.
    assert values("answer_correctness", BOTH, [OWN, statements(), *HALF]) == [0.5]
    same = texts(response="same", references=["same"])
    assert values("answer_correctness", same, [OWN, compared(["a"], ["b"], [])]) == [2 / 3]


@pytest.mark.parametrize("weights", [(0.75, 0.25), (2, 0), (0, 1)])
def test_what_is_asked_and_said_depends_on_the_weights(weights: tuple[float, float]) -> None:
    replies = [OWN, *HALF] if weights[0] else []
    judging = found("answer_correctness", texts(), replies, weights=weights)
    said = ["1 statements right, 1 wrong, 1 lacking"] if weights[0] else []
    asks = Call(JUDGED["answer_correctness"], {"weights": weights}).asks
    if weights[1]:
        said.append("similarity 0.600")
        assert details(judging)["references"][0]["similarity"] == pytest.approx(0.6)
        unknown = texts(references=["unknown"])
        lost = found("answer_correctness", unknown, replies, weights=weights)
        assert outcome(lost).status == "judge_error"
    assert outcome(judging).reason == "; ".join(said)
    assert asks == (("judge", "embedder") if weights[1] else ("judge",))


@pytest.mark.parametrize("weights", [(0, 0), (-1, 2), (1,), (1, 1, 1), (float("nan"), 1)])
def test_weights_that_cannot_be_used(weights: tuple[float, ...]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Weights).validate_python(weights)


def test_what_is_said_of_noncommittal_answers() -> None:
    replies = [question("near"), question("other", 1)]
    judging = found("answer_relevancy", texts(), replies, num_questions=2)
    # Each question is one of its own.
    assert [request.variant for request in judging.requests] == [0, 1]
    assert ["1 of 2" in told for told in questions(judging)] == [True, False]
    one = outcome(judging)
    assert str(one.reason).endswith("cosine 0.300 with the one asked; noncommittal in 1 of 2")
    assert one.verdicts[1] == Verdict("other", "noncommittal", False, "cosine 0.000")
    evading = found("answer_relevancy", texts(), replies[1:], num_questions=1)
    assert outcome(evading).reason == "the response is noncommittal"
    assert outcome(evading).verdicts == (Verdict("other", "noncommittal", False, ""),)


def test_the_response_stands_in_for_references() -> None:
    judging = found("context_precision", texts(references=()), [verdict(0), verdict(0)])
    assert all("The answer." in told for told in questions(judging))
    assert outcome(judging).reason == "0 of 2 contexts useful"
    judging = found("context_precision", BOTH, [verdict(0), verdict(1)])
    assert all("other" in told and "near" in told for told in questions(judging))


def test_context_recall_of_several_references() -> None:
    # 1/3 of the first, 1/2 of the second.
    replies = [
        *split("a", 0, 0, 1, contexts=[None, None, 2]),
        *split("b", 1, 0, contexts=[1, None]),
    ]
    judging = found("context_recall", BOTH, replies)
    assert outcome(judging).reason == "1 of 2 statements attributed (best of 2 references)"
    assert [one.text for one in outcome(judging).verdicts] == ["b0", "b1"]
    assert of_references(judging) == [(1 / 3, False), (0.5, True)]
    # Of equal ones the first; one without statements is left out.
    equal = found("context_recall", BOTH, [*split("a", 0), *split("b", 0)])
    assert outcome(equal).verdicts[0].text == "a0"
    none = found("context_recall", BOTH, [statements(), *split("b", 0)])
    assert none.values == [0.0]
    assert details(none)["references"][0] == {"value": None, "best": False, "statements": []}


PARIS = (
    "Paris lies on the Seine. It is old.\nMany people live there.",
    "Lyon lies on the Rhône. It is warm.",
)


@pytest.mark.parametrize(
    ("contexts", "copied", "value"),
    [
        (PARIS, [], 0),
        # Case and white space do not matter.
        (PARIS, ["  PARIS lies\n on the seine. "], 1 / 5),
        # The same one twice, or written otherwise, counts once.
        (PARIS, ["It is old.", "It is old.", "it  is OLD."], 1 / 5),
        # What stands in no context does not count, nor does nothing.
        (PARIS, ["Paris lies in France.", "", "  ", "It is warm."], 1 / 5),
        # Across the end of a line; across the border of two contexts it stands in none.
        (PARIS, ["It is old. Many people live there."], 1 / 5),
        (PARIS, ["Many people live there. Lyon lies on the Rhône."], 0),
        # One of two contexts counts twice at most, and all is 1 at most.
        (["It rains. It pours.", "It rains."], ["It rains."], 1 / 3),
        (["It rains. It pours.", "It rains."], ["It rains."] * 3, 2 / 3),
        (["One two three."], ["One", "two", "three."], 1),
    ],
)
def test_context_relevancy(contexts: list[str], copied: list[str], value: float) -> None:
    data = texts(retrieved_contexts=contexts)
    assert values("context_relevancy", data, [sentences(*copied)]) == [value]


def test_made_up_sentences_are_told() -> None:
    data = texts(retrieved_contexts=PARIS)
    one = outcome(found("context_relevancy", data, [sentences("Made up.", "It is old.")]))
    assert one.reason == "1 of 5 sentences relevant; 1 copied stands in no context"
    assert one.verdicts == (
        Verdict("It is old.", "relevant", True),
        Verdict("Made up.", "in no context"),
    )
    assert (one.details or {})["in_no_context"] == ["Made up."]


FAITHFUL = split("a", 1, 0)  # 1/2
RELEVANT = [question("near")] * 3  # 0.6
PRECISE = [verdict(0), verdict(1)]  # 1/2
RECALLED = split("A", 1, 1, 1, contexts=[1, 2, 1])  # 1
PARTS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall")


def test_the_ragas_score_and_its_parts() -> None:
    # 4 / (2 + 5/3 + 2 + 1) = 4 / (20/3) = 0.6.
    judging = found("ragas_score", texts(), [*FAITHFUL, *RELEVANT, *PRECISE, *RECALLED])
    assert {request.purpose.metric for request in judging.requests} == {"ragas_score"}
    one = outcome(judging)
    assert one.values == pytest.approx(
        {"value": 0.6, **dict(zip(PARTS, (0.5, 0.6, 0.5, 1.0), strict=True))}, abs=1e-15
    )
    assert one.reason == (
        "faithfulness 0.500, answer_relevancy 0.600, context_precision 0.500, context_recall 1.000"
    )
    assert len(one.verdicts) == 2 + 3 + 2 + 3
    assert (one.details or {})["faithfulness"]["reason"] == "1 of 2 claims supported"
    assert judging.output("context_precision") == 0.5


@pytest.mark.parametrize(
    ("replies", "status", "reason"),
    [
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
def test_a_part_without_a_value(replies: list[Any], status: str, reason: str) -> None:
    judging = found("ragas_score", texts(), replies)
    assert (outcome(judging).status, outcome(judging).reason) == (status, reason)
    assert len(judging.requests) == len(replies)


@pytest.mark.parametrize(
    ("name", "middle", "top"),
    [("nv_answer_accuracy", 2, 4), ("nv_context_relevance", 1, 2)],
)
def test_a_rating_that_cannot_be_read_leaves_the_other(name: str, middle: int, top: int) -> None:
    calls = [(JUDGED[name], {"judge_retries": 0})]
    judging = judged(calls, texts(), ["?", rating(middle, "In part.")])
    assert judging.values == [0.5]
    first, second = details(judging)["ratings"]
    assert (first["prompt"], first["rating"]) == (f"{name}_1", None)
    assert first["unreadable"]
    assert second == {"prompt": f"{name}_2", "rating": middle}
    reason = f"rated {middle} of {top}; {name}_1 could not be read: In part."
    assert outcome(judging).reason == reason
    neither = outcome(judged(calls, texts(), ["?", "!"]))
    assert neither.status == "parse_failure"
    assert f"{name}_1: " in str(neither.reason)
    assert f"; {name}_2: " in str(neither.reason)
    # By default each prompt is asked four times more, whatever the config says.
    again = found(name, texts(), [*"?????", *"????", str(top)], judge_retries=0)
    assert (again.values, again.unused) == ([1.0], 0)


def test_response_and_reference_change_places() -> None:
    first, second = questions(found("nv_answer_accuracy", texts(), ["4", "4"]))
    # What is graded comes first, what it is measured by behind it.
    assert first.index("The answer.") < first.index("The reference.")
    assert second.index("The reference.") < second.index("The answer.")


def test_the_best_reference_is_told_with_the_others() -> None:
    # Two calls for each, in their order: (0+2)/8 = 0.25, (4+2)/8 = 0.75, (2+4)/8 = 0.75. Of the
    # equal ones the first is told.
    data = texts(references=["r1", "r2", "r3"])
    judging = found("nv_answer_accuracy", data, ["0", "2", "4", "2", "2", "4"])
    assert judging.values == [0.75]
    told = details(judging)
    assert told["reference"] == 1
    assert [one["value"] for one in told["references"]] == [0.25, 0.75, 0.75]
    assert told["ratings"] == told["references"][1]["ratings"]
    assert [one.purpose.prompt[-1] for one in judging.requests] == list("121212")
    assert all(f"r{1 + at // 2}" in one for at, one in enumerate(questions(judging)))
    assert [(one.text, one.verdict, one.good) for one in outcome(judging).verdicts] == [
        *(("r1", "0", False), ("r1", "2", None)),
        *(("r2", "4", True), ("r2", "2", None)),
        *(("r3", "2", None), ("r3", "4", True)),
    ]


def test_a_reference_that_cannot_be_read_is_passed_over() -> None:
    calls = [(JUDGED["nv_answer_accuracy"], {"judge_retries": 0})]
    judging = judged(calls, BOTH, ["?", "?", "?", "2"])
    assert judging.values == [0.5]
    assert details(judging)["reference"] == 1
    assert list(details(judging)["references"][0]) == ["unreadable"]
    none = outcome(judged(calls, BOTH, ["?"] * 4))
    assert (none.status, str(none.reason).count("reference ")) == ("parse_failure", 2)
    failed = found("nv_answer_accuracy", BOTH, ["4", "4", NoAnswer("HTTP 500")])
    assert outcome(failed).status == "judge_error"


SEARCH = {"type": "web_search", "max_uses": 3}


def test_facts_are_checked_with_tools() -> None:
    plain = found("fact_check", texts(), ["0.7"])
    assert outcome(plain).reason == "the judge said 0.7"
    assert outcome(plain).verdicts[0].good is False
    with_tools = found("fact_check", texts(), ["?", "0.7"], tools=(SEARCH,))
    assert [one.tools for one in with_tools.requests] == [(SEARCH,), (SEARCH,)]
    assert plain.requests[0].tools == ()
    assert plain.requests[0].key != with_tools.requests[0].key
    assert with_tools.findings[0].warnings == ()
    (told,) = plain.findings[0].warnings
    assert told.startswith("asked a plain judge, without a tool to search with")


def test_a_fact_check_shows_a_question_where_there_is_one_and_stops_at_its_limit() -> None:
    data = samples(["a", None, "c", None], user_input=[QUESTION, None, None, None])
    judging = found("fact_check", data.shard(data.number != 1), ["1", "0.5"])
    assert [QUESTION in told for told in questions(judging)] == [True, False]
    judging = found("fact_check", data, ["1"], max_dataset_rows=2)
    assert judging.findings[0].statuses == {"ok": 1, "missing_input": 1, "skipped": 2}
    assert judging.outcomes[0].reasons[2:] == ("beyond max_dataset_rows",) * 2
    assert judging.output("value") == 1.0


def test_tools_are_as_a_config_writes_them() -> None:
    model = catalogue.parameters("text_generation", "fact_check")
    given = model.model_validate_json(json.dumps({"tools": [SEARCH], "max_dataset_rows": 5}))
    assert given.model_dump()["tools"] == (SEARCH,)
    for wrong in ({"tools": "web_search"}, {"tools": ["x"]}, {"max_dataset_rows": 0}):
        with pytest.raises(ValidationError):
            model.model_validate_json(json.dumps(wrong))
    assert model.model_json_schema()["properties"]["tools"]["items"]["type"] == "object"
