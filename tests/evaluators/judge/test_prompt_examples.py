"""The examples in prompts are replies that fit, and say what the prompts say that they should."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from valor_cli.evaluators.judge.evidence.reply_readings import (
    Reading,
    correctness,
    evaluation_score,
    question,
    rating,
    sentences,
    statements,
    verdict,
    verdicts,
    word,
)
from valor_cli.models.judge import prompt_files

Fields = Mapping[str, Any]


def joined(given: Fields) -> str:
    return "\n".join(given["contexts"])


READINGS: dict[str, Callable[[Fields], Reading[Any]]] = {
    "statements": lambda given: statements(given["text"]),
    "opinions": lambda given: statements(given["response"]),
    "answer_correctness": lambda given: correctness(
        given["statements"], given["reference_statements"]
    ),
    "answer_relevance": lambda given: verdicts(len(given["statements"])),
    "answer_relevancy": lambda given: question(),
    "bias": lambda given: verdicts(len(given["opinions"])),
    "toxicity": lambda given: verdicts(len(given["opinions"])),
    "context_precision": lambda given: verdict(),
    "context_recall": lambda given: verdicts(
        len(given["statements"]), contexts=len(given["contexts"])
    ),
    "context_relevance": lambda given: verdicts(len(given["contexts"])),
    "context_relevancy": lambda given: sentences(joined(given)),
    "faithfulness": lambda given: verdicts(len(given["claims"])),
    "hallucination": lambda given: verdicts(len(given["contexts"])),
    "summary_coherence": lambda given: rating((1, 2, 3, 4, 5)),
    "nv_answer_accuracy_1": lambda given: rating((0, 2, 4)),
    "nv_answer_accuracy_2": lambda given: rating((0, 2, 4)),
    "nv_context_relevance_1": lambda given: rating((0, 1, 2)),
    "nv_context_relevance_2": lambda given: rating((0, 1, 2)),
    "nv_response_groundedness_1": lambda given: rating((0, 1, 2)),
    "nv_response_groundedness_2": lambda given: rating((0, 1, 2)),
    "contact_information": lambda given: word(("absent", "present")),
    "language_mismatch": lambda given: word(("same", "different")),
    "sexism": lambda given: word(("false", "true")),
    "summarization_judge": lambda given: word(("good", "bad")),
    "stereotypes": lambda given: rating(tuple(range(11))),
    "fact_check": lambda given: evaluation_score(),
}
EXAMPLES = [
    pytest.param(name, one.fields, one.reply, id=f"{name}-{at}")
    for name in prompt_files.names()
    for at, one in enumerate(prompt_files.shipped(name).examples, 1)
]


def replies(name: str) -> list[Any]:
    return [one.reply for one in prompt_files.shipped(name).examples]


def test_every_prompt_has_a_reading() -> None:
    assert sorted(READINGS) == list(prompt_files.names())


@pytest.mark.parametrize(("name", "given", "reply"), EXAMPLES)
def test_every_example_fits(name: str, given: Fields, reply: Any) -> None:
    reading = READINGS[name](given)
    read = reading.read(json.dumps(reply, ensure_ascii=False))
    assert reading.schema is not None
    assert set(reply) <= set(reading.schema["properties"])
    if "verdicts" in reply:
        assert [one.verdict for one in read] == [one["verdict"] == 1 for one in reply["verdicts"]]
        assert [one.reason for one in read] == [one["reason"] for one in reply["verdicts"]]
    if "context" in reply.get("verdicts", [{}])[0]:
        assert [one.context for one in read] == [one["context"] for one in reply["verdicts"]]
        assert all(one.verdict == (one.context is not None) for one in read)


@pytest.mark.parametrize(("name", "given", "reply"), EXAMPLES)
def test_reasons_come_before_what_follows_from_them(name: str, given: Fields, reply: Any) -> None:
    for one in reply.get("verdicts", [reply]):
        keys = list(one)
        if {"verdict", "rating", "evaluation_score"} & set(keys):
            assert keys[0] in ("reason", "evaluation_summary")
            assert one[keys[0]].endswith(".")


@pytest.mark.parametrize("name", prompt_files.names())
def test_examples_show_more_than_one_verdict(name: str) -> None:
    shown: list[Any] = []
    for reply in replies(name):
        for one in reply.get("verdicts", [reply]):
            shown += [one[key] for key in ("verdict", "rating", "evaluation_score") if key in one]
    assert len(set(shown)) != 1


def test_statements_are_sorted_whole() -> None:
    for one in prompt_files.shipped("answer_correctness").examples:
        assert isinstance(one.reply, dict)
        found: Any = one.reply
        assert sorted([*found["TP"], *found["FP"]]) == sorted(one.fields["statements"] or ())
        assert set(found["FN"]) <= set(one.fields["reference_statements"] or ())


def test_sentences_are_copied() -> None:
    for one in prompt_files.shipped("context_relevancy").examples:
        found: Any = one.reply
        assert all(sentence in joined(one.fields) for sentence in found["sentences"])
