"""A sample's labels in; the objects that an example shows of it out."""

from __future__ import annotations

from typing import NamedTuple

from valor_cli.results import ObjectRef


class Said(NamedTuple):
    """A label that is predicted, and its score."""

    label: str
    score: float


def objects_of(kind: str, number: int, truth: str, said: Said | None) -> tuple[ObjectRef, ...]:
    """The ground truth of a row, and what is predicted if anything is.

    Args:
        kind: What became of them.
        number: The row in the whole dataset.
        truth: Its true label.
        said: What is predicted.
    """
    own = ObjectRef("ground_truth", number, kind, truth)
    if said is None:
        return (own,)
    return own, ObjectRef("prediction", number, kind, said.label, said.score)
