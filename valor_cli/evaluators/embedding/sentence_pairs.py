"""Pair the texts that a metric compares and find their nearest sentences.

samples ─paired─▶ one text and others ─compared─▶ cosines of the nearest sentences
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.missing_inputs import Field, missing_input
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.kernels.text.sentences import SPLITTER
from valor_cli.kernels.vectors.cosines import similarities
from valor_cli.results import Scalar

Floats = NDArray[np.float64]

_LISTS = ("references", "retrieved_contexts")


class Passage(NamedTuple):
    """A text of a sample.

    Attributes:
        field: As marks name it: "response", "retrieved_contexts[2]".
        number: Where it stands in its list, from 0; 0 of a text that stands in none.
        text: All of it; not blank.
        spans: (start, end) of what is compared: its sentences, or all of it. One at least.
    """

    field: str
    number: int
    text: str
    spans: tuple[tuple[int, int], ...]


class Pair(NamedTuple):
    """A text, and the texts it is compared with."""

    one: Passage
    others: tuple[Passage, ...]


class Compared(NamedTuple):
    """Similarities of the sentences of a text to those of others.

    Attributes:
        one: The text.
        others: What it is compared with.
        nearest: (sentences of `one`, others) cosine with the nearest sentence of each, -1 to 1.
        vectors: (sentences of all, dimensions) of length 1; those of `one` first.
    """

    one: Passage
    others: tuple[Passage, ...]
    nearest: Floats
    vectors: Floats

    def nearest_span(self, sentence: int, other: int) -> tuple[int, int]:
        """Span of the nearest sentence, in one of the others, to a sentence of `one`."""
        start = len(self.one.spans) + sum(len(each.spans) for each in self.others[:other])
        spans = self.others[other].spans
        own = self.vectors[start : start + len(spans)]
        return spans[int(similarities(self.vectors[sentence : sentence + 1], own)[0].argmax())]


def paired(
    texts: ModelTexts, one: Field, others: Field, *, whole: Collection[str] = ("user_input",)
) -> list[Pair | Outcome]:
    """The texts to compare for each sample, or why there are none; blank texts are dropped.

    Args:
        texts: The samples.
        one: A text of each sample.
        others: What it is compared with.
        whole: The fields whose texts are compared as one, and not by their sentences.
    """
    ours, theirs = (_passages(texts, field, field in whole) for field in (one, others))
    return [
        left
        if isinstance(left, Outcome)
        else right
        if isinstance(right, Outcome)
        else Pair(left[0], right)
        for left, right in zip(ours, theirs, strict=True)
    ]


def _passages(
    texts: ModelTexts, field: Field, whole: bool
) -> Sequence[tuple[Passage, ...] | Outcome]:
    """The texts of each sample, or that it has none; the same for every metric."""
    return texts.once(("passages", field, whole), lambda: list(_found(texts, field, whole)))


def _found(texts: ModelTexts, field: Field, whole: bool) -> Iterator[tuple[Passage, ...] | Outcome]:
    for found in _listed(texts, field):
        yield missing_input(field, found) or tuple(
            Passage(
                f"{field}[{number}]" if field in _LISTS else field,
                number,
                text,
                ((0, len(text)),) if whole else texts.sentences(text),
            )
            for number, text in enumerate(found or ())
            if text.strip()
        )


def _listed(texts: ModelTexts, field: Field) -> Iterator[tuple[str, ...] | None]:
    """The texts of each sample; None where it has none."""
    data = texts.data
    if field in ("user_input", "response"):
        column = data.user_input if field == "user_input" else data.response
        return (None if text is None else (text,) for text in column)
    return iter(data.references if field == "references" else data.retrieved_contexts)


def compared(texts: ModelTexts, pairs: Sequence[Pair | Outcome]) -> Iterator[Compared | Outcome]:
    """Compare the sentences of each pair; outcomes are passed through.

    Nothing is embedded of a text that is beside no other.
    """
    groups = [
        [
            passage.text[start:end]
            for passage in (pair.one, *pair.others)
            for start, end in passage.spans
        ]
        for pair in pairs
        if isinstance(pair, Pair) and pair.others
    ]
    vectors = texts.unit_vectors(groups)
    for pair in pairs:
        if isinstance(pair, Outcome):
            yield pair
        elif pair.others:
            yield _compared(pair, next(vectors))
        else:
            yield Compared(*pair, np.empty((len(pair.one.spans), 0)), np.empty((0, 0)))


def _compared(pair: Pair, vectors: Floats) -> Compared | Outcome:
    own = len(pair.one.spans)
    known: NDArray[np.bool_] = np.any(vectors != 0, axis=1)
    if not known[:own].all() or not known[own:].any():
        # A vector of zeros has no direction: static embedders make it of words they never saw.
        field = pair.one.field if not known[:own].all() else pair.others[0].field.partition("[")[0]
        reason = f"the embedder has no vector of a sentence of {field}: it is all zeros"
        return Outcome(status="not_applicable", reason=reason)
    starts = np.cumsum([0, *(len(other.spans) for other in pair.others[:-1])])
    return Compared(*pair, nearest_of_each(vectors[:own], vectors[own:], starts), vectors)


def by_sentences(
    texts: ModelTexts,
    pairs: Sequence[Pair | Outcome],
    look: Callable[[Compared], Outcome],
    outputs: Sequence[str] = ("value",),
) -> Outcomes:
    """Outcomes by `look` for each pair, recorded with the embedder and the sentence splitter."""
    found = [one if isinstance(one, Outcome) else look(one) for one in compared(texts, pairs)]
    return Outcomes.of(found, outputs, beside=recorded_parameters(texts))


def recorded_parameters(texts: ModelTexts) -> Mapping[str, Scalar]:
    """Parameters recorded with values that use sentence vectors."""
    return {**texts.models.embedder.beside, "splitter": SPLITTER}


AT_ONCE: Final = 4_000_000
"""Cosines that are held at once, at most: 32 MB, however long the texts are."""


def nearest_of_each(
    ones: NDArray[np.float64], others: NDArray[np.float64], starts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Highest cosine of each vector with the vectors of each text.

    Args:
        ones: (m, dimensions) of length 1, or zeros.
        others: (n, dimensions) likewise; text after text, and of each one vector at least.
        starts: (texts,) where the vectors of each text begin; the first begins at 0.

    Returns:
        (m, texts) the cosines, -1 to 1.
    """
    rows = max(AT_ONCE // len(others), 1)
    if len(ones) <= rows:
        return _highest(ones, others, starts)
    parts = [_highest(ones[at : at + rows], others, starts) for at in range(0, len(ones), rows)]
    return np.concatenate(parts)


def _highest(
    ones: NDArray[np.float64], others: NDArray[np.float64], starts: NDArray[np.int64]
) -> NDArray[np.float64]:
    found = np.maximum.reduceat(similarities(ones, others), starts, axis=1)
    return np.asarray(found, np.float64)
