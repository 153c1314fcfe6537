"""Perplexity of responses under a language model.

exp of the mean negative log-likelihood of its tokens (Jelinek et al. 1977). A causal model does
not score the first token, which has no context. H2O Eval Studio uses lmppl, which cuts texts
longer than the model's context; here a window slides over them, and every token counts. Its
default threshold of 0.5 cannot be met, since a perplexity is at least 1. There is no default
threshold here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.evaluators.likelihood.requests import Stride, surprises
from valor_cli.evaluators.missing_inputs import missing_input
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, missing
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.kernels.text.likelihood import NegativeLogLikelihood, negative_log_likelihood
from valor_cli.metric import ByParameters, Metric, ModelKind, Output
from valor_cli.models.protocols import Passage
from valor_cli.results import Findings, MetricValue, Scalar

if TYPE_CHECKING:
    from valor_cli.models.language_models.transformers_language_model import (
        TransformersLanguageModel,
    )

OUTPUTS = (
    Output("value", "lower", (1, None), "perplexity"),
    Output("tokens", None, (0, None), "count"),
    Output("corpus", "lower", (1, None), "perplexity"),
)
OF_SAMPLES = ("value", "tokens")
NATS = "nats"
"""The negative log-likelihood of a response, among details and columns."""
SINGLE = "the response has a single token"

MOST_NATS = 600.0
"""Nats a token. exp(709) is still a number, but the sum of many such is none."""

UNKNOWN = -9999.0
"""What APIs write in place of a probability that they do not know."""


def perplexity(
    texts: ModelTexts, *, logprobs: Literal["model", "data"] = "model", stride: Stride = None
) -> Outcomes:
    """exp of the mean negative log-likelihood of the tokens of the response.

    A language model reads the response by itself; with `logprobs: data` its probabilities are those
    that the row has as `token_logprobs`. `value` is the mean over samples, on which one odd
    response weighs heavily; `corpus` is the perplexity of all responses together, every token
    weighing the same. `tokens` are those scored, on average over the samples: all but the first,
    unless the model begins every text with a token of its own. What is longer than the model's
    context is read through a window that moves by `stride` tokens, by half the context if not
    given. Values by different language models cannot be compared.

    Formula:
        value = mean over samples of exp(−Σ ln p(tokenᵢ | tokens before it) / n)
        corpus = exp(−Σ over all tokens of ln p / all tokens)
        n: scored tokens of the response

    Pitfalls:
        How expected the wording is to one model, not whether it is true: a fluent lie is low, a
        text that repeats itself lower still, and names, numbers and short texts are high. The
        question is not shown to the model.

    Example:
        Three tokens of probability 1/2, 1/4 and 1/8: (1/64)^(−1/3) = 4.
    """
    data = texts.data
    lacks = [missing_input("response", response) for response in data.response]
    if logprobs == "data":
        found = [one or _of_data(own) for one, own in zip(lacks, data.token_logprobs, strict=True)]
        return _outcomes(found, {})
    model = _causal(texts.models.language_model())
    read = [Passage("", response or "") for response in data.response]
    asked = [passage for passage, lack in zip(read, lacks, strict=True) if lack is None]
    said = surprises(model, asked, stride)
    found = [
        one or _outcome(said[passage], SINGLE) for one, passage in zip(lacks, read, strict=True)
    ]
    return _outcomes(found, model.identity.beside)


def perplexities(sampled: Sampled) -> Findings:
    """The means over samples, and the perplexity of all of them together."""
    return sampled.findings([*sampled.means(*OF_SAMPLES), _of_corpus(sampled)])


def _outcomes(found: Sequence[Outcome], beside: Mapping[str, Scalar]) -> Outcomes:
    nats = [0.0 if one.details is None else float(one.details[NATS]) for one in found]
    return Outcomes.of(found, OF_SAMPLES, {NATS: np.array(nats, np.float64)}, beside=beside)


def _of_corpus(sampled: Sampled) -> MetricValue:
    """exp of the negative log-likelihood of all tokens, over their number."""
    scored, outcomes = sampled.scored, sampled.outcomes
    # Where the model is missing there are no numbers at all.
    of_each = (outcomes.numbers.get(NATS, np.zeros(1)), outcomes.columns["tokens"])
    nats, tokens, n = sampled.sums(*(np.where(scored, one, 0.0) for one in of_each), scored)
    found = [math.exp(one) for one in quotient(nats, tokens, np.nan).tolist()]
    return sampled.value(np.array(found), n, "corpus")


def _causal(model: TransformersLanguageModel) -> TransformersLanguageModel:
    """The model, checked to need no prompt before a text.

    Raises:
        ConfigError: It is an encoder-decoder.
    """
    if model.architecture == "causal":
        return model
    message = f"perplexity needs a causal model; {model.identity.name} is an encoder-decoder"
    raise ConfigError(
        Problem("language_model.model", message),
        hint="name one that continues texts, such as distilbert/distilgpt2 or smollm2-135m",
    )


def _of_data(logprobs: NDArray[np.float64] | None) -> Outcome:
    if logprobs is None or not len(logprobs):
        return missing("no token_logprobs" if logprobs is None else "token_logprobs are empty")
    if (logprobs == UNKNOWN).any():
        why = f"token_logprobs hold {UNKNOWN:g}, which stands for a probability not known"
        return Outcome(status="not_applicable", reason=why)
    none = SINGLE if len(logprobs) == 1 else "no token has a log-probability"
    return _outcome(negative_log_likelihood(logprobs[~np.isnan(logprobs)]), none)


def _outcome(found: NegativeLogLikelihood | None, none: str) -> Outcome:
    """The outcome of a sample; `none` says why no token is scored."""
    if found is None:
        return Outcome(status="not_applicable", reason=none)
    if not found.mean <= MOST_NATS:
        why = f"{found.mean:.4g} nats a token are too many for a perplexity"
        if math.isnan(found.mean):
            why = "the model finds no number for the probability of a token"
        return Outcome(status="not_applicable", reason=why)
    return Outcome(
        {"value": math.exp(found.mean), "tokens": found.tokens},
        details={NATS: found.total},
    )


def _needs(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    return ("token_logprobs",) if parameters["logprobs"] == "data" else ()


def _asks(parameters: Mapping[str, Any]) -> tuple[ModelKind, ...]:
    return () if parameters["logprobs"] == "data" else ("language_model",)


PERPLEXITY = Metric(
    name="perplexity",
    measure=perplexity,
    compute=perplexities,
    outputs=OUTPUTS,
    reference="transformers, exp of the loss of a causal model",
    citation="Jelinek et al., Perplexity: a measure of the difficulty of speech recognition tasks, "
    "JASA 1977; H2O.ai, H2O Eval Studio documentation, Perplexity Evaluator",
    needs=("response",),
    by_parameters=ByParameters(needs=_needs, asks=_asks),
    aliases=("Perplexity", "Perplexity Evaluator"),
)
