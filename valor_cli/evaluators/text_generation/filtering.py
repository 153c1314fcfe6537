"""Select the samples under evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.column_names import quoted
from valor_cli.data.shapes.samples.sample_file import SampleFile
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.id_mismatch import SHOWN
from valor_cli.evaluators.selection import among, unknown_samples, values_hint
from valor_cli.metric import METADATA, Selection, written
from valor_cli.results import Scalar


class Candidates(NamedTuple):
    """The samples of a model.

    Attributes:
        file: The file they are in.
        total: How many there are.
        ids, metadata: (n,) of each, for a filter.
    """

    file: SampleFile
    total: int
    ids: Sequence[str] = ()
    metadata: Sequence[tuple[Scalar, ...]] = ()


def selected(
    models: Mapping[str, Candidates], columns: Sequence[str], selection: Selection
) -> dict[str, Sequence[int]]:
    """By model, positions of the evaluated samples, ascending.

    Args:
        models: All samples.
        columns: The names of their metadata.
        selection: What is asked for.

    Raises:
        DataError: The filter leaves no sample of a model, names a sample that no model has, or
            asks for what texts do not have.
    """
    _check_filter(models, selection)
    found: dict[str, Sequence[int]] = {}
    for model, own in models.items():
        if not selection.keep:
            found[model] = range(own.total)[: selection.limit]
            continue
        kept = np.ones(own.total, bool)
        for key, allowed in selection.keep.items():
            kept &= _kept(own, key, allowed, columns)
        if not kept.any():
            values = {name: _values(own, at) for at, name in enumerate(columns)}
            of = f" of the model {quoted(model)}" if len(models) > 1 else ""
            problem = Problem("filter", f"leaves no sample{of} of {own.file.path}")
            raise DataError(problem, hint=values_hint(values))
        found[model] = np.flatnonzero(kept).tolist()[: selection.limit]
    return found


def _check_filter(models: Mapping[str, Candidates], selection: Selection) -> None:
    for key, allowed in selection.keep.items():
        if key == "sample_id":
            ids = dict.fromkeys(chain.from_iterable(own.ids for own in models.values()))
            unknown = [one for one in allowed if written(one) not in ids]
            if unknown:
                raise unknown_samples(unknown, key, "sample", list(ids)[:SHOWN])
        elif not key.startswith(METADATA):
            message = f"text samples have no {key}; filter by sample_id, or by metadata.NAME"
            raise DataError(Problem(f"filter.{key}", message))


def _kept(
    own: Candidates, key: str, allowed: Sequence[Scalar], columns: Sequence[str]
) -> NDArray[np.bool_]:
    if key == "sample_id":
        return among(own.ids, allowed)
    return among(_values(own, columns.index(key.removeprefix(METADATA))), allowed)


def _values(own: Candidates, at: int) -> list[Scalar]:
    return [values[at] for values in own.metadata]
