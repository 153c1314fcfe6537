"""GPTScore of summaries without a reference, for seven aspects."""

from __future__ import annotations

from valor_cli.evaluators.likelihood.gptscore_templates import SUMMARIZATION
from valor_cli.evaluators.likelihood.metrics.gptscore import (
    gptscore_metric,
    scored,
    with_user_input,
)
from valor_cli.evaluators.likelihood.requests import Stride
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcomes


def gptscore_summarization(texts: ModelTexts, *, stride: Stride = None) -> Outcomes:
    """Mean negative log-likelihood of the response as a summary of the user input, for seven
    aspects of a summary.

    A language model reads "Generate a coherent summary for the following text: (user input) Tl;dr
    (response)", and so on; in nats a token. Values by different language models cannot be compared.

    Formula:
        nats(x | y) = −Σ ln p(tokenᵢ of x | template with y, tokens before) / n
        value = nats(response | user input)
        n: tokens of x

    Pitfalls:
        Lower is better; the paper's own score has the opposite sign. Sentences copied from the
        source, and stock phrases, are likely and come out well; a wrong name is one token among
        many. The aspects move together: they are no seven independent judgements.

    Example:
        A response of three tokens that have the probabilities 1/2, 1/4 and 1/8: (0.693 + 1.386 +
        2.079) / 3 = 1.386 nats.
    """
    wished = with_user_input(texts, lambda source, summary: (source, summary))
    return scored(texts, wished, SUMMARIZATION, stride)


GPTSCORE_SUMMARIZATION = gptscore_metric(
    "gptscore_summarization",
    gptscore_summarization,
    SUMMARIZATION,
    needs=("user_input", "response"),
    aliases=("Summarization without reference (GPTScore) Evaluator",),
)
