"""Apply the filters of a config to samples, and report unknown values.

Values are compared as written: the number 17 and the text "17" are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.errors import LISTED, DataError, Problem, did_you_mean
from valor_cli.metric import METADATA, Selection, written
from valor_cli.results import Scalar

SAMPLE_KEYS = ("image_id", "sample_id")
"""The keys of a filter that list samples."""


def filtered_columns(selection: Selection) -> tuple[str, ...]:
    """The required metadata columns, followed by the optional ones."""
    kept = [key.removeprefix(METADATA) for key in selection.keep if key.startswith(METADATA)]
    return tuple(dict.fromkeys([*selection.metadata, *kept, *selection.optional]))


def with_metadata(selection: Selection, names: Sequence[str]) -> Selection:
    """Add metadata columns to a selection."""
    return replace(selection, metadata=tuple(dict.fromkeys([*selection.metadata, *names])))


def among(values: Sequence[Scalar], allowed: Sequence[Scalar]) -> NDArray[np.bool_]:
    """(n,) whether each value is allowed."""
    texts = set(map(written, allowed))
    return np.array([written(value) in texts for value in values], bool)


def limited(
    kept: NDArray[np.bool_], limit: int | None, place: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """(n,) the first selected samples up to a limit, in file order; None: all.

    Args:
        kept: (n,) whether each is kept.
        limit: How many.
        place: (n,) where the file has each.
    """
    if limit is None:
        return kept
    first = np.flatnonzero(kept)
    first = first[np.argsort(place[first], kind="stable")][:limit]
    found = np.zeros(len(kept), bool)
    found[first] = True
    return found


def kept_images(
    ids: Sequence[Scalar],
    place: NDArray[np.int64],
    columns: Mapping[str, Sequence[Scalar]],
    selection: Selection,
    path: str,
) -> NDArray[np.bool_]:
    """(n,) whether the selection keeps each image.

    Args:
        ids: (n,) ids of the images.
        place: (n,) where the file has each.
        columns: Their metadata.
        selection: What to keep.
        path: The ground truth, for messages.

    Raises:
        DataError: The selection leaves none, or lists images that are not there.
    """
    kept = np.ones(len(ids), bool)
    for key, allowed in selection.keep.items():
        if key in SAMPLE_KEYS:
            there = set(map(written, ids))
            unknown = [wanted for wanted in allowed if written(wanted) not in there]
            if unknown:
                raise unknown_samples(unknown, key, "image", ids[:3])
            kept &= among(ids, allowed)
        elif key.startswith(METADATA):
            kept &= among(columns[key.removeprefix(METADATA)], allowed)
    kept = limited(kept, selection.limit, place)
    if not kept.any():
        problem = Problem("filter", f"leaves no image of {path}")
        raise DataError(problem, hint=values_hint(columns))
    return kept


def filter_labels(labels: Sequence[str], allowed: Sequence[Scalar]) -> set[str]:
    """The labels of a filter.

    Raises:
        DataError: Some are none of `labels`.
    """
    wanted = dict.fromkeys(map(written, allowed))
    known = set(labels)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise DataError(
            [
                Problem("filter.label", f"no label '{name}'{did_you_mean(name, labels)}")
                for name in unknown
            ],
            hint=f"labels: {', '.join(labels[:LISTED])}{' …' if len(labels) > LISTED else ''}",
        )
    return set(wanted)


def unknown_samples(
    unknown: Sequence[Scalar], key: str, noun: str, some: Collection[Scalar]
) -> DataError:
    """The error for filter ids that no sample has.

    Args:
        unknown: These ids.
        key: The filter's, one of `SAMPLE_KEYS`.
        noun: What a sample is called: "image".
        some: A few ids that there are.
    """
    shown = ", ".join(map(repr, some))
    return DataError(
        [Problem(f"filter.{key}", f"no {noun} {wanted!r}") for wanted in unknown],
        hint=f"{noun} ids look like {shown}",
    )


def values_hint(columns: Mapping[str, Sequence[Scalar]]) -> str:
    """A hint that lists the values of the filtered columns."""
    lines = []
    for name, values in columns.items():
        seen = sorted({str(value) for value in values})
        more = f" … ({len(seen)} values)" if len(seen) > LISTED else ""
        lines.append(f"{METADATA}{name} has: {', '.join(seen[:LISTED])}{more}")
    return "\n".join(lines)
