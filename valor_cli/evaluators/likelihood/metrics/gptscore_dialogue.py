"""GPTScore of dialogues: eight aspects, each a question about the conversation."""

from __future__ import annotations

from valor_cli.evaluators.likelihood.gptscore_templates import DIALOGUE, YES, conversation
from valor_cli.evaluators.likelihood.metrics.gptscore import (
    gptscore_metric,
    scored,
    with_user_input,
)
from valor_cli.evaluators.likelihood.requests import Stride
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcomes


def gptscore_dialogue(texts: ModelTexts, *, stride: Stride = None) -> Outcomes:
    """Mean negative log-likelihood of "Yes", as the answer to whether the response is interesting,
    engaging, understandable, relevant, specific, correct, appropriate and fluent.

    A language model reads "Question: Are the responses of AI interesting? (a) Yes. (b) No.
    Conversation: human: (user input) AI: (response) Answer: Yes", and so on; in nats a token.
    Values by different language models cannot be compared.

    Formula:
        value = −ln p("Yes" | template with the aspect's question and the dialogue)
        where "Yes" is several tokens: the mean over them

    Pitfalls:
        It measures how readily the model says "Yes", and small models find that likely after nearly
        anything: only differences under one model mean something. `specific` asks "generic or
        specific?", which "Yes" does not answer. Lower is better; the paper's own score has the
        opposite sign.

    Example:
        "Yes" with probability 0.5 has −ln 0.5 = 0.693 nats, with probability 0.9 it has 0.105.
    """
    wished = with_user_input(texts, lambda asked, response: (conversation(asked, response), YES))
    return scored(texts, wished, DIALOGUE, stride)


GPTSCORE_DIALOGUE = gptscore_metric(
    "gptscore_dialogue",
    gptscore_dialogue,
    DIALOGUE,
    needs=("user_input", "response"),
    aliases=("Question Answering (GPTScore) Evaluator",),
)
