"""Select the samples that have a response and references."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.samples.outcomes import Outcome, missing


class Comparable(NamedTuple):
    """A sample that can be compared.

    Attributes:
        at: Its position.
        response: What was answered; may be empty.
        references: The right answers; at least one.
    """

    at: int
    response: str
    references: tuple[str, ...]


def comparable(data: TextDataset) -> list[Comparable]:
    """The samples that have a response and references, in their order."""
    pairs = enumerate(zip(data.response, data.references, strict=True))
    return [
        Comparable(at, response, references)
        for at, (response, references) in pairs
        if response is not None and references
    ]


def incomparable_outcomes(data: TextDataset) -> list[Outcome]:
    """The outcome of every sample without a response or without references."""
    no_response, no_reference = missing("no response"), missing("no reference")
    return [no_response if response is None else no_reference for response in data.response]


def compared(
    data: TextDataset, compare: Callable[[str, tuple[str, ...]], Outcome]
) -> list[Outcome]:
    """Apply `compare` to the response and references of each sample that has both."""
    outcomes = incomparable_outcomes(data)
    for at, response, references in comparable(data):
        outcomes[at] = compare(response, references)
    return outcomes
