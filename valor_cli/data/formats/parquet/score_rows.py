"""Parse Parquet rows of scores in bulk and leave unusual rows to the slow path.

The fast path: it works on whole columns and creates no Python object per row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.parquet.columns import Bools, Ints, Named, ids, kind_of, named, numbers
from valor_cli.data.formats.parquet.columns import scalars as values_of
from valor_cli.data.formats.parquet.files import Batch
from valor_cli.data.formats.parquet.score_header import ParquetHeader
from valor_cli.data.formats.parquet.score_predictions import Predicted, by_class, by_lists, by_pairs
from valor_cli.data.shapes.scores.fields import probable
from valor_cli.data.shapes.scores.pieces import object_column
from valor_cli.data.shapes.scores.rows import ParsedRows, ScorePiece, every, others
from valor_cli.data.shapes.scores.score_file import ScoreReading
from valor_cli.kernels.columns.vocabulary import Vocabulary


class TypedScoreRows:
    """The fast path for rows."""

    __slots__ = ("_classes", "_header", "_keys", "_labels", "_probabilities")

    def __init__(
        self, header: ParquetHeader, reading: ScoreReading, labels: Vocabulary, keys: Vocabulary
    ) -> None:
        """Initialise with the columns to fill.

        Args:
            header: What the columns mean.
            reading: How to read.
            labels, keys: Names seen so far; new ones are added.
        """
        self._header = header
        self._classes = reading.classes
        self._probabilities = reading.probabilities
        self._labels = _Codes(labels)
        self._keys = _Codes(keys)

    def parse(self, batch: Batch) -> ParsedRows:
        """Parse a batch, without invalid or unusual rows."""
        rows, header = batch.rows, self._header
        columns = header.columns
        sample_id, sound = ids(header.column(rows, columns.sample_id))
        key = None if columns.key is None else named(header.column(rows, columns.key))
        if key is not None:
            sound &= key.place >= 0
        metadata = {}
        for name, position in columns.metadata.items():
            array = header.column(rows, position)
            if kind_of(array.type) == "float":
                value, there = numbers(array)
                sound &= np.isfinite(value) | ~there
            metadata[name] = object_column(values_of(array))
        predicted = self._predicted(rows)
        if predicted is not None:
            sound &= predicted.sound
            predicted = predicted.take(sound)
        truth = None if columns.truth is None else named(header.column(rows, columns.truth))
        return ParsedRows(
            self._piece(
                sample_id[sound],
                batch.first + np.flatnonzero(sound),
                _selected(key, sound),
                _selected(truth, sound),
                predicted,
                {name: values[sound] for name, values in metadata.items()},
            ),
            others(np.flatnonzero(sound), len(sound)),
            len(sound),
        )

    def _predicted(self, rows: Any) -> Predicted | None:
        header, columns = self._header, self._header.columns
        if header.listed >= 0:
            found = by_lists(header, rows, self._classes)
        elif columns.classes:
            found = by_class(header, rows)
        elif columns.pairs:
            found = by_pairs(header, rows)
        else:
            return None
        if not self._probabilities:
            return found
        fine = probable(found.score)
        if found.counts is None:
            return found._replace(sound=found.sound & every(fine))
        row = np.repeat(np.arange(len(found.counts)), found.counts)
        found.sound[row[~fine]] = False
        return found

    def _piece(
        self,
        sample_id: NDArray[Any],
        line: Ints,
        key: Named | None,
        truth: Named | None,
        predicted: Predicted | None,
        metadata: dict[str, NDArray[Any]],
    ) -> ScorePiece:
        """Rows without a fault."""
        n = len(line)
        count = None if predicted is None else predicted.counts
        index = None if predicted is None else predicted.place
        true, listed = self._label_codes(truth, count, index, predicted, n)
        return ScorePiece(
            sample_id=sample_id,
            line=line,
            key=None if key is None else self._keys.of(key.names, [key.place], [np.arange(n)])[0],
            truth=true,
            count=count,
            label=listed,
            score=None if predicted is None else predicted.score,
            metadata=metadata,
        )

    def _label_codes(
        self,
        truth: Named | None,
        count: Ints | None,
        index: Ints | None,
        predicted: Predicted | None,
        n: int,
    ) -> tuple[Ints | None, Ints | None]:
        """Codes of the true labels and of those listed; numbered row by row, the true one first."""
        names: list[bytes] = [] if truth is None else list(truth.names)
        columns, places = [], []
        row = np.arange(n)
        begin = np.zeros(n, np.int64)
        if count is not None:
            np.cumsum(count[:-1], out=begin[1:])
        if truth is not None:
            columns.append(truth.place)
            places.append(begin + row)
        if count is not None and index is not None and predicted is not None:
            columns.append(index + len(names))
            places.append(np.arange(len(index)) + np.repeat(row, count) + 1)
            names += predicted.names
        codes = self._labels.of(names, columns, places)
        true = None if truth is None else codes.pop(0)
        return true, codes.pop() if codes else None


def _selected(column: Named | None, rows: Bools) -> Named | None:
    return None if column is None else column._replace(place=column.place[rows])


class _Codes:
    """The codes of names."""

    __slots__ = ("_known", "_vocabulary")

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._known: dict[bytes, int] = {}
        self._vocabulary = vocabulary

    def of(
        self, names: Sequence[bytes], columns: Sequence[Ints], places: Sequence[Ints]
    ) -> list[Ints]:
        """Codes of columns, -1 for -1; names that are new are numbered as they are met.

        Args:
            names: Of all columns; one may stand here twice, or be nobody's.
            columns: Positions in `names`; -1 for none.
            places: Where each is met; of all columns distinct.
        """
        known = self._known
        codes = np.array([*(known.get(name, -1) for name in names), -1], np.int64)
        if len(names) and codes[:-1].min() < 0:
            met, place = np.concatenate(columns), np.concatenate(places)
            new = np.flatnonzero((met >= 0) & (codes[met] < 0))
            for at in _as_met(met[new], place[new]):
                known[names[at]] = self._vocabulary.code(names[at])
            codes = np.array([*(known.get(name, -1) for name in names), -1], np.int64)
        return [codes[column] for column in columns]


def _as_met(met: Ints, place: Ints) -> list[int]:
    """Distinct numbers in the order of their first places."""
    order = np.argsort(place)
    found, first = np.unique(met[order], return_index=True)
    ordered: list[int] = found[np.argsort(first)].tolist()
    return ordered
