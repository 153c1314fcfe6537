"""GPTScore of translations, for three aspects."""

from __future__ import annotations

from valor_cli.evaluators.likelihood.gptscore_templates import TRANSLATION
from valor_cli.evaluators.likelihood.metrics.gptscore import (
    gptscore_metric,
    scored,
    with_references,
)
from valor_cli.evaluators.likelihood.requests import Stride
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcomes


def gptscore_translation(texts: ModelTexts, *, stride: Stride = None) -> Outcomes:
    """Mean negative log-likelihood of the response as a rewriting of the reference, averaged with
    that of the reference as a rewriting of the response, for three aspects of a translation.

    A language model reads "Rewrite the following text to make it more grammatical and well-written:
    (reference) In other words, (response)", and so on; in nats a token. Of several references the
    lowest value counts. Values by different language models cannot be compared.

    Formula:
        nats(x | y) = −Σ ln p(tokenᵢ of x | template with y, tokens before) / n
        value = (nats(response | reference) + nats(reference | response)) / 2
        n: tokens of x

    Pitfalls:
        The source text is not looked at: response and reference have to be in one language, and a
        wrong reference is not noticed. Lower is better; the paper's own score has the opposite
        sign. The aspects move together: they are no three independent judgements.

    Example:
        The response after the reference has 0.9 nats a token, the reference after the response 1.5:
        (0.9 + 1.5) / 2 = 1.2.
    """
    return scored(texts, with_references(texts), TRANSLATION, stride)


GPTSCORE_TRANSLATION = gptscore_metric(
    "gptscore_translation",
    gptscore_translation,
    TRANSLATION,
    needs=("response", "references"),
    aliases=("Machine Translation (GPTScore) Evaluator",),
)
