"""Step alignment: whether a response lists the steps of the retrieved contexts in order.

The edits are those of the shortest edit path from the steps of the response to the steps of the
contexts: an insertion is a missing step, a deletion an extra one, a mismatch a different one. H2O
Eval Studio finds steps with a language model or regular expressions, and compares them by
embeddings; here regular expressions find them, and the cosine of their vectors compares them, or
their edit distance: 1 - Levenshtein distance / length of the longer one. Both ignore case, markup
and extra white space.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from valor_cli.evaluators.missing_inputs import ABSENT
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, missing
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.kernels.text.steps import Pairing, align, find_steps, words_of
from valor_cli.kernels.vectors.cosines import similarities
from valor_cli.metric import ByParameters, Metric, ModelKind, Output
from valor_cli.results import Mark

COMPARED = 1_000
"""Characters of a step that are compared with other steps."""

MOST_STEPS = 500
"""Of a response, or of its contexts, that are aligned; more are no procedure."""

Similarity = Literal["embeddings", "edit"]

Fraction = Annotated[float, Interval(ge=0, le=1)]

OUTPUTS = (
    Output("edits", "lower", (0, None), "count"),
    Output("insertions", "lower", (0, None), "count"),
    Output("deletions", "lower", (0, None), "count"),
    Output("mismatches", "lower", (0, None), "count"),
    Output("context_steps", None, (0, None), "count"),
    Output("answer_steps", None, (0, None), "count"),
    Output("edits_per_context_step", "lower", (0, None)),
)


class _Step(NamedTuple):
    """A step: its field, span and text."""

    field: str
    start: int
    end: int
    words: str


class _Lists(NamedTuple):
    """The steps of the contexts and of the response."""

    expected: Sequence[_Step]
    given: Sequence[_Step]


def step_alignment(
    texts: ModelTexts,
    *,
    similarity: Similarity = "embeddings",
    step_similarity_threshold: Fraction = 0.5,
) -> Outcomes:
    """Number of edits (insert, delete, replace) that turn the response's steps into those of the
    retrieved contexts, in order.

    Steps are "Step n", numbered, bulleted, or begin with an ordinal word (First, Then, Finally …).
    Two are the same whose similarity is `step_similarity_threshold` or more: with `embeddings` the
    cosine of their vectors, for which 0.5 fits all-MiniLM-L6-v2; with `edit`, which asks no model,
    1 - Levenshtein distance / length of the longer. An insertion is a step that is missing, a
    deletion one too many, a mismatch one that says something else.

    Formula:
        edits = insertions + deletions + mismatches, the fewest that align the steps
        edits_per_context_step = edits / context_steps

    Pitfalls:
        A step at the wrong place costs two edits. `edits` grows with the procedure: compare
        procedures of different length by edits_per_context_step. A right answer in plain prose has
        no steps that could be found, and all of the contexts' count as missing.

    Example:
        The contexts list A, B, C, D and the response A, C, D, E: B is inserted and E deleted, 2
        edits, 2 / 4 = 0.5 per context step.
    """
    data = texts.data
    found = [
        missing(ABSENT["response"])
        if response is None
        else missing(ABSENT["retrieved_contexts"])
        if not contexts
        else _lists(response, contexts)
        for response, contexts in zip(data.response, data.retrieved_contexts, strict=True)
    ]
    outcomes = [one if isinstance(one, Outcome) else Outcome() for one in found]
    rows = [(at, one) for at, one in enumerate(found) if isinstance(one, _Lists)]
    lists = [one for _, one in rows]
    embeds = similarity == "embeddings"
    likenesses = _cosines(texts, lists) if embeds else (_likeness(*one) for one in lists)
    for (at, one), likeness in zip(rows, likenesses, strict=True):
        outcomes[at] = _outcome(one, likeness, step_similarity_threshold)
    beside = texts.models.embedder.beside if embeds else {}
    return Outcomes.of(outcomes, [output.name for output in OUTPUTS], beside=beside)


def _asks(parameters: Mapping[str, Any]) -> tuple[ModelKind, ...]:
    return ("embedder",) if parameters["similarity"] == "embeddings" else ()


STEP_ALIGNMENT = Metric(
    name="step_alignment",
    measure=step_alignment,
    compute=mean_of_samples,
    outputs=OUTPUTS,
    reference="H2O Eval Studio, Step Alignment and Completeness",
    citation="A. Sudjianto and A. Sudjianto, Evaluating Procedure Generation in "
    "Retrieval-Augmented Generation (RAG) Systems",
    needs=("response", "retrieved_contexts"),
    by_parameters=ByParameters(asks=_asks),
    threshold=0.75,
    aliases=(
        "step_alignment_and_completeness",
        "Step Alignment and Completeness Evaluator",
    ),
)


def _lists(response: str, contexts: Sequence[str]) -> _Lists | Outcome:
    expected = [
        step
        for number, context in enumerate(contexts)
        for step in _steps(f"retrieved_contexts[{number}]", context)
    ]
    given = list(_steps("response", response))
    if not expected:
        return Outcome(status="not_applicable", reason="no steps in the retrieved contexts")
    for steps, where in ((expected, "retrieved contexts list"), (given, "response lists")):
        if len(steps) > MOST_STEPS:
            reason = f"the {where} {len(steps):,} steps; at most {MOST_STEPS} are aligned"
            return Outcome(status="skipped", reason=reason)
    return _Lists(expected, given)


def _outcome(lists: _Lists, likeness: NDArray[np.float64], threshold: float) -> Outcome:
    expected, given = lists
    pairings = align(likeness >= threshold)
    return Outcome(
        _values(pairings, len(expected), len(given)),
        details=_details(pairings, expected, given, likeness),
        marks=tuple(_marks(pairings, expected, given)),
    )


def _steps(field: str, text: str) -> Iterator[_Step]:
    for step in find_steps(text):
        compared = step._replace(end=min(step.end, step.body + COMPARED))
        yield _Step(field, step.start, step.end, words_of(text, compared))


def _cosines(texts: ModelTexts, lists: Sequence[_Lists]) -> Iterator[NDArray[np.float64]]:
    """Of each two lists the cosines of the vectors of their steps; 1 of steps of the same words."""
    if not lists:
        return
    groups = [[step.words for step in (*one.expected, *one.given)] for one in lists]
    for one, words, vectors in zip(lists, groups, texts.unit_vectors(groups), strict=True):
        first = len(one.expected)
        alike = similarities(vectors[:first], vectors[first:])
        # A model that knows none of the words has no vector for them.
        same = np.equal.outer(np.array(words[:first], object), np.array(words[first:], object))
        yield np.where(same.astype(bool), 1.0, alike)


def _likeness(expected: Sequence[_Step], given: Sequence[_Step]) -> NDArray[np.float64]:
    """(expected, given) how similar the steps are, from 0 to 1."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    ours, theirs = ([step.words for step in steps] for steps in (expected, given))
    distances = cdist(ours, theirs, scorer=Levenshtein.distance, dtype=np.int32)
    lengths = (np.array([len(words) for words in column], np.int32) for column in (ours, theirs))
    return 1 - distances.reshape(len(ours), len(theirs)) / np.maximum.outer(*lengths)


def _values(pairings: Sequence[Pairing], expected: int, given: int) -> dict[str, float]:
    made = [pairing.edit for pairing in pairings]
    edits = len(made) - made.count("match")
    return {
        "edits": edits,
        "insertions": made.count("insertion"),
        "deletions": made.count("deletion"),
        "mismatches": made.count("mismatch"),
        "context_steps": expected,
        "answer_steps": given,
        "edits_per_context_step": edits / expected,
    }


def _details(
    pairings: Sequence[Pairing],
    expected: Sequence[_Step],
    given: Sequence[_Step],
    likeness: NDArray[np.float64],
) -> dict[str, Any]:
    """Positions and alignment of the steps; their texts are in the fields."""
    return {
        "alignment": [
            {
                "edit": edit,
                "context_step": i,
                "answer_step": j,
                "similarity": None if i is None or j is None else float(likeness[i, j]),
            }
            for edit, i, j in pairings
        ],
        "context_steps": [list(step[:3]) for step in expected],
        "answer_steps": [list(step[:3]) for step in given],
    }


def _marks(
    pairings: Sequence[Pairing], expected: Sequence[_Step], given: Sequence[_Step]
) -> Iterator[Mark]:
    """Marks of missing, extra and different steps."""
    for edit, i, j in pairings:
        for steps, at, kind in ((expected, i, "missing step"), (given, j, "extra step")):
            if at is not None and edit != "match":
                what = "different step" if edit == "mismatch" else kind
                yield Mark(*steps[at][:3], what)
