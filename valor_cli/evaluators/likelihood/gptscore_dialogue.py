"""GPTScore of dialogues: eight aspects, each a question about the conversation."""

from __future__ import annotations

from valor_cli.evaluators.gathering import ModelTexts
from valor_cli.evaluators.likelihood.asking import Stride
from valor_cli.evaluators.likelihood.gptscore import gptscore_metric, scored, with_user_input
from valor_cli.evaluators.likelihood.gptscore_templates import DIALOGUE, YES, conversation
from valor_cli.evaluators.samples import Outcomes


def gptscore_dialogue(texts: ModelTexts, *, stride: Stride = None) -> Outcomes:
    """Mean negative log-likelihood of "Yes", as the answer to whether the response is interesting,
    engaging, understandable, relevant, specific, correct, appropriate and fluent.

    A language model reads "Question: Are the responses of AI interesting? (a) Yes. (b) No.
    Conversation: human: (user input) AI: (response) Answer: Yes", and so on; in nats a token.
    Values by different language models cannot be compared.
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
