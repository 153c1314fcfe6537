"""chrF: how many runs of characters the responses share with their references, as an F measure.

Popović, chrF: character n-gram F-score for automatic MT evaluation, WMT 2015; with `word_order: 2`
chrF++ (WMT 2017). The n-grams are counted here; the value of the counts, and the signature, are
sacrebleu's. The value is on 0..1.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Interval

from valor_cli.evaluators.overlap.chrf_counts import chrf_counts
from valor_cli.evaluators.overlap.comparable import comparable, lacking
from valor_cli.evaluators.overlap.sacrebleu_settings import REFERENCES, of_corpus, reference_counts
from valor_cli.evaluators.samples import Outcome, Outcomes, Sampled, Texts
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricValue

if TYPE_CHECKING:
    from sacrebleu.metrics import chrf as sacrebleu_chrf

OUTPUTS = ("value",)
STATISTICS = "statistics"


def chrf(
    texts: Texts,
    *,
    char_order: Annotated[int, Interval(ge=1)] = 6,
    word_order: Annotated[int, Interval(ge=0)] = 0,
    beta: Annotated[int, Interval(ge=1)] = 2,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
) -> Outcomes:
    """chrF of sacrebleu, with its signature: the F measure of character n-grams, summed first.

    Of several references the one with the highest value counts. `word_order: 2` is chrF++.

    Formula:
        chrF = (1 + β²) · P · R / (β² · P + R), β = 2
        P = mean over n = 1 … 6 of matched character n-grams / those of the responses
        R = mean over n = 1 … 6 of matched character n-grams / those of the references

    Pitfalls:
        Recall counts twice as much as precision, so that padding costs little. Unrelated sentences
        of one language share short runs of characters and have 0.1 to 0.2: 0 is not the floor.
        sacrebleu prints 100 times the value, and chrF++ is another metric.

    Example:
        "cats" against "cat", which has no run of more than 3 characters: P = (3/4 + 2/3 + 1/2) / 3
        = 0.639, R = 1, chrF = 5 · 0.639 / (4 · 0.639 + 1) = 0.898.
    """
    data = texts.data
    metric = _settings(char_order, word_order, beta, lowercase, whitespace, eps_smoothing)
    chosen = comparable(data)
    form: Callable[[str], str] = str.lower if lowercase else str
    pairs = [
        (form(response), form(reference))
        for _, response, references in chosen
        for reference in references
    ]
    rows = iter(chrf_counts(pairs, char_order, word_order, whitespace=whitespace).tolist())
    statistics = np.zeros((data.unit_count, 3 * (char_order + word_order)), np.int64)
    outcomes = lacking(data)
    for at, _, references in chosen:
        own = list(islice(rows, len(references)))
        value, row = max(((_value(metric, row), row) for row in own), key=itemgetter(0))
        statistics[at] = row
        outcomes[at] = Outcome({"value": value}, details=_told(row))
    counts = {STATISTICS: statistics, REFERENCES: reference_counts(data)}
    return Outcomes.of(outcomes, OUTPUTS, counts)


def _value(metric: sacrebleu_chrf.CHRF, row: list[int]) -> float:
    percent: float = metric._compute_score_from_stats(row).score
    return percent / 100


def _told(row: list[int]) -> dict[str, list[int]]:
    names = ("response_ngrams", "reference_ngrams", "matches")
    return {name: row[first::3] for first, name in enumerate(names)}


def chrf_of_corpus(sampled: Sampled) -> Findings:
    """chrF from the counts of all samples."""
    metric = _settings(**sampled.parameters)

    def value() -> list[MetricValue]:
        return [MetricValue(_value(metric, sampled.summed(STATISTICS).tolist()))]

    return of_corpus(sampled, lambda: metric, value)


def _settings(
    char_order: int,
    word_order: int,
    beta: int,
    lowercase: bool,
    whitespace: bool,
    eps_smoothing: bool,
) -> sacrebleu_chrf.CHRF:
    from sacrebleu.metrics import chrf as sacrebleu_chrf

    return sacrebleu_chrf.CHRF(char_order, word_order, beta, lowercase, whitespace, eps_smoothing)


CHRF = Metric(
    name="chrf",
    measure=chrf,
    compute=chrf_of_corpus,
    reference="sacrebleu.metrics.CHRF.corpus_score",
    citation="Popović, chrF: character n-gram F-score for automatic MT evaluation, WMT 2015",
    needs=("response", "references"),
    aliases=("chrF",),
)
