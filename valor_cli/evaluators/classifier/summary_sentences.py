"""Samples in; the sentences of each response and of its document out, or why there are none.

The response is a summary; the document is what it summarises, or what was retrieved for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from annotated_types import Interval

from valor_cli.evaluators.classifier.inputs import Place, lack_of_response, sentence_places
from valor_cli.evaluators.gathering import ModelTexts
from valor_cli.evaluators.samples import Outcome, missing
from valor_cli.models.classifier import Pair

Source = Literal["user_input", "retrieved_contexts"]
MinLength = Annotated[int, Interval(ge=0, le=10_000)]
MaxSentences = Annotated[int, Interval(ge=1)] | None


class Limits(NamedTuple):
    """Which sentences are looked at.

    Attributes:
        shortest: Characters that one must have.
        document, response: How many, the first ones; None: all.
    """

    shortest: int = 0
    document: int | None = None
    response: int | None = None


@dataclass(frozen=True, slots=True)
class SummarySentences:
    """The sentences of a sample, as places and as texts.

    Attributes:
        response, document: Of either, at least one.
        left_out: How many of both are beyond the most that are looked at.
    """

    response: Sequence[tuple[Place, str]]
    document: Sequence[tuple[Place, str]]
    left_out: int

    def pairs(self) -> Iterator[Pair]:
        """Each sentence of the document with each of the response."""
        return (Pair(one, other) for _, other in self.response for _, one in self.document)


def summary_sentences(
    texts: ModelTexts, source: Source, limits: Limits
) -> list[SummarySentences | Outcome]:
    """The sentences of each sample, or why it cannot be looked at."""
    data = texts.data
    if source == "retrieved_contexts":
        named = [
            [(f"{source}[{at}]", one) for at, one in enumerate(contexts or ())]
            for contexts in data.retrieved_contexts
        ]
    else:
        named = [[] if text is None else [("user_input", text)] for text in data.user_input]
    return [
        _of_sample(texts, response, own, source, limits)
        for response, own in zip(data.response, named, strict=True)
    ]


def source_of(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """What of the inputs the document is."""
    return (str(parameters["source"]),)


def _of_sample(
    texts: ModelTexts,
    response: str | None,
    document: Sequence[tuple[str, str]],
    source: Source,
    limits: Limits,
) -> SummarySentences | Outcome:
    if lack := lack_of_response(response):
        return lack
    if not any(text.strip() for _, text in document):
        what = "contexts are" if source == "retrieved_contexts" else "user_input is"
        return missing(f"the {what} empty" if document else f"no {what.split()[0]}")
    own = _long_enough(texts, [("response", response or "")], limits.shortest)
    others = _long_enough(texts, document, limits.shortest)
    for sentences, name in ((own, "response"), (others, source)):
        if not sentences:
            reason = f"no sentence of the {name} has {limits.shortest} characters"
            return Outcome(status="not_applicable", reason=reason)
    kept, kept_others = own[: limits.response], others[: limits.document]
    left_out = len(own) - len(kept) + len(others) - len(kept_others)
    return SummarySentences(kept, kept_others, left_out)


def _long_enough(
    texts: ModelTexts, named: Iterable[tuple[str, str]], shortest: int
) -> list[tuple[Place, str]]:
    return [
        (place, text[place.start : place.end])
        for field, text in named
        for place in sentence_places(texts, field, text)
        if place.end - place.start >= shortest
    ]
