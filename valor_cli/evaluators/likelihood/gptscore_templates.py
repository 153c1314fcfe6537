"""Templates of GPTScore.

The instructions are those of H2O Eval Studio's documentation, which has them from Fu et al., whose
appendix lists them. Its pages lost white space; here it is as in the paper and its program: a
blank line before "Tl;dr" and a line end after it; one space around "In other words,"; each part of
the question on a line of its own. A conversation begins on a new line, with "human:" and "AI:"
before each turn. The scored target of a conversation is the word "Yes", with the space before it,
as a model writes it after "Answer:"; H2O's program scores "Answer:" too, which does not depend on
the conversation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from valor_cli.models.protocols import Passage

VERSION: Final = "gptscore-1"
"""Stands beside every value; another wording is another version."""

TEXT, TARGET = "{text}", "{target}"


class Template(NamedTuple):
    """The texts before a passage, between it and the target, and right before the target."""

    before: str
    between: str
    lead: str

    @staticmethod
    def of(template: str) -> Template:
        """Parse a template with one `TEXT` in it, and `TARGET` at its end.

        A space before the target is its own, for a token begins with its space.
        """
        before, _, rest = template.partition(TEXT)
        between = rest.removesuffix(TARGET)
        cue = between.rstrip(" ")
        return Template(before, cue, between[len(cue) :])

    def passage(self, text: str, target: str) -> Passage:
        """The passage for a text, inserted literally."""
        return Passage(f"{self.before}{text}{self.between}", f"{self.lead}{target}")


Aspects = Mapping[str, Template]
"""By output of a metric, the primary one first."""


def conversation(question: str, answer: str) -> str:
    """A question and answer, formatted for the dialogue templates."""
    return f"\nhuman: {question}\nAI: {answer}"


def _rewriting(**instructions: str) -> Aspects:
    return {
        name: Template.of(f"{instruction} {TEXT} In other words, {TARGET}")
        for name, instruction in instructions.items()
    }


def _summarizing(**instructions: str) -> Aspects:
    return {
        name: Template.of(f"{instruction} the following text: {TEXT}\n\nTl;dr\n{TARGET}")
        for name, instruction in instructions.items()
    }


def _asking(**questions: str) -> Aspects:
    head = "Answer the question based on the conversation between a human and AI.\nQuestion: "
    tail = f" (a) Yes. (b) No.\nConversation: {TEXT}\nAnswer: {TARGET}"
    return {name: Template.of(f"{head}{question}{tail}") for name, question in questions.items()}


SUMMARIZATION_REFERENCE: Final = _rewriting(
    semantic_coverage="Rewrite the following text with the same semantics.",
    factuality="Rewrite the following text with consistent facts.",
    informativeness="Rewrite the following text with its core information.",
    coherence="Rewrite the following text into a coherent text.",
    relevance="Rewrite the following text with consistent details.",
    fluency="Rewrite the following text into a fluent and grammatical text.",
)

TRANSLATION: Final = _rewriting(
    accuracy="Rewrite the following text with its core information and consistent facts:",
    fluency="Rewrite the following text to make it more grammatical and well-written:",
    multidimensional_quality_metrics="Rewrite the following text into high-quality text with its "
    "core information:",
)

SUMMARIZATION: Final = _summarizing(
    semantic_coverage="Generate a summary with as much semantic coverage as possible for",
    factuality="Generate a summary with consistent facts for",
    consistency="Generate factually consistent summary for",
    informativeness="Generate an informative summary that captures the key points of",
    coherence="Generate a coherent summary for",
    relevance="Generate a relevant summary with consistent details for",
    fluency="Generate a fluent and grammatical summary for",
)

DIALOGUE: Final = _asking(
    interest="Are the responses of AI interesting?",
    engagement="Are the responses of AI engaging?",
    understandability="Are the responses of AI understandable?",
    relevance="Are the responses of AI relevant to the conversation?",
    specific="Are the responses of AI generic or specific to the conversation?",
    correctness="Are the responses of AI correct to conversations?",
    semantically_appropriate="Are the responses of AI semantically appropriate?",
    fluency="Are the responses of AI fluently written?",
)
YES: Final = "Yes"
"""What a dialogue that is good in some respect is answered with."""
