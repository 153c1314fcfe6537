"""SummaC-ZS: consistency of a summary with its source, zero-shot."""

from __future__ import annotations

from math import fsum
from typing import Literal

from valor_cli.evaluators.classifier.nli import NLI, Compared, compared, mean_of_summaries
from valor_cli.evaluators.classifier.summary_sentences import (
    Limits,
    MaxSentences,
    MinLength,
    Source,
    source_of,
)
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.kernels.text.sentences import SPLITTER
from valor_cli.metric import ByParameters, Metric, Output
from valor_cli.models.settings import ModelName

Contrast = Literal["paired", "separate"]


def summac_zs(
    texts: ModelTexts,
    *,
    model: ModelName = NLI,
    source: Source = "user_input",
    contrast: Contrast = "paired",
    min_sentence_length: MinLength = 0,
    max_document_sentences: MaxSentences = None,
) -> Outcomes:
    """Entailment minus contradiction of the summary's sentences, given the text.

    The response is the summary, the user input the text, or what was retrieved with
    `source: retrieved_contexts`. A model of natural language inference says of each sentence of
    the text and each of the summary how probably the one entails, and contradicts, the other.
    With `contrast: paired` a sentence of the summary has the largest entailment less contradiction
    over the sentences of the text; with `separate` it has the largest entailment less the largest
    contradiction, of whichever sentences, as the original code does. The mean over the sentences
    of the summary counts, -1 to 1.

    All sentences are looked at. The original leaves out those of 10 characters or fewer and, of
    the text, all behind the hundredth: `min_sentence_length: 11`, `max_document_sentences: 100`.
    Sentences are split by another splitter than its own. The windows of a sentence of the text
    that is longer than the model's stand for further sentences; of one of the summary, the worst
    counts.

    Formula:
        v(s) = max over sentences d of the text of P(d entails s) − P(d contradicts s)
        contrast separate: max over d of P(entails) − max over d of P(contradicts)
        value = mean of v(s) over the sentences s of the summary

    Pitfalls:
        A sentence that draws on two sentences of the text is entailed by neither, so that good free
        summaries have less than copied ones. What is left out costs nothing. Every sentence of the
        text is read with every one of the summary: 100 and 10 are 1,000 readings.

    Example:
        One sentence has 0.9 − 0.1 = 0.8 at best, the other 0.2 − 0.6 = −0.4: (0.8 − 0.4) / 2 = 0.2.
    """
    limits = Limits(min_sentence_length, max_document_sentences)
    found, identity = compared(texts, "summac_zs", model, source, limits)
    return Outcomes.of(
        [one if isinstance(one, Outcome) else _outcome(one, contrast) for one in found],
        ["value"],
        beside={**identity.beside, "splitter": SPLITTER},
    )


def _outcome(own: Compared, contrast: Contrast) -> Outcome:
    best = [one.paired() if contrast == "paired" else one.separate() for one in own.support]
    values = [value for value, _ in best]
    return own.outcome(fsum(values) / len(values), values, [at for _, at in best])


SUMMAC_ZS = Metric(
    name="summac_zs",
    measure=summac_zs,
    compute=mean_of_summaries,
    outputs=(Output(bounds=(-1, 1)),),
    reference="summac.model_summac.SummaCZS",
    citation="Laban et al., SummaC, TACL 2022",
    needs=("response",),
    by_parameters=ByParameters(needs=source_of),
    asks=("classifier",),
    threshold=0.75,
    aliases=("Faithfulness (SummaC ZS)", "SummaC ZS"),
)
