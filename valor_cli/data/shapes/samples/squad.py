"""Find the samples in SQuAD's JSON, and in answers by id, `{id: answer}`, as its scripts read them.

Of SQuAD 2 the rule of evaluate-v2.0.py holds: answers without a word are none, and the right answer
to a question without any is an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from valor_cli.data.batch import Found, Known
from valor_cli.data.json_records import Record, json_or_none, scalar_text
from valor_cli.data.shapes.samples.other_tools import one_shape
from valor_cli.kernels.text.squad import normalised

_TOKENS: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_CLOSING: Final = {b"{": b"}", b"[": b"]"}

_QUESTIONS: Final = "qas"
"""What the rows of a data set are called."""

_ANSWERS: Final = "entry "
"""What the rows of answers are called, before their number."""

_WIDEST: Final = 1000
"""Scalars that a single row has at most; an object of more is no sample, whatever their keys."""

_OWN: Final = frozenset({"id", "question", "answers"})
"""The fields of a question that are renamed or taken apart; others are metadata."""


def squad_rows(document: Record) -> Found | None:
    """The questions of SQuAD's JSON; None if it is another document."""
    articles = document.get("data")
    if not isinstance(articles, list) or not articles:
        return None
    if not all(isinstance(one, dict) and "paragraphs" in one for one in articles):
        return None
    rows = [
        _question(asked, paragraph.get("context"), article)
        for article in articles
        for paragraph in _objects(article["paragraphs"])
        for asked in _objects(paragraph.get(_QUESTIONS))
    ]
    return Found(_QUESTIONS, rows)


def first_squad_rows(head: bytes) -> Found | None:
    """The first questions of SQuAD's JSON, of which there are some bytes; None if it is another.

    Without them all of it must be parsed to find out what it is.
    """
    inside: list[bytes] = []
    whole, rest = 0, b""
    for token in _TOKENS.finditer(head):
        if (mark := token[0]) in _CLOSING:
            inside.append(_CLOSING[mark])
        elif mark in b"}]" and inside:
            inside.pop()
            whole, rest = token.end(), b"".join(reversed(inside))
    document = json_or_none(head[:whole] + rest)
    return squad_rows(document) if isinstance(document, dict) else None


def answers_by_id(document: Record, known: Known) -> Found | None:
    """The answers of `{id: answer}`; None if it is another document, as a single row.

    Args:
        document: The JSON object.
        known: Says whether it may be a row.
    """
    answers = document.values()
    if not any(isinstance(one, str) for one in answers):
        return None
    if not all(one is None or scalar_text(one) is not None for one in answers):
        return None
    if len(document) <= _WIDEST and known(list(one_shape(document))):
        return None
    rows = [{"sample_id": key, "response": answer} for key, answer in document.items()]
    return Found(_ANSWERS, rows)


def _question(asked: Record, context: Any, article: Record) -> Record:
    """A question as a sample; what is not as SQuAD has it stays, for rows are checked."""
    answers = asked.get("answers")
    texts = answers
    if isinstance(answers, list) and all(isinstance(one, dict) for one in answers):
        texts = [one.get("text") for one in answers]
        if "is_impossible" in asked:
            texts = [one for one in texts if not isinstance(one, str) or normalised(one)] or [""]
    row = {name: value for name, value in asked.items() if name not in _OWN}
    return {
        **row,
        "title": article.get("title"),
        "sample_id": asked.get("id"),
        "user_input": asked.get("question"),
        "references": texts,
        "retrieved_contexts": [context] if isinstance(context, str) else context,
    }


def _objects(value: Any) -> Sequence[Record]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else ()
