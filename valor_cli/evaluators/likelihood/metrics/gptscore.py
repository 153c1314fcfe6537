"""GPTScore: how likely a language model finds a text after a template, for several aspects.

Fu et al., GPTScore: Evaluate as You Desire (NAACL 2024), as H2O Eval Studio has it: the mean
negative log-likelihood of the tokens of a target after a template, so that lower is better. White
space around texts is removed. With several references the one with the lowest value counts, for
each aspect separately and after averaging both directions, as the paper's program takes its
maximum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from valor_cli.evaluators.likelihood.gptscore_templates import (
    DIALOGUE,
    SUMMARIZATION,
    SUMMARIZATION_REFERENCE,
    TRANSLATION,
    VERSION,
    YES,
    Aspects,
    Template,
    conversation,
)
from valor_cli.evaluators.likelihood.requests import Stride, surprises
from valor_cli.evaluators.missing_inputs import missing_input
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.kernels.text.likelihood import NegativeLogLikelihood
from valor_cli.metric import Metric, Output
from valor_cli.models.protocols import Passage

PAPER = "Fu et al., GPTScore: Evaluate as You Desire, NAACL 2024"
PROGRAM = "github.com/jinlanfu/GPTScore"

Filled: TypeAlias = tuple[str, str]
"""What stands in a template: the text, and the target."""

Wished: TypeAlias = Outcome | Sequence[Sequence[Filled]]
"""What to ask of a sample: for each reference, the directions, none if it is blank; or why there is
nothing to ask."""

Surprises: TypeAlias = Mapping[Passage, NegativeLogLikelihood | None]


class _Best(NamedTuple):
    """The value of the best reference, its position, and the value of each direction."""

    value: float
    at: int
    directions: tuple[float, ...]


def with_references(texts: ModelTexts) -> list[Wished]:
    """Both directions between the response and every reference that is not blank."""
    data = texts.data
    wished: list[Wished] = []
    for response, references in zip(data.response, data.references, strict=True):
        own, others = (response or "").strip(), [one.strip() for one in references]
        both = [[(one, own), (own, one)] if one else [] for one in others]
        wished.append(
            missing_input("response", response) or missing_input("references", references) or both
        )
    return wished


def with_user_input(texts: ModelTexts, fill: Callable[[str, str], Filled]) -> list[Wished]:
    """One direction: from the user input to the response."""
    data = texts.data
    wished: list[Wished] = []
    for asked, response in zip(data.user_input, data.response, strict=True):
        full = fill((asked or "").strip(), (response or "").strip())
        wished.append(
            missing_input("response", response) or missing_input("user_input", asked) or [[full]]
        )
    return wished


def scored(
    texts: ModelTexts, wished: Sequence[Wished], aspects: Aspects, stride: Stride
) -> Outcomes:
    """Score all samples and aspects with one request to the model."""
    model = texts.models.language_model()
    passages = [
        template.passage(*filled)
        for one in wished
        if not isinstance(one, Outcome)
        for directions in one
        for filled in directions
        for template in aspects.values()
    ]
    said = surprises(model, passages, stride)
    return Outcomes.of(
        [one if isinstance(one, Outcome) else _outcome(one, aspects, said) for one in wished],
        list(aspects),
        beside={**model.identity.beside, "templates": VERSION},
    )


def gptscore_metric(
    name: str, measure: Callable[..., Outcomes], aspects: Aspects, **entry: Any
) -> Metric[Any]:
    """A metric with one output per aspect, the first of them primary."""
    return Metric(
        name=name,
        measure=measure,
        compute=mean_of_samples,
        outputs=tuple(Output(aspect, "lower", (0, None), "nats") for aspect in aspects),
        reference=PROGRAM,
        citation=PAPER,
        asks=("language_model",),
        **entry,
    )


def _outcome(asked: Sequence[Sequence[Filled]], aspects: Aspects, said: Surprises) -> Outcome:
    found = {name: _best(asked, template, said) for name, template in aspects.items()}
    primary = found[next(iter(aspects))]
    if primary is None:
        why = "the model finds no token in the target, or no probability for one"
        return Outcome(status="not_applicable", reason=why)
    details: dict[str, Any] = {}
    if len(asked) > 1:
        details["reference"] = {name: one.at for name, one in found.items() if one is not None}
    if len(primary.directions) > 1:
        details["directions"] = {
            name: list(one.directions) for name, one in found.items() if one is not None
        }
    values = {name: None if one is None else one.value for name, one in found.items()}
    return Outcome(values, details=details or None)


def _best(asked: Sequence[Sequence[Filled]], template: Template, said: Surprises) -> _Best | None:
    """Of references the one with the lowest mean over its directions, the first of equals."""
    best = None
    for at, directions in enumerate(asked):
        found = [said[template.passage(*filled)] for filled in directions]
        means = tuple(one.mean for one in found if one is not None and math.isfinite(one.mean))
        if not means or len(means) < len(directions):
            continue
        value = math.fsum(means) / len(means)
        if best is None or value < best.value:
            best = _Best(value, at, means)
    return best


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
