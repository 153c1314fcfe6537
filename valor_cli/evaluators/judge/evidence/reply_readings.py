"""Reply formats of judges, and their parsers.

A reply may have more than its format asks for: other keys, prose, a fence, a thought. Of several
JSON values that fit, `json_values` decides which counts. What does not fit raises `Unfit`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.evaluators.judge.evidence import reply_schemas as form
from valor_cli.evaluators.judge.evidence.replies import Unfit as Unfit
from valor_cli.evaluators.judge.evidence.replies import (
    first_of,
    json_or,
    listed,
    number_up_to,
    one_of,
    texts,
    truth,
    words_of,
)
from valor_cli.kernels.replies.json_values import json_values
from valor_cli.kernels.replies.ratings import (
    fraction_in_words,
    fraction_of,
    rating_in_words,
    rating_of,
    word_in_reply,
    word_of,
)

T = TypeVar("T")

_TYPICAL = "The passage says so in its second sentence, and nothing else in it speaks against that."
_QUESTION = "When was the first bridge over the river opened to the public?"
_CONFUSION = ("TP", "FP", "FN")
_RATINGS = ("rating", "score")
_SCORES = ("evaluation_score", *_RATINGS)
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])[ \t]+|\n+|(?<=[。！？])")


class Reading(Struct, Generic[T], frozen=True):
    """A reply format with its parser.

    Attributes:
        name: Of the schema.
        schema: JSON Schema of the reply; None where any text will do.
        read: The reply to what it says. Raises `Unfit`.
        example_reply: A reply of this kind, of a likely length, for estimates.
    """

    name: str
    schema: Mapping[str, Any] | None
    read: Callable[[str], T]
    example_reply: str


class Judged(NamedTuple):
    """A verdict with its reason; `context` is the context it refers to, from 1, or None."""

    verdict: bool
    reason: str = ""
    context: int | None = None


class Correctness(NamedTuple):
    """Correct and wrong statements of an answer, and missing statements of a reference."""

    tp: tuple[str, ...]
    fp: tuple[str, ...]
    fn: tuple[str, ...]


class Question(NamedTuple):
    """A question that an answer replies to, and whether the answer is evasive."""

    question: str
    noncommittal: bool


class Rating(NamedTuple):
    """A rating, with a reason."""

    rating: int
    reason: str = ""


class Word(NamedTuple):
    """One of the requested words, as written, with a reason."""

    word: str
    reason: str = ""


class Evaluation(NamedTuple):
    """A number from 0 to 1, with a reason."""

    score: float
    summary: str = ""


def statements(text: str) -> Reading[tuple[str, ...]]:
    """The statements, claims or opinions of a text, which is used only to simulate them."""
    return _list_of_texts("statements", "statement", text)


def sentences(text: str) -> Reading[tuple[str, ...]]:
    """Sentences copied from a text, which is used only to simulate them."""
    return _list_of_texts("sentences", "sentence", text)


def steps() -> Reading[tuple[str, ...]]:
    """Evaluation steps, one at least."""
    found = _list_of_texts("steps", "step", " ".join([_TYPICAL] * 4))

    def read(reply: str) -> tuple[str, ...]:
        said = found.read(reply)
        if not said:
            raise Unfit("steps is an empty list")
        return said

    return replace(found, read=read)


def verdicts(n: int, *, contexts: int | None = None) -> Reading[tuple[Judged, ...]]:
    """One verdict for each item, in list order.

    Args:
        n: How many.
        contexts: How many contexts there are, where each verdict names the one it rests on.
    """
    keys = {"reason": form.text(), "verdict": form.whole((0, 1))}
    one: dict[str, object] = {"reason": _TYPICAL, "verdict": 1}
    if contexts is not None:
        keys["context"], one["context"] = form.whole_or_null(), 1

    def read(value: Mapping[str, Any]) -> tuple[Judged, ...]:
        found = listed(value, "verdicts")
        if len(found) != n:
            raise Unfit(f"expected {n} verdict{'s' if n != 1 else ''}, found {len(found)}")
        return tuple(_judged(item, f"verdict {at}", contexts) for at, item in enumerate(found, 1))

    schema = form.keyed(verdicts=form.many(form.keyed(**keys)))
    return _json_reading("verdicts", schema, ("verdicts",), read, {"verdicts": [one] * n})


def verdict() -> Reading[Judged]:
    """One verdict."""
    return _json_reading(
        "verdict",
        form.keyed(reason=form.text(), verdict=form.whole((0, 1))),
        ("verdict",),
        lambda value: _judged(value, "the reply", None),
        {"reason": _TYPICAL, "verdict": 1},
    )


def correctness(
    statements: Sequence[str], reference_statements: Sequence[str]
) -> Reading[Correctness]:
    """Statements of an answer, correct (TP) or wrong (FP), and missing ones (FN).

    All statements of the answer are in TP or FP, some of the reference in FN. Only how many is
    checked: judges word them anew.
    """
    made, expected = len(statements), len(reference_statements)

    def read(value: Mapping[str, Any]) -> Correctness:
        found = Correctness(*(texts(value, key, "statement") for key in _CONFUSION))
        told = len(found.tp) + len(found.fp)
        if told != made:
            raise Unfit(f"statements in TP and FP together: expected {made}, found {told}")
        if len(found.fn) > expected:
            raise Unfit(f"statements in FN: expected at most {expected}, found {len(found.fn)}")
        return found

    right, lacking = (made + 1) // 2, (expected + 1) // 2
    parts = (statements[:right], statements[right:], reference_statements[:lacking])
    imagined = {key: list(part) for key, part in zip(_CONFUSION, parts, strict=True)}
    schema = form.keyed(**{key: form.many(form.text()) for key in _CONFUSION})
    return _json_reading("correctness", schema, _CONFUSION, read, imagined)


def question() -> Reading[Question]:
    """A question that a text answers, and whether the text is evasive."""

    def read(value: Mapping[str, Any]) -> Question:
        asked = words_of(value, "question")
        if not asked:
            raise Unfit("the question is empty, or no string")
        return Question(asked, truth(value, "noncommittal", "the reply"))

    schema = form.keyed(question=form.text(), noncommittal=form.whole((0, 1)))
    imagined = {"question": _QUESTION, "noncommittal": 0}
    return _json_reading("question", schema, ("question",), read, imagined)


def rating(scale: Sequence[int]) -> Reading[Rating]:
    """A rating on a scale, in JSON or in words."""
    return _reasoned(plain_rating(scale), "rating", form.whole(scale), max(scale, default=0))


def plain_rating(scale: Sequence[int]) -> Reading[Rating]:
    """The same, if the prompt specifies no format."""

    def read_json(value: Mapping[str, Any]) -> Rating:
        number = first_of(value, _RATINGS, lambda said: rating_of(said, scale), one_of(scale))
        return Rating(number, words_of(value, "reason"))

    def in_words(reply: str) -> Rating | None:
        number = rating_in_words(reply, scale)
        return None if number is None else Rating(number)

    read = json_or(_RATINGS, read_json, f"rating, {one_of(scale)},", in_words)
    return Reading("rating", None, read, str(max(scale, default=0)))


def word(words: Sequence[str]) -> Reading[Word]:
    """One of some words, alone or as a verdict."""
    longest = max(words, key=len, default="")
    return _reasoned(plain_word(words), "verdict", form.choice(words), longest)


def plain_word(words: Sequence[str]) -> Reading[Word]:
    """The same, if the prompt specifies no format."""

    def read_json(value: Mapping[str, Any]) -> Word:
        said = first_of(value, ("verdict",), lambda said: word_of(said, words), one_of(words))
        return Word(said, words_of(value, "reason"))

    def in_strings(reply: str) -> Word | None:
        strings = (word_of(value, words) for value in json_values(reply))
        return next((Word(one) for one in strings if one is not None), None)

    read_other = json_or(("verdict",), read_json, f"word alone, {one_of(words)},", in_strings)

    def read(reply: str) -> Word:
        said = word_in_reply(reply, words)
        return read_other(reply) if said is None else Word(said)

    return Reading("word", None, read, max(words, key=len, default=""))


def evaluation_score() -> Reading[Evaluation]:
    """A number from 0 to 1 with a summary, in JSON or after a label."""

    def read_json(value: Mapping[str, Any]) -> Evaluation:
        score = first_of(value, _SCORES, fraction_of, "a number from 0 to 1")
        return Evaluation(score, words_of(value, "evaluation_summary", "summary", "reason"))

    def in_words(reply: str) -> Evaluation | None:
        score = fraction_in_words(reply)
        return None if score is None else Evaluation(score)

    read = json_or(_SCORES, read_json, "evaluation_score from 0 to 1", in_words)
    schema = form.keyed(evaluation_summary=form.text(), evaluation_score=form.number())
    imagined = {"evaluation_summary": f"{_TYPICAL} {_TYPICAL}", "evaluation_score": 0.75}
    return Reading("evaluation", schema, read, _json(imagined))


def _reasoned(plain: Reading[T], key: str, kind: form.Form, example: object) -> Reading[T]:
    """The same as JSON, with a reason before what is said under a key."""
    schema = form.keyed(reason=form.text(), **{key: kind})
    example_reply = _json({"reason": _TYPICAL, key: example})
    return replace(plain, schema=schema, example_reply=example_reply)


def _list_of_texts(key: str, inner: str, text: str) -> Reading[tuple[str, ...]]:
    parts = [part for part in map(str.strip, _BETWEEN_SENTENCES.split(text)) if part]
    schema = form.keyed(**{key: form.many(form.text())})
    return _json_reading(key, schema, (key,), lambda value: texts(value, key, inner), {key: parts})


def _judged(item: Any, place: str, contexts: int | None) -> Judged:
    if not isinstance(item, dict):
        raise Unfit(f"{place} is no object with the keys reason and verdict")
    context = None if contexts is None else number_up_to(item.get("context"), contexts)
    return Judged(truth(item, "verdict", place), words_of(item, "reason"), context)


def _json_reading(
    name: str,
    schema: Mapping[str, Any],
    keys: Sequence[str],
    read: Callable[[Mapping[str, Any]], T],
    example_reply: Mapping[str, Any],
) -> Reading[T]:
    """A reply that is a JSON object; those with one of the keys are tried."""
    read_reply = json_or(keys, read, f"JSON object with the key {' or '.join(keys)}")
    return Reading(name, schema, read_reply, _json(example_reply))


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
