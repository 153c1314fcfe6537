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


def test_summarization_with_a_reference() -> None:
    said = {
        "semantic_coverage": "Rewrite the following text with the same semantics.",
        "factuality": "Rewrite the following text with consistent facts.",
        "informativeness": "Rewrite the following text with its core information.",
        "coherence": "Rewrite the following text into a coherent text.",
        "relevance": "Rewrite the following text with consistent details.",
        "fluency": "Rewrite the following text into a fluent and grammatical text.",
    }
    assert filled(SUMMARIZATION_REFERENCE) == {
        name: f"{text} T In other words,| H" for name, text in said.items()
    }
    assert list(SUMMARIZATION_REFERENCE) == list(said)


def test_translation() -> None:
    said = {
        "accuracy": ("Rewrite the following text with its core information and consistent facts:"),
        "fluency": "Rewrite the following text to make it more grammatical and well-written:",
        "multidimensional_quality_metrics": (
            "Rewrite the following text into high-quality text with its core information:"
        ),
    }
    assert filled(TRANSLATION) == {
        name: f"{text} T In other words,| H" for name, text in said.items()
    }
    assert list(TRANSLATION) == list(said)


def test_summarization() -> None:
    said = {
        "semantic_coverage": (
            "Generate a summary with as much semantic coverage as possible for the following text:"
        ),
        "factuality": "Generate a summary with consistent facts for the following text:",
        "consistency": "Generate factually consistent summary for the following text:",
        "informativeness": (
            "Generate an informative summary that captures the key points of the following text:"
        ),
        "coherence": "Generate a coherent summary for the following text:",
        "relevance": (
            "Generate a relevant summary with consistent details for the following text:"
        ),
        "fluency": "Generate a fluent and grammatical summary for the following text:",
    }
    assert filled(SUMMARIZATION) == {name: f"{text} T\n\nTl;dr\n|H" for name, text in said.items()}
    assert list(SUMMARIZATION) == list(said)


def test_dialogue() -> None:
    said = {
        "interest": "Are the responses of AI interesting?",
        "engagement": "Are the responses of AI engaging?",
        "understandability": "Are the responses of AI understandable?",
        "relevance": "Are the responses of AI relevant to the conversation?",
        "specific": "Are the responses of AI generic or specific to the conversation?",
        "correctness": "Are the responses of AI correct to conversations?",
        "semantically_appropriate": "Are the responses of AI semantically appropriate?",
        "fluency": "Are the responses of AI fluently written?",
    }
    assert filled(DIALOGUE) == {
        name: (
            "Answer the question based on the conversation between a human and AI.\n"
            f"Question: {text} (a) Yes. (b) No.\n"
            "Conversation: T\n"
            "Answer:| H"
        )
        for name, text in said.items()
    }
    assert list(DIALOGUE) == list(said)


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
