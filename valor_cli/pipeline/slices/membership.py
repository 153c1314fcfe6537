"""Record which samples are in which slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from valor_cli.metric import Loaded
from valor_cli.pipeline.slices.slices import Slice
from valor_cli.pipeline.stored_evidence import plain_ids
from valor_cli.results import SlicesResult

MOST_FLAGS: Final = 1 << 26
"""Samples times slices of a model, which take 8 MiB: later slices are left out."""


def memberships(loaded: Loaded[Any], slices: Sequence[Slice]) -> list[SlicesResult]:
    """Of each model, the samples that are in each slice of whole samples.

    A part of samples, as objects of a size, is no such slice.
    """
    found = []
    for model, dataset in loaded.datasets.items():
        ids = dataset.unit_ids
        metadata = loaded.metadata.get(model)
        # Where data are read in pieces, ids that no metric needs are mere numbers.
        if metadata is None or isinstance(ids, range):
            continue
        names: list[str] = []
        flags = []
        for cut in slices:
            if (len(names) + 1) * len(ids) > MOST_FLAGS:
                break
            units = cut.units(metadata)
            if units is not None:
                names.append(cut.name)
                flags.append(units)
        if names:
            found.append(SlicesResult(model, names, plain_ids(ids), np.array(flags, bool)))
    return found
