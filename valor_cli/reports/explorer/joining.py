"""Join the samples of models by their ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.results import RunResult, Scalar

Ints = NDArray[np.int64]

LONGEST: Final = 300
"""Characters of an id, and of a name, that links hold."""


class Side(Struct, frozen=True):
    """A model of a run, with the name that the explorer has for it."""

    name: str
    result: RunResult
    model: str

    def own(self, kind: str) -> list[Any]:
        """The records of the model, of one kind of those of the run."""
        return [one for one in getattr(self.result, kind) if one.model == self.model]

    def first(self, kind: str) -> Any:
        """The first of them; None if there is none."""
        return next(iter(self.own(kind)), None)


def sides_of(runs: Sequence[tuple[str, RunResult]]) -> list[Side]:
    """All models of all runs, those of one name side by side; `run model` if the run has a name."""
    models = dict.fromkeys(model for _, result in runs for model in result.models)
    return [
        Side(f"{name} {model}" if name else model, result, model)
        for model in models
        for name, result in runs
        if model in result.models
    ]


class Samples:
    """All samples of all models, in the order in which they first come.

    Attributes:
        ids: The id of each.
    """

    def __init__(self, sides: Sequence[Side]) -> None:
        self.ids: list[Scalar] = []
        self._at: dict[tuple[type, Scalar], int] = {}
        self._known: dict[int, tuple[Sequence[Scalar], Ints]] = {}
        for ids in _all_ids(sides):
            self.positions(ids)

    def __len__(self) -> int:
        return len(self.ids)

    def positions(self, ids: Sequence[Scalar]) -> Ints:
        """The number of each sample; a new one joins the end."""
        known = self._known.get(id(ids))
        if known is None:
            known = ids, self._joined(ids)
            self._known[id(ids)] = known
        return known[1]

    def position(self, name: Scalar) -> int:
        """The number of a sample; -1 if there is none of this id."""
        return self._at.get((type(name), name), -1)

    def _joined(self, ids: Sequence[Scalar]) -> Ints:
        at = self._at
        keys = [(type(name), name) for name in ids]
        new = [key for key in dict.fromkeys(keys) if key not in at]
        at.update(zip(new, range(len(at), len(at) + len(new)), strict=True))
        self.ids += [name for _, name in new]
        return np.array([at[key] for key in keys], np.int64)


def _all_ids(sides: Sequence[Side]) -> Iterator[Sequence[Scalar]]:
    """Those of objects first, which know their files, then of texts, values and examples."""
    for kind in ("objects", "texts", "samples"):
        for side in sides:
            for one in side.own(kind):
                yield one.image_ids if kind == "objects" else one.sample_ids
    for side in sides:
        yield [one.sample_id for one in side.own("examples")]
