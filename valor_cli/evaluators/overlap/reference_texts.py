"""Samples come in; those with a response and references go out, and what the others lack."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.samples import Outcome, missing


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


def lacking(data: TextDataset) -> list[Outcome]:
    """What is said of each sample, as of one that has no response, or else no references."""
    no_response, no_reference = missing("no response"), missing("no reference")
    return [no_response if response is None else no_reference for response in data.response]


def compared(
    data: TextDataset, compare: Callable[[str, tuple[str, ...]], Outcome]
) -> list[Outcome]:
    """What `compare` says of the response and the references of each sample that has both."""
    outcomes = lacking(data)
    for at, response, references in comparable(data):
        outcomes[at] = compare(response, references)
    return outcomes
