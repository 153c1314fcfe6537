"""Matches in; the same, with rows of their own for the tied detections of copies of images, out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.memo import Memo
from valor_cli.kernels.tied_copies import copies_apart, tied_groups

if TYPE_CHECKING:
    from valor_cli.evaluators.detection.matches import Matches


def tied_of(matches: Matches) -> NDArray[np.int64] | None:
    """(n,) numbers of the groups of tied detections that may be right; None without any."""
    columns = [matches.label, matches.score, matches.image]
    if matches.nearest is not None:
        columns.append(matches.nearest)
    groups = tied_groups(columns, matches.candidate)
    return groups if (groups >= 0).any() else None


def stood_apart(
    matches: Matches, groups: NDArray[np.int64], images: NDArray[np.int64], most: int
) -> Matches:
    """The matches with room for copies of images, which stand behind all images.

    Args:
        matches: Without weights.
        groups: (n,) from `tied_of`.
        images: Those that have tied detections, ascending.
        most: Copies of each that there is room for.
    """
    row, copy = copies_apart(groups, most)
    stands = matches.unit_count + np.searchsorted(images, matches.image[row]) * most + copy
    place = np.full(len(matches.label), -1)
    place[matches.candidate] = np.arange(len(matches.candidate))
    candidate = np.flatnonzero(place[row] >= 0)
    chosen = place[row[candidate]]
    return replace(
        matches,
        image_ids=np.arange(matches.unit_count + len(images) * most),
        image=np.where(copy < 0, matches.image[row], stands),
        label=matches.label[row],
        score=matches.score[row],
        number=matches.number[row],
        rank=matches.rank[row],
        outside=matches.outside[:, row],
        candidate=candidate,
        codes=matches.codes[:, :, chosen],
        taken=matches.taken[:, :, chosen],
        encounters=None,
        nearest=None if matches.nearest is None else matches.nearest[row],
        weights=None,
        replica=0,
        _shared=Memo(),
        _known=Memo(),
    )
