"""Semantic answer accuracy: similarity of each response sentence to the reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, NamedTuple

from annotated_types import Interval

from valor_cli.evaluators.embedding.sentence_pairs import (
    Compared,
    Pair,
    Passage,
    compared,
    paired,
    recorded_parameters,
)
from valor_cli.evaluators.embedding.worst_sentence import (
    mean_with_worst_sentence,
    with_worst_sentence,
)
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings

_WORD: Final = re.compile(r"\w+")


def edit_likeness(one: str, other: str) -> float:
    """1 - Levenshtein distance / length of the longer text; 1 for two empty texts."""
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_similarity(one.casefold(), other.casefold()))


def equality(one: str, other: str) -> float:
    """1 if the texts are equal, else 0."""
    return float(one.casefold() == other.casefold())


def token_jaccard(one: str, other: str) -> float:
    """Jaccard similarity of the sets of words, 0 to 1.

    Words are runs of letters, digits and underscores. Where neither text has one ("?", "+"), they
    are 1 or 0 as they are equal or not.
    """
    ours, theirs = (set(_WORD.findall(text.casefold())) for text in (one, other))
    either = ours | theirs
    return len(ours & theirs) / len(either) if either else equality(one, other)


KIND = "least accurate"

ShortMetric = Literal["normalized_edit_distance", "exact_match", "token_jaccard", "embeddings"]
_WRITTEN: Mapping[str, Callable[[str, str], float]] = {
    "normalized_edit_distance": edit_likeness,
    "exact_match": equality,
    "token_jaccard": token_jaccard,
}


class _Accuracy(NamedTuple):
    """How accurate a response is by one reference: by the sentence that is furthest from it.

    Attributes:
        value: Of that sentence.
        reference: What it is compared with.
        sentence: (start, end) of it in the response.
        nearest: (start, end) of what is nearest to it in the reference.
    """

    value: float
    reference: Passage
    sentence: tuple[int, int]
    nearest: tuple[int, int]


def answer_accuracy_semantic(
    texts: ModelTexts,
    *,
    short_string_metric: ShortMetric = "normalized_edit_distance",
    short_string_threshold: Annotated[int, Interval(ge=0, le=1000)] = 10,
) -> Outcomes:
    """Cosine of the least accurate response sentence with its nearest reference sentence; the best
    reference counts.

    That is the lowest, over the sentences of the response, of the highest cosine with any sentence
    of the reference. It may be negative, and is not clipped. The least accurate sentence is kept
    with the sample.

    A response and a reference that both have at most `short_string_threshold` characters are
    compared as they are written: 1 - Levenshtein distance / length of the longer
    (normalized_edit_distance), 1 or 0 (exact_match), or words that both have / words that either
    has (token_jaccard); `embeddings` compares them as all others. Case, and white space around
    them, do not count then.

    Formula:
        n(s) = max over sentences t of the reference of cos(s, t)
        value = max over references of min over sentences s of the response of n(s)
        two short texts, by default: 1 − Levenshtein distance / length of the longer

    Pitfalls:
        One sentence decides: a "Hope this helps!" behind a right answer pulls it down, while what
        is left out costs nothing. A wrong number in an otherwise right sentence stays near. Short
        answers are compared by their characters, on another scale than the rest.

    Example:
        Two sentences whose nearest ones have the cosines 0.9 and 0.3 have 0.3. "42" against "43"
        differs in 1 of 2 characters: 1 − 1/2 = 0.5.
    """
    pairs = paired(texts, "response", "references")
    written = _WRITTEN.get(short_string_metric, equality)
    limit = -1 if short_string_metric == "embeddings" else short_string_threshold
    short = [() if isinstance(pair, Outcome) else _short(pair, limit) for pair in pairs]
    rest = [
        pair
        if isinstance(pair, Outcome)
        else Pair(pair.one, tuple(other for other in pair.others if other not in own))
        for pair, own in zip(pairs, short, strict=True)
    ]
    found = [
        one
        if isinstance(one, Outcome)
        else _outcome(texts, one.one, [*_by_vectors(one), *_as_written(one.one, own, written)])
        for one, own in zip(compared(texts, rest), short, strict=True)
    ]
    return Outcomes.of(found, ["value"], beside=recorded_parameters(texts))


def _short(pair: Pair, limit: int) -> tuple[Passage, ...]:
    """The references that are compared with the response as they are written."""
    if len(pair.one.text.strip()) > limit:
        return ()
    return tuple(other for other in pair.others if len(other.text.strip()) <= limit)


def _by_vectors(found: Compared) -> Iterator[_Accuracy]:
    for at, other in enumerate(found.others):
        worst = int(found.nearest[:, at].argmin())
        yield _Accuracy(
            float(found.nearest[worst, at]),
            other,
            found.one.spans[worst],
            found.nearest_span(worst, at),
        )


def _as_written(
    response: Passage, references: Sequence[Passage], alike: Callable[[str, str], float]
) -> Iterator[_Accuracy]:
    for other in references:
        value = alike(response.text.strip(), other.text.strip())
        yield _Accuracy(value, other, _all_of(response.text), _all_of(other.text))


def _all_of(text: str) -> tuple[int, int]:
    """Span of a text without surrounding white space."""
    said = text.strip()
    start = text.index(said)
    return start, start + len(said)


def _outcome(texts: ModelTexts, response: Passage, found: Sequence[_Accuracy]) -> Outcome:
    best = max(found, key=lambda one: (one.value, -one.reference.number))
    return with_worst_sentence(
        texts, (response, best.sentence), (best.reference, best.nearest), best.value, KIND
    )


def _findings(sampled: Sampled) -> Findings:
    return mean_with_worst_sentence(sampled, KIND)


ANSWER_ACCURACY_SEMANTIC = Metric(
    name="answer_accuracy_semantic",
    measure=answer_accuracy_semantic,
    compute=_findings,
    outputs=(Output(bounds=(-1, 1)),),
    reference="H2O Sonar's Answer Accuracy (Semantic Similarity) Evaluator; "
    "sentence_transformers.util.cos_sim",
    citation="Reimers and Gurevych, Sentence-BERT, EMNLP 2019",
    needs=("response", "references"),
    asks=("embedder",),
    threshold=0.75,
    aliases=("AnswerAccuracySemantic", "Answer Accuracy (Semantic Similarity) Evaluator"),
)
