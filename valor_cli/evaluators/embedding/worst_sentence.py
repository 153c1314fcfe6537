"""Report the least similar sentence of a response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from valor_cli.errors import printable
from valor_cli.evaluators.embedding.sentence_pairs import Passage
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.results import Findings, Mark, MetricInsight


def with_worst_sentence(
    texts: ModelTexts,
    found: tuple[Passage, tuple[int, int]],
    nearest: tuple[Passage, tuple[int, int]],
    similarity: float,
    kind: str,
) -> Outcome:
    """The outcome of a sample whose value is that of its worst sentence.

    Args:
        texts: The samples.
        found: The text, and the sentence of it.
        nearest: Likewise what is nearest to it.
        similarity: Of the two.
        kind: What the mark says: "least grounded".
    """
    (passage, (start, end)), (other, (first, last)) = found, nearest
    worst = {
        "text": texts.quoted(passage.text, start, end),
        "start": start,
        "end": end,
        "similarity": similarity,
        "nearest": {"field": other.field, "start": first, "end": last, "similarity": similarity},
    }
    marks = (Mark(passage.field, start, end, kind),)
    return Outcome({"value": similarity}, details={"worst_sentence": worst}, marks=marks)


def mean_with_worst_sentence(sampled: Sampled, kind: str) -> Findings:
    """The mean over samples, with a remark on the worst sentence if it is below the threshold.

    Args:
        sampled: With the details that `with_worst_sentence` makes.
        kind: What the sentence is: "least grounded".
    """
    return sampled.findings(sampled.means(), insights=_insights(sampled, kind))


def _insights(sampled: Sampled, kind: str) -> Iterator[MetricInsight]:
    threshold = sampled.call.threshold
    if threshold is None:
        return
    column = np.where(sampled.scored, sampled.outcomes.columns["value"], np.inf)
    lowest = float(column.min(initial=np.inf))
    if lowest >= threshold:
        return
    at = min(np.flatnonzero(column == lowest).tolist(), key=lambda one: sampled.sample_ids[one])
    sample_id = sampled.sample_ids[at]
    details: Mapping[str, Any] = sampled.outcomes.details[at] or {}
    text = printable(" ".join(details["worst_sentence"]["text"].split()))
    message = f'{kind} sentence: "{text}" ({lowest:.3f}, sample {printable(sample_id)})'
    yield MetricInsight("worst_sentence", message, lowest, (sample_id,))
