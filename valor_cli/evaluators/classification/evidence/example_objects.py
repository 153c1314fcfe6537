"""Convert the labels of a sample to the objects of an example."""

from __future__ import annotations

from typing import NamedTuple

from valor_cli.results import ObjectRef


class Prediction(NamedTuple):
    """A predicted label and its score."""

    label: str
    score: float


def objects_of(
    kind: str, number: int, truth: str, said: Prediction | None
) -> tuple[ObjectRef, ...]:
    """The ground truth of a row, and its prediction if there is one.

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
