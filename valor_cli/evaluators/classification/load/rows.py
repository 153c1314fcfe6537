"""Index the ground truth by sample and label key, and select the evaluated rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.scores.score_file import ScoreFile
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.classification.load.warnings import Tally, shown_ids
from valor_cli.evaluators.id_mismatch import SHOWN
from valor_cli.evaluators.selection import (
    SAMPLE_KEYS,
    among,
    filter_labels,
    limited,
    unknown_samples,
    values_hint,
)
from valor_cli.kernels.columns.grouping import begins
from valor_cli.kernels.columns.texts import order_of, positions
from valor_cli.kernels.ranking.sparse_scores import SparseScores
from valor_cli.metric import METADATA, Selection, written
from valor_cli.results import Scalar

Ints = NDArray[np.int64]


class Frame(Struct, frozen=True):
    """The rows of a ground truth, ordered by sample and label key.

    Attributes:
        file: The ground truth.
        sample_ids: (units,) ascending, distinct.
        keys: Names of the label keys, ascending; (None,) without any.
        order: (n,) position in the file of each row.
        unit: (n,) the sample of each row.
        key: (n,) the label key of each row.
    """

    file: ScoreFile
    sample_ids: NDArray[Any]
    keys: tuple[str | None, ...]
    order: Ints
    unit: Ints
    key: Ints

    def __len__(self) -> int:
        return len(self.order)

    @property
    def code(self) -> Ints:
        """(n,) sample and label key as one ascending number."""
        return self.unit * len(self.keys) + self.key


class Rows(Struct, frozen=True):
    """The evaluated rows.

    Attributes:
        number: (rows of the frame,) the position of each among those kept; -1 for the others.
        sample_ids, keys: As in `Frame`, of the samples kept.
        unit, key: (n,) as in `Frame`.
        truth: (n,) the true label of each; -1 where `truths` lists them.
        truths: (n,) rows of all true labels, where samples have sets of them.
    """

    number: Ints
    sample_ids: NDArray[Any]
    keys: tuple[str | None, ...]
    unit: Ints
    key: Ints
    truth: Ints
    truths: SparseScores | None = None

    def __len__(self) -> int:
        return len(self.unit)

    @property
    def ids(self) -> NDArray[Any]:
        """(n,) the sample id of each row."""
        return self.sample_ids if len(self.keys) == 1 else self.sample_ids[self.unit]


def make_frame(truth: ScoreFile) -> Frame:
    """Order the rows of a ground truth."""
    ids = truth.samples["sample_id"]
    keys = tuple(sorted(truth.keys, key=str))
    order = order_of(ids)
    ids = ids[order]
    key = key_numbers(truth, keys)[order]
    if len(keys) == 1:
        return Frame(truth, ids, keys, order, np.arange(len(ids)), key)
    new = begins(ids)
    unit = np.cumsum(new) - 1
    inside = np.argsort(unit * len(keys) + key)
    return Frame(truth, ids[new], keys, order[inside], unit, key[inside])


def key_numbers(file: ScoreFile, keys: Sequence[str | None]) -> Ints:
    """(n,) the position in `keys` of each row's label key."""
    if len(keys) == 1 or not len(file.samples):
        return np.zeros(len(file.samples), np.int64)
    at = {key: number for number, key in enumerate(keys)}
    number = np.array([at[key] for key in file.keys], np.int64)
    return np.asarray(number[file.samples["key"]])


def metadata_of(frame: Frame) -> tuple[dict[str, list[Scalar]], dict[str, Tally]]:
    """One value per sample of each metadata column, and samples with several, by column.

    Where a sample has several rows, it is the first value that one of them has.
    """
    columns: dict[str, list[Scalar]] = {}
    several: dict[str, Tally] = {}
    if not frame.file.metadata:
        return columns, several
    order, unit = frame.order.tolist(), frame.unit.tolist()
    for name, values in frame.file.metadata.items():
        if len(frame) == len(frame.sample_ids):
            columns[name] = [values[at] for at in order]
            continue
        found: list[Scalar] = [None] * len(frame.sample_ids)
        differing = np.zeros(len(frame.sample_ids), bool)
        for at, sample in zip(order, unit, strict=True):
            if found[sample] is None:
                found[sample] = values[at]
            elif values[at] is not None and written(values[at]) != written(found[sample]):
                differing[sample] = True
        columns[name] = found
        several[name] = Tally.of(differing, frame.sample_ids)
    return columns, several


def kept_samples(
    frame: Frame,
    truth: Ints | SparseScores,
    labels: Sequence[str],
    columns: Mapping[str, Sequence[Scalar]],
    selection: Selection,
    there: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """(units,) whether a sample is evaluated.

    Args:
        frame: All rows.
        truth: (n,) the true label of each, or rows of all of them.
        labels: Names of all labels of the run.
        columns: Metadata of each sample.
        selection: What to keep.
        there: (units,) the samples that all files have which must.

    Raises:
        DataError: The filter leaves no sample, or names samples or labels that are not there.
    """
    kept = there.copy()
    for key, allowed in selection.keep.items():
        if key in SAMPLE_KEYS:
            kept &= _listed(frame, allowed, key)
        elif key == "label":
            wanted = filter_labels(labels, allowed)
            right = _has_any(truth, np.array([label in wanted for label in labels], bool))
            kept &= np.bincount(frame.unit[right], minlength=len(kept)) > 0
        elif key.startswith(METADATA):
            kept &= among(columns[key.removeprefix(METADATA)], allowed)
    if not kept.any():
        problem = Problem("filter", f"leaves no sample of {frame.file.path}")
        raise DataError(problem, hint=values_hint(columns))
    place = np.full(len(kept), len(frame))
    np.minimum.at(place, frame.unit, frame.order)
    return limited(kept, selection.limit, place)


def _has_any(truth: Ints | SparseScores, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(n,) whether a label of each row is wanted."""
    if not isinstance(truth, SparseScores):
        return np.asarray(wanted[truth])
    return np.bincount(truth.row[wanted[truth.label]], minlength=len(truth)) > 0


def rows_of(frame: Frame, truth: Ints | SparseScores, kept: NDArray[np.bool_]) -> Rows:
    """The rows of the selected samples.

    Args:
        frame: All rows.
        truth: (n,) the true label of each, or rows of all of them.
        kept: (units,) which samples to keep.
    """
    ids, keys = frame.sample_ids, frame.keys
    if isinstance(truth, SparseScores):
        found = rows_of(frame, np.full(len(frame), -1), kept)
        return replace(found, truths=truth.take(kept[frame.unit]))
    if kept.all():
        return Rows(np.arange(len(frame)), ids, keys, frame.unit, frame.key, truth)
    rows = kept[frame.unit]
    unit = (np.cumsum(kept) - 1)[frame.unit[rows]]
    number = np.where(rows, np.cumsum(rows) - 1, -1)
    return Rows(number, ids[kept], keys, unit, frame.key[rows], truth[rows])


def _listed(frame: Frame, allowed: Sequence[Scalar], key: str) -> NDArray[np.bool_]:
    """(units,) which samples a filter lists by their ids."""
    ids = np.empty(len(allowed), object)
    ids[:] = [written(one).encode(errors="surrogatepass") for one in allowed]
    at = positions(ids, frame.sample_ids)
    unknown = [one for one, found in zip(allowed, at.tolist(), strict=True) if found < 0]
    if unknown:
        some = [one.decode() for one in frame.sample_ids[:SHOWN].tolist()]
        raise unknown_samples(unknown, key, "sample", some)
    listed = np.zeros(len(frame.sample_ids), bool)
    listed[at] = True
    return listed


def some_ids(ids: NDArray[Any], rows: Sequence[int] | Ints) -> str:
    """A few sample ids, for a message."""
    return ", ".join(shown_ids(ids, rows))
