"""Locate sentences, and pair those of each summary with those of its source.

The response is a summary; the source is the text it summarises, or the retrieved contexts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from annotated_types import Interval
from msgspec import Struct

from valor_cli.evaluators.missing_inputs import missing_input
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.models.protocols import Pair
from valor_cli.results import Mark

Source = Literal["user_input", "retrieved_contexts"]
MinLength = Annotated[int, Interval(ge=0, le=10_000)]
MaxSentences = Annotated[int, Interval(ge=1)] | None


class Place(NamedTuple):
    """A span of one of a sample's texts."""

    field: str
    start: int
    end: int

    def of(self, text: str) -> str:
        """The text at this place."""
        return text[self.start : self.end]

    def mark(self, kind: str) -> Mark:
        """A mark of this span."""
        return Mark(self.field, self.start, self.end, kind)


def sentence_places(texts: ModelTexts, field: str, text: str) -> list[Place]:
    """Spans of the sentences of a text."""
    return [Place(field, start, end) for start, end in texts.sentences(text)]


class Limits(NamedTuple):
    """Limits on the sentences that are compared.

    Attributes:
        shortest: Characters that one must have.
        document, response: How many, the first ones; None: all.
    """

    shortest: int = 0
    document: int | None = None
    response: int | None = None


class SummarySentences(Struct, frozen=True):
    """The sentences of a sample, as spans and as texts.

    Attributes:
        response, document: Of either, at least one.
        left_out: How many of both are beyond the most that are looked at.
    """

    response: Sequence[tuple[Place, str]]
    document: Sequence[tuple[Place, str]]
    left_out: int

    def pairs(self) -> Iterator[Pair]:
        """All pairs of a document sentence and a response sentence."""
        return (Pair(one, other) for _, other in self.response for _, one in self.document)


def summary_sentences(
    texts: ModelTexts, source: Source, limits: Limits
) -> list[SummarySentences | Outcome]:
    """The sentences of each sample, or an outcome that says why there are none."""
    data = texts.data
    documents = data.user_input if source == "user_input" else data.retrieved_contexts
    return [
        _of_sample(texts, response, document, source, limits)
        for response, document in zip(data.response, documents, strict=True)
    ]


def source_of(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """The inputs that serve as the document."""
    return (str(parameters["source"]),)


def _of_sample(
    texts: ModelTexts,
    response: str | None,
    document: str | Sequence[str] | None,
    source: Source,
    limits: Limits,
) -> SummarySentences | Outcome:
    if lack := missing_input("response", response) or missing_input(source, document):
        return lack
    own = _long_enough(texts, [("response", response or "")], limits.shortest)
    others = _long_enough(texts, _named(source, document or ""), limits.shortest)
    for sentences, name in ((own, "response"), (others, source)):
        if not sentences:
            reason = f"no sentence of the {name} has {limits.shortest} characters"
            return Outcome(status="not_applicable", reason=reason)
    kept, kept_others = own[: limits.response], others[: limits.document]
    left_out = len(own) - len(kept) + len(others) - len(kept_others)
    return SummarySentences(kept, kept_others, left_out)


def _named(source: Source, document: str | Sequence[str]) -> list[tuple[str, str]]:
    """The texts of a document, each with the field that marks name."""
    if isinstance(document, str):
        return [(source, document)]
    return [(f"{source}[{at}]", one) for at, one in enumerate(document)]


def _long_enough(
    texts: ModelTexts, named: Iterable[tuple[str, str]], shortest: int
) -> list[tuple[Place, str]]:
    return [
        (place, place.of(text))
        for field, text in named
        for place in sentence_places(texts, field, text)
        if place.end - place.start >= shortest
    ]
