"""SummaC-Conv: consistency of a summary with its source, by a trained layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from valor_cli.evaluators.classifier.nli import NLI, Compared, compared, mean_of_summaries
from valor_cli.evaluators.classifier.summary_sentences import (
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
from valor_cli.metric import ByParameters, Metric, MissingConfig
from valor_cli.models.classifiers.convolution_weights import CONVERT, convolution_weights
from valor_cli.models.settings import ModelName
from valor_cli.paths import LocalPath

NONE_NAMED = "needs the file of its trained weights, and the config names none"
FETCH = f"""\
name it: - summac_conv: {{weights: summac_conv.safetensors}}
the authors' own is https://github.com/tingofurro/summac/raw/master/summac_conv_vitc_sent_perc_e.bin
{CONVERT}"""


Weights = Annotated[LocalPath, readable_by(convolution_weights)]


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
        [one if isinstance(one, Outcome) else _outcome(one, trained.layers) for one in found],
        ["value"],
        beside={
            **identity.beside,
            "splitter": SPLITTER,
            "weights": trained.identity.name,
            "weights_sha256": trained.identity.sha256,
            "bins": trained.bins,
        },
    )


def _outcome(own: Compared, layers: Layers) -> Outcome:
    features = [layers.feature(one.entailment) for one in own.support]
    # What the summary would have if it were this sentence alone.
    alone = [layers.probability([feature]) for feature in features]
    best = [int(one.entailment.argmax()) for one in own.support]
    return own.outcome(layers.probability(features), alone, best)


def _lack(parameters: Mapping[str, Any]) -> MissingConfig | None:
    return MissingConfig(NONE_NAMED, FETCH) if parameters["weights"] is None else None


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
