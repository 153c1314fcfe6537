"""SQuAD's JSON and answers by id: which documents they are, and their rows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from valor_cli.data.batch import Found
from valor_cli.data.json_records import parsed
from valor_cli.data.shapes.samples.schema import SCHEMA
from valor_cli.data.shapes.samples.squad import answers_by_id, first_squad_rows, squad_rows


def known(names: Any) -> int:
    return len(SCHEMA.layout(names, {}))


def document(*qas: Any, **more: Any) -> dict[str, Any]:
    paragraph = {"context": "The cat sat.", "qas": list(qas)}
    return {"data": [{"title": "Cats", "paragraphs": [paragraph]}], **more}


def question(answers: Any, **more: Any) -> dict[str, Any]:
    return {"id": "q", "question": "Who?", "answers": answers, **more}


def texts(*answers: Any) -> list[dict[str, Any]]:
    return [{"text": one, "answer_start": 0} for one in answers]


def test_a_question_is_a_sample() -> None:
    found = squad_rows(document(question(texts("The cat", "cat")), version="1.1"))
    assert found is not None
    assert found.rows == [
        {
            "title": "Cats",
            "sample_id": "q",
            "user_input": "Who?",
            "references": ["The cat", "cat"],
            "retrieved_contexts": ["The cat sat."],
        }
    ]


REFERENCES = [
    # SQuAD 1: every answer as it is.
    (question(texts("The", "cat", "cat")), ["The", "cat", "cat"]),
    # SQuAD 2: those without a word are none, and no answer is an empty one.
    (question(texts("The", "cat"), is_impossible=False), ["cat"]),
    (question(texts("the", "!"), is_impossible=False), [""]),
    (question([], is_impossible=True), [""]),
    # What is not as SQuAD has it is for the check of rows.
    (question([], plausible=1), []),
    (question(texts(5, None), is_impossible=False), [5, None]),
    (question("cat"), "cat"),
    (question(None), None),
    ({"id": "q"}, None),
]


@pytest.mark.parametrize(("asked", "references"), REFERENCES)
def test_references(asked: dict[str, Any], references: Any) -> None:
    found = squad_rows(document(asked))
    assert found is not None
    assert found.rows[0]["references"] == references


def test_other_fields_are_metadata() -> None:
    found = squad_rows(document(question([], is_impossible=True)))
    assert found is not None
    assert found.rows[0]["is_impossible"] is True


@pytest.mark.parametrize(
    "other", [{}, {"data": []}, {"data": {}}, {"data": [{"title": "Cats"}]}, {"data": ["cat"]}]
)
def test_other_documents(other: dict[str, Any]) -> None:
    assert squad_rows(other) is None


ANSWERS = [
    (b'{"q1": "cat", "q2": ""}', ["q1", "q2"]),
    (b'{"q1": "cat", "q2": null, "q3": 4}', ["q1", "q2", "q3"]),
    # A row of known columns, or no texts.
    (b'{"question": "Who?", "answer": "cat"}', None),
    (b'{"q1": 1, "q2": 2}', None),
    (b'{"q1": "cat", "q2": ["dog"]}', None),
    (b"{}", None),
]


@pytest.mark.parametrize(("text", "ids"), ANSWERS)
def test_answers_by_id(text: bytes, ids: list[str] | None) -> None:
    answers = parsed(text)
    rows = ids and [{"sample_id": one, "response": answers[one]} for one in ids]
    assert answers_by_id(answers, known) == (rows and Found("entry ", rows))


def test_an_object_of_many_answers_is_no_row_whatever_its_keys() -> None:
    answers = {"question": "Who?", "answer": "cat"} | {f"q{at}": "dog" for at in range(1000)}
    found = answers_by_id(answers, known)
    assert found is not None
    assert len(found.rows) == 1002


@pytest.mark.parametrize("cut", [0, 1, 40, 5000])
def test_the_first_questions_are_found_in_a_head(cut: int) -> None:
    asked = [question(texts('a {[ \\" ] }'), id=f"q{at}") for at in range(100)]
    text = json.dumps(document(*asked)).encode()
    found = first_squad_rows(text[: len(text) - cut])
    whole = squad_rows(document(*asked))
    assert found is not None
    assert whole is not None
    assert 0 < len(found.rows) <= 100
    assert found.rows == whole.rows[: len(found.rows)]
    # Not more is lost than the question in which the head ends, and those that are cut off.
    assert len(found.rows) >= 100 - 1 - cut // 80


@pytest.mark.parametrize("head", [b"", b"{", b'{"data": [', b'{"data": [{"id": 1}, {"id"', b"[{}]"])
def test_other_heads(head: bytes) -> None:
    assert first_squad_rows(head) is None
