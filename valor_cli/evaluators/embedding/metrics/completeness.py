"""Completeness: how much of the semantic range of a text its summary covers.

The completeness of H2O Sonar's summarization evaluator. A sentence is a point: its vector, reduced
by UMAP over the sentences of the text. Each sentence of the summary represents the nearest
sentences of the text, or none, and the extent of those is compared with that of all. Beyond the
definition: a duplicate sentence is one point, and a sentence copied verbatim into the summary is
its own point in the text, which UMAP would place next to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from valor_cli.evaluators.missing_inputs import missing_input
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Ints, Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.kernels.text.sentences import SPLITTER
from valor_cli.kernels.vectors.cosines import (
    distances,
    median_distance,
    nearest_within,
    three_segments,
)
from valor_cli.metric import Metric
from valor_cli.models.embedders.reduction import Cloud
from valor_cli.results import Mark

LEAST_SENTENCES = 4
"""Of a text: three sentences would lie on a line."""

MOST_SENTENCES = 4_000
"""Of a text or a summary; of more, UMAP only estimates which are near each other."""


class _Sentences(NamedTuple):
    """The sentences of a sample.

    Attributes:
        spans: Where those of the summary stand.
        place: (n,) for each of them, its position in `text`, or behind it in `new`.
        text: The distinct ones of the text.
        new: The distinct ones of the summary that are not in the text.
    """

    spans: Sequence[tuple[int, int]]
    place: Ints
    text: Sequence[str]
    new: Sequence[str]


def completeness(texts: ModelTexts) -> Outcomes:
    """How much of the extent of the text's sentence vectors those of its summary cover.

    `user_input` is the text, `response` its summary. UMAP, trained on the distinct sentences of the
    text, lays them out in 5 dimensions, fewer than 7 in two less than they are. A sentence of the
    summary stands for the nearest one of the text, and is dropped where that is further away than
    the median distance between sentences of the text. The reach of some points is the longest
    segment between two of them, and from either end the longest to a further one; completeness is
    the reach of the summary's points over that of all, at most 1. A summary of one sentence reaches
    nowhere: 0, as one of which all sentences are dropped. A text of fewer than 4 distinct sentences
    has no value.

    Formula:
        value = min(1, reach of the summary's points / reach of the text's points)
        reach = |ab| + |ac| + |bd|; a, b: the two points that are furthest apart,
                c, d: the points furthest from a (but for b), from b (but for a)

    Pitfalls:
        Geometry, not content: three sentences that lie far apart reach nearly as far as the whole
        text, whatever is missing between. Summaries of one sentence have 0, however good, and short
        texts have rough values.

    Example:
        Points of the text at 0, 3, 7 and 10 on a line reach 10 + 7 + 7 = 24; a summary that stands
        for those at 0, 7 and 10 reaches 10 + 7 + 3 = 20: 20 / 24 = 0.833.

    Raises:
        MissingExtraError: umap-learn is not installed.
    """
    data = texts.data
    found = [_sample(texts, *both) for both in zip(data.user_input, data.response, strict=True)]
    outcomes = [one if isinstance(one, Outcome) else Outcome() for one in found]
    rows = [(at, one) for at, one in enumerate(found) if isinstance(one, _Sentences)]
    # What cannot be done is found out before anything is embedded.
    reduction = texts.models.reduction("completeness")
    clouds = reduction.points(_clouds(texts, [one for _, one in rows]), len(rows))
    for (at, sentences), cloud in zip(rows, clouds, strict=True):
        outcomes[at] = _outcome(sentences, cloud)
    beside = {
        **texts.models.embedder.beside,
        "splitter": SPLITTER,
        "reduction": reduction.name,
    }
    return Outcomes.of(outcomes, ["value"], beside=beside)


def _sample(texts: ModelTexts, text: str | None, summary: str | None) -> _Sentences | Outcome:
    if lack := missing_input("user_input", text) or missing_input("response", summary):
        return lack
    own, spans = _split(texts, text or ""), texts.sentences(summary or "")
    said = [(summary or "")[start:end] for start, end in spans]
    distinct = list(dict.fromkeys(own))
    if len(distinct) < LEAST_SENTENCES:
        reason = f"the text has {len(distinct)} distinct sentences; {LEAST_SENTENCES} are needed"
        return Outcome(status="not_applicable", reason=reason)
    if max(len(distinct), len(said)) > MOST_SENTENCES:
        reason = f"there are more than {MOST_SENTENCES:,} sentences"
        return Outcome(status="skipped", reason=reason)
    places = {sentence: at for at, sentence in enumerate(dict.fromkeys([*distinct, *said]))}
    place = np.array([places[sentence] for sentence in said], np.int64)
    return _Sentences(spans, place, distinct, list(places)[len(distinct) :])


def _split(texts: ModelTexts, text: str) -> list[str]:
    return [text[start:end] for start, end in texts.sentences(text)]


def _clouds(texts: ModelTexts, samples: Sequence[_Sentences]) -> Iterator[Cloud]:
    if not samples:
        return
    groups = [(*one.text, *one.new) for one in samples]
    for one, vectors in zip(samples, texts.unit_vectors(groups), strict=True):
        yield Cloud(vectors[: len(one.text)], vectors[len(one.text) :])


def _outcome(sentences: _Sentences, cloud: Cloud) -> Outcome:
    apart = distances(cloud.trained, cloud.trained)
    whole = three_segments(apart)
    if not whole > 0:
        reason = "all sentences of the text lie on one point"
        return Outcome(status="not_applicable", reason=reason)
    reach = median_distance(apart)
    stands_for = np.concatenate(
        [
            np.arange(len(cloud.trained)),
            nearest_within(distances(cloud.others, cloud.trained), reach),
        ]
    )[sentences.place]
    kept = np.unique(stands_for[stands_for >= 0])
    covered = three_segments(apart[np.ix_(kept, kept)])
    dropped = np.flatnonzero(stands_for < 0).tolist()
    details: dict[str, Any] = {
        "dimensions": cloud.trained.shape[1],
        "sentences": len(cloud.trained),
        "summary_sentences": len(sentences.place),
        "dropped": len(dropped),
        "reach": covered,
        "reach_of_text": whole,
    }
    return Outcome(
        {"value": min(covered / whole, 1.0)},
        reason=None if len(kept) else "no sentence of the summary is near one of the text",
        details=details,
        marks=tuple(Mark("response", *sentences.spans[at], "far from the text") for at in dropped),
    )


COMPLETENESS = Metric(
    name="completeness",
    measure=completeness,
    compute=mean_of_samples,
    reference="H2O Sonar, Summarization (Completeness and Faithfulness) Evaluator",
    citation="McInnes, Healy and Melville, UMAP, 2018",
    needs=("user_input", "response"),
    asks=("embedder", "reduction"),
    threshold=0.75,
    aliases=(
        "Summarization (Completeness and Faithfulness) Evaluator",
        "Completeness",
        "summarization_completeness",
    ),
)
