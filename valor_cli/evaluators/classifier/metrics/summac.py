"""SummaC: consistency of a summary with its source, zero-shot or by a trained layer.

Laban et al., SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization,
TACL 2022.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum
from typing import Annotated, Any, Literal

from valor_cli.evaluators.classifier.nli import NLI, Compared, compared, mean_of_summaries
from valor_cli.evaluators.classifier.sentences import (
    Limits,
    MaxSentences,
    MinLength,
    Source,
    source_of,
)
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.parameters import readable_by
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.kernels.text.sentences import SPLITTER
from valor_cli.kernels.vectors.summac import Layers
from valor_cli.metric import ByParameters, Metric, MissingConfig, Output
from valor_cli.models.classifiers.convolution_weights import CONVERT, convolution_weights
from valor_cli.models.settings import ModelName
from valor_cli.paths import LocalPath

Contrast = Literal["paired", "separate"]
NONE_NAMED = "needs the file of its trained weights, and the config names none"
FETCH = f"""\
name it: - summac_conv: {{weights: summac_conv.safetensors}}
the authors' own is https://github.com/tingofurro/summac/raw/master/summac_conv_vitc_sent_perc_e.bin
{CONVERT}"""
Weights = Annotated[LocalPath, readable_by(convolution_weights)]


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
        [one if isinstance(one, Outcome) else _zero_shot(one, contrast) for one in found],
        ["value"],
        beside={**identity.beside, "splitter": SPLITTER},
    )


def _zero_shot(own: Compared, contrast: Contrast) -> Outcome:
    best = [one.paired() if contrast == "paired" else one.separate() for one in own.support]
    values = [value for value, _ in best]
    return own.outcome(fsum(values) / len(values), values, [at for _, at in best])


def summac_conv(
    texts: ModelTexts,
    *,
    weights: Weights | None = None,
    model: ModelName = NLI,
    source: Source = "user_input",
    min_sentence_length: MinLength = 0,
    max_document_sentences: MaxSentences = None,
    max_response_sentences: MaxSentences = None,
) -> Outcomes:
    """Probability that the summary is consistent with the text, by SummaC's convolution.

    The response is the summary, the user input the text, or what was retrieved with
    `source: retrieved_contexts`. Of each sentence of the summary a histogram is made of how
    probably each sentence of the text entails it; a trained layer makes a number of it, and of the
    mean over the sentences another layer makes a probability, 0 to 1.

    `weights` is required: a safetensors, .npz or JSON file with mlp.weight (1, bins), mlp.bias,
    layer_final.weight (2, 3) and layer_final.bias. They belong to one model of inference; the
    default is the one that the authors' file belongs to. There are 23 bins, "percentile", or 50.

    All sentences are looked at. The original leaves out those of 10 characters or fewer, all of
    the text behind the hundredth, and all of the summary behind the tenth:
    `min_sentence_length: 11`, `max_document_sentences: 100`, `max_response_sentences: 10`. Windows
    of long sentences are as in summac_zs.

    Formula:
        x(s) = w · histogram of P(d entails s) over the sentences d of the text + b
        value = 1 / (1 + exp(−(k · m + c))), m: mean of x(s) over the summary
        w, b, k, c: from the trained weights

    Pitfalls:
        The histogram holds counts, not shares: the value moves with the number of sentences of the
        text. Contradiction is not looked at, and what is left out costs nothing. With weights of
        another model, or other bins, the numbers mean nothing.

    Example:
        With k = 1 and c = 0, two sentences with x = 2 and x = 0 have the mean 1: 1 / (1 + exp(−1))
        = 0.731.
    """
    if weights is None:
        raise ValueError("summac_conv is called without weights, and the plan lets that pass")
    trained = convolution_weights(weights)
    limits = Limits(min_sentence_length, max_document_sentences, max_response_sentences)
    found, identity = compared(texts, "summac_conv", model, source, limits)
    return Outcomes.of(
        [one if isinstance(one, Outcome) else _convolved(one, trained.layers) for one in found],
        ["value"],
        beside={
            **identity.beside,
            "splitter": SPLITTER,
            "weights": trained.identity.name,
            "weights_sha256": trained.identity.sha256,
            "bins": trained.bins,
        },
    )


def _convolved(own: Compared, layers: Layers) -> Outcome:
    features = [layers.feature(one.entailment) for one in own.support]
    # What the summary would have if it were this sentence alone.
    alone = [layers.probability([feature]) for feature in features]
    best = [int(one.entailment.argmax()) for one in own.support]
    return own.outcome(layers.probability(features), alone, best)


def _lack(parameters: Mapping[str, Any]) -> MissingConfig | None:
    return MissingConfig(NONE_NAMED, FETCH) if parameters["weights"] is None else None


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
SUMMAC_CONV = Metric(
    name="summac_conv",
    measure=summac_conv,
    compute=mean_of_summaries,
    reference="summac.model_summac.SummaCConv",
    citation="Laban et al., SummaC, TACL 2022",
    needs=("response",),
    by_parameters=ByParameters(needs=source_of, lack=_lack),
    asks=("classifier",),
    threshold=0.75,
    aliases=("Faithfulness (SummaC Conv)", "SummaC Conv"),
)
