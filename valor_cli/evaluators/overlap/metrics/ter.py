"""Translation edit rate (TER).

Snover et al., A Study of Translation Edit Rate with Targeted Human Annotation, AMTA 2006. An edit
inserts, deletes or replaces a word, or shifts words to another place. Edits, words and signature
are sacrebleu's; the value is a fraction, and above 1 where there are more edits than words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Interval

from valor_cli.evaluators.overlap.reference_texts import comparable, incomparable_outcomes
from valor_cli.evaluators.overlap.sacrebleu_settings import (
    REFERENCES,
    STATISTICS,
    of_corpus,
    reference_counts,
)
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings

if TYPE_CHECKING:
    from sacrebleu.metrics import ter as sacrebleu_ter

OUTPUTS = ("value",)


def ter(
    texts: Texts,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
    max_words: Annotated[int, Interval(ge=1)] = 1_000,
) -> Outcomes:
    """Translation edit rate of sacrebleu, with its signature: edits per word of the references.

    Of several references the fewest edits count, and the mean length. The search for shifts takes
    half a minute for two texts of 1,000 words, and for longer ones as many times longer: samples
    with a text of more than `max_words` words are skipped.

    Formula:
        TER = edits / words of the references
        edit: a word inserted, deleted or replaced, or a run of words shifted

    Pitfalls:
        Lower is better, and there is no upper bound: six wrong words against a reference of two
        have 3. All edits cost the same, that of a name as that of a comma, and a paraphrase counts
        as wrong words. Case does not count by default, and punctuation sticks to its word unless
        `normalized`.

    Example:
        "on the mat the cat sat" against "the cat sat on the mat": one shift, 6 words, 1 / 6 =
        0.167.
    """
    data = texts.data
    metric = _settings(normalized, no_punct, asian_support, case_sensitive)
    statistics = np.zeros((data.unit_count, 2))
    outcomes = incomparable_outcomes(data)
    for at, response, references in comparable(data):
        if _longest(metric, (response, *references)) > max_words:
            why = f"a text of more than {max_words:,} words"
            outcomes[at] = Outcome(status="skipped", reason=why)
            continue
        ((count, length),) = metric._extract_corpus_statistics(
            [response], [[reference] for reference in references]
        )
        statistics[at] = count, length
        details = {"edits": count, "reference_words": length}
        outcomes[at] = Outcome({"value": _value(metric, count, length)}, details=details)
    counts = {STATISTICS: statistics, REFERENCES: reference_counts(data)}
    return Outcomes.of(outcomes, OUTPUTS, counts)


def _longest(metric: sacrebleu_ter.TER, texts: Iterable[str]) -> int:
    """Words of the longest of the texts."""
    return max(len(metric.tokenizer(text.rstrip()).split()) for text in texts)


def _value(metric: sacrebleu_ter.TER, edits: int, words: float) -> float:
    percent: float = metric._compute_score_from_stats([edits, words]).score
    return percent / 100


def ter_of_corpus(sampled: Sampled) -> Findings:
    """Edits of all samples per reference word."""
    asked = sampled.parameters
    names = ("normalized", "no_punct", "asian_support", "case_sensitive")
    metric = _settings(*(asked[name] for name in names))

    return of_corpus(
        sampled,
        lambda: metric,
        lambda rows: [[_value(metric, *row) for row in rows.tolist()]],
    )


def _settings(
    normalized: bool, no_punct: bool, asian_support: bool, case_sensitive: bool
) -> sacrebleu_ter.TER:
    from sacrebleu.metrics import ter as sacrebleu_ter

    return sacrebleu_ter.TER(normalized, no_punct, asian_support, case_sensitive)


TER = Metric(
    name="ter",
    measure=ter,
    compute=ter_of_corpus,
    outputs=(Output(better="lower", bounds=(0, None)),),
    reference="sacrebleu.metrics.TER.corpus_score",
    citation="Snover et al., A Study of Translation Edit Rate with Targeted Human Annotation, "
    "AMTA 2006",
    needs=("response", "references"),
    aliases=("TER", "translation_edit_rate"),
)
