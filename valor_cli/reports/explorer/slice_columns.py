"""Which samples are in which slices, for the explorer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.explorer.blobs import Blobs
from valor_cli.reports.explorer.joining import Ints, Samples, Side
from valor_cli.results import SlicesResult


def slice_columns(
    sides: Sequence[Side], samples: Samples, blobs: Blobs
) -> list[dict[str, Any]] | None:
    """A column of flags by slice and model; None where no run says who is in which.

    Slices of one key exclude each other; those of several conditions are their own key.
    """
    own = [
        next((one for one in side.result.slices if one.model == side.model), None) for side in sides
    ]
    names = dict.fromkeys(name for one in own if one is not None for name in one.names)
    places: dict[int, Ints] = {}
    for one in own:
        if one is not None and id(one.sample_ids) not in places:
            at = [samples.position(name) for name in one.sample_ids]
            places[id(one.sample_ids)] = np.array(at, np.int64)
    return [
        {
            "name": name,
            "shown": clean(name, 120),
            "key": name if " & " in name else name.partition("=")[0],
            "models": [
                None
                if one is None or name not in one.names
                else blobs.bits(_flags(one, name, places[id(one.sample_ids)], len(samples)))
                for one in own
            ],
        }
        for name in names
    ] or None


def _flags(one: SlicesResult, name: str, places: Ints, count: int) -> Any:
    """(samples,) whether each is in the slice; those that the explorer does not list are left."""
    flags = np.zeros(count, bool)
    members = places[one.members[list(one.names).index(name)]]
    flags[members[members >= 0]] = True
    return flags
