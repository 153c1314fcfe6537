"""GPTScore, the shared part of its metrics.

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

from valor_cli.evaluators.likelihood.gptscore_templates import VERSION, Aspects, Template
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
