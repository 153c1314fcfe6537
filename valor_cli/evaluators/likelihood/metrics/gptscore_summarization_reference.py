"""GPTScore of summaries with a reference, for six aspects."""

from __future__ import annotations

from valor_cli.evaluators.likelihood.gptscore_templates import SUMMARIZATION_REFERENCE
from valor_cli.evaluators.likelihood.metrics.gptscore import (
    gptscore_metric,
    scored,
    with_references,
)
from valor_cli.evaluators.likelihood.requests import Stride
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcomes


def gptscore_summarization_reference(texts: ModelTexts, *, stride: Stride = None) -> Outcomes:
    """Mean negative log-likelihood of the response as a rewriting of the reference, averaged with
    that of the reference as a rewriting of the response, for six aspects of a summary.

    A language model reads "Rewrite the following text with the same semantics. (reference) In other
    words, (response)", and so on; in nats a token. Of several references the lowest value counts.
    Values by different language models cannot be compared.

    Formula:
        nats(x | y) = −Σ ln p(tokenᵢ of x | template with y, tokens before) / n
        value = (nats(response | reference) + nats(reference | response)) / 2
        n: tokens of x

    Pitfalls:
        Lower is better; the paper's own score has the opposite sign. The aspects differ by one
        sentence of the template and move together: they are no six independent judgements. A copy
        of the reference beats any good paraphrase.

    Example:
        The response after the reference has 1.2 nats a token, the reference after the response 1.8:
        (1.2 + 1.8) / 2 = 1.5.
    """
    return scored(texts, with_references(texts), SUMMARIZATION_REFERENCE, stride)


GPTSCORE_SUMMARIZATION_REFERENCE = gptscore_metric(
    "gptscore_summarization_reference",
    gptscore_summarization_reference,
    SUMMARIZATION_REFERENCE,
    needs=("response", "references"),
    aliases=("Summarization with reference (GPTScore) Evaluator",),
)
