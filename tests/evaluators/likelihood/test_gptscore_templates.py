"""The templates of GPTScore, every one as text, and texts in them that look like places."""

from __future__ import annotations

import pytest

from valor_cli.evaluators.likelihood.gptscore_templates import (
    DIALOGUE,
    SUMMARIZATION,
    SUMMARIZATION_REFERENCE,
    TRANSLATION,
    YES,
    Aspects,
    conversation,
)
from valor_cli.models.protocols import Passage


def filled(aspects: Aspects) -> dict[str, str]:
    """Every template with a letter in each place, a bar before what is scored."""
    passages = {name: template.passage("T", "H") for name, template in aspects.items()}
    return {name: f"{one.prompt}|{one.target}" for name, one in passages.items()}


TALK = """\
Answer the question based on the conversation between a human and AI.
Question: Are the responses of AI {}? (a) Yes. (b) No.
Conversation: T
Answer:| H"""


@pytest.mark.parametrize(
    ("aspects", "whole", "said"),
    [
        (
            SUMMARIZATION_REFERENCE,
            "Rewrite the following text {} T In other words,| H",
            {
                "semantic_coverage": "with the same semantics.",
                "factuality": "with consistent facts.",
                "informativeness": "with its core information.",
                "coherence": "into a coherent text.",
                "relevance": "with consistent details.",
                "fluency": "into a fluent and grammatical text.",
            },
        ),
        (
            TRANSLATION,
            "Rewrite the following text {}: T In other words,| H",
            {
                "accuracy": "with its core information and consistent facts",
                "fluency": "to make it more grammatical and well-written",
                "multidimensional_quality_metrics": (
                    "into high-quality text with its core information"
                ),
            },
        ),
        (
            SUMMARIZATION,
            "Generate {} the following text: T\n\nTl;dr\n|H",
            {
                "semantic_coverage": "a summary with as much semantic coverage as possible for",
                "factuality": "a summary with consistent facts for",
                "consistency": "factually consistent summary for",
                "informativeness": "an informative summary that captures the key points of",
                "coherence": "a coherent summary for",
                "relevance": "a relevant summary with consistent details for",
                "fluency": "a fluent and grammatical summary for",
            },
        ),
        (
            DIALOGUE,
            TALK,
            {
                "interest": "interesting",
                "engagement": "engaging",
                "understandability": "understandable",
                "relevance": "relevant to the conversation",
                "specific": "generic or specific to the conversation",
                "correctness": "correct to conversations",
                "semantically_appropriate": "semantically appropriate",
                "fluency": "fluently written",
            },
        ),
    ],
)
def test_every_template_as_text(aspects: Aspects, whole: str, said: dict[str, str]) -> None:
    expected = {name: whole.format(words) for name, words in said.items()}
    assert list(filled(aspects).items()) == list(expected.items())


def test_a_whole_dialogue() -> None:
    passage = DIALOGUE["interest"].passage(conversation("How are you?", "Fine."), YES)
    assert passage == Passage(
        "Answer the question based on the conversation between a human and AI.\n"
        "Question: Are the responses of AI interesting? (a) Yes. (b) No.\n"
        "Conversation: \n"
        "human: How are you?\n"
        "AI: Fine.\n"
        "Answer:",
        " Yes",
    )


@pytest.mark.parametrize("text", ["{text}", "{target}", "{", "}", "{0}", "%s {}", "\\g<0>"])
def test_no_character_of_a_text_has_a_meaning(text: str) -> None:
    for aspects in (SUMMARIZATION_REFERENCE, SUMMARIZATION, TRANSLATION, DIALOGUE):
        for template in aspects.values():
            prompt, target = template.passage(text, text)
            assert target.removeprefix(" ") == text
            assert prompt == template.passage("\1", "").prompt.replace("\1", text)
