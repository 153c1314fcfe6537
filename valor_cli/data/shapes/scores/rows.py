"""Read the rows of a file of labels and scores, of any format.

A row of a table is a sample with its label, or one predicted label of a sample with its score, or
several in pairs of columns, or a sample with a score for each class. A JSON object is
`{"sample_id": …, "label": …, "predictions": {"cat": 0.9, …}}` or, with one label a row,
`{"sample_id": …, "label": …, "prediction": "cat", "score": 0.9}`, or has a key for each class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from valor_cli.data.batch import Batch, Fault, FaultyRow, Part, RowFile, TypedReading
from valor_cli.data.json_records import json_cell
from valor_cli.data.partition.pieces import Span, UnsplittableError
from valor_cli.data.shapes.scores.columns import GatheredScores, ScoreColumns
from valor_cli.data.shapes.scores.faults import CellFaults, RecordFaults
from valor_cli.data.shapes.scores.joined import ScorePart, score_part
from valor_cli.data.shapes.scores.layout import INNER, ScoreLayout
from valor_cli.data.shapes.scores.parse import ScoreFields, ScoreParser
from valor_cli.data.shapes.scores.samples import Named, one_a_sample
from valor_cli.data.shapes.scores.score_file import ScoreFile, Side
from valor_cli.data.table import SKIP_HINT, Columns, Problems, Table, stop_on
from valor_cli.data.tape import ABSENT, OBJECT, TEXT, Column
from valor_cli.data.value_rows import batch_of
from valor_cli.kernels.columns.spans import Vocabulary
from valor_cli.results import InputFile


class ScoreRows:
    """The rows of a file or part, as they are read."""

    def __init__(
        self,
        file: RowFile,
        side: Side,
        layout: ScoreLayout,
        above: Callable[[], int] | None = None,
    ) -> None:
        """Initialise; `above` is as for `Problems`."""
        self._file = file
        self._side = side
        self._layout = layout
        self._cells = file.form != "json" and not layout.listed
        self._problems = Problems(file.path, file.place, above)
        self._faults = (
            CellFaults(layout, typed=file.form == "typed")
            if self._cells
            else RecordFaults(side, layout)
        )
        self._faulty = 0
        self._labels, self._keys = Vocabulary(), Vocabulary()
        for name in layout.classes:
            self._labels.code(name.encode())
        self._parser = ScoreParser(
            side,
            layout.classes,
            self._labels,
            self._keys,
            probabilities=layout.reading.probabilities,
            several=layout.reading.several,
            separator=layout.reading.separator,
        )
        self._gathered = GatheredScores(layout.metadata)

    def read(self, part: Part | None = None) -> None:
        """Read the file, or a part of it.

        Raises:
            DataError: The file cannot be read on.
            UnsplittableError: The part cannot tell where its rows begin.
        """
        file, layout = self._file, self._layout
        typed = TypedReading(most=_LISTS if layout.listed else _ROWS)
        if file.form == "typed":
            use = layout.columns(file)
            coded = [
                str(path[0])
                for path, what in use.items()
                if what == "label" and len(path) == 1 and file.types[str(path[0])].kind == "text"
            ]
            typed = typed._replace(columns=list(use), coded=coded)
        for block in file.blocks(part, typed):
            wrong = list(block.wrong)
            for batch in block.batches:
                if file.form == "cells" and layout.listed:
                    batch = self._of_json(batch, wrong)
                rejected = self._add(batch)
                records = batch.records(rejected) if rejected else []
                for at, record in zip(rejected, records, strict=True):
                    line = int(batch.line[at])
                    wrong.append((line, self._faults_of(record, line)))
            self._faulty += len(wrong)
            self._problems.add_rows(wrong)

    def columns(self) -> ScoreColumns:
        """The valid rows in file order; empties this object."""
        return self._gathered.columns()

    def part(self, span: Span | None = None, lines: int = 0) -> ScorePart:
        """The samples, one row for each sample and label key; empties this object.

        Args:
            span: The bytes that were read; None for all of the file.
            lines: How many lines that is.

        Raises:
            UnsplittableError: Rows of a part contradict each other, or lack what others may have.
            DataError: Rows are wrong and not to be left out.
        """
        layout, problems = self._layout, self._problems
        path, place = self._file.path, self._file.place
        records = self._gathered.lines + self._faulty
        # What rows of one sample contradict or lack, other parts may settle.
        apart = span is not None and layout.long
        between = Problems(path, place) if apart else problems
        named = Named(
            self._labels.names,
            self._keys.names,
            truth=layout.name("label"),
            key=layout.name("label_key"),
        )
        samples = one_a_sample(self._gathered.columns(), named, between, long=layout.long)
        if apart and between.total:
            raise UnsplittableError
        if layout.reading.invalid == "error":
            stop_on([problems], SKIP_HINT)
        rows, skipped = samples.columns, self._faulty + samples.dropped
        columns: Columns = {
            "sample_id": rows.sample_id,
            "key": np.zeros(len(rows), np.int64) if rows.key is None else rows.key.astype(np.int64),
        }
        if rows.truth is not None and rows.truths is None:
            columns["truth"] = rows.truth.astype(np.int64)
        file = ScoreFile(
            path=path,
            samples=Table(
                path, columns, place=place, rows=rows.line.astype(np.int64), skipped=skipped
            ),
            keys=(None,) if rows.key is None else tuple(named.keys),
            labels=tuple(named.labels),
            scores=samples.scores,
            truths=rows.truths,
            classes=layout.classes,
            metadata={name: column.tolist() for name, column in rows.metadata.items()},
            files=[InputFile(path, self._file.sha256 if span is None else "", records, skipped)],
        )
        return score_part(file, layout, span, lines)

    def _of_json(self, batch: Batch, wrong: list[FaultyRow]) -> Batch:
        """Rows of cells of which one column holds JSON, as rows of JSON."""
        name = self._layout.name("predictions")
        rows = [
            {key: json_cell(cell) if key == name else cell or None for key, cell in one.items()}
            for one in batch.records(range(len(batch)))
        ]
        return batch_of(rows, batch.line, batch.number, wrong)

    def _add(self, batch: Batch) -> list[int]:
        """Add the rows of a batch that are right; returns the positions of the others."""
        if not len(batch):
            return []
        piece, rejected = self._parser.parse(self._fields(batch))
        self._gathered.add(piece)
        wrong: list[int] = rejected.tolist()
        return wrong

    def _faults_of(self, record: Any, line: int) -> list[Fault]:
        """What is wrong with a row that was refused."""
        if faults := self._faults.of(record):
            return faults
        path = self._file.path
        raise RuntimeError(f"{path}: row {line} was refused, and nothing is wrong with it")

    def _fields(self, batch: Batch) -> ScoreFields:
        """The columns of rows, by meaning."""
        layout, predicted = self._layout, self._side != "ground_truth"
        ways = layout.ways(batch.names)
        table = layout.fixed is not None
        unusable = np.zeros(len(batch), np.bool_)
        if batch.objects is not None:
            unusable = ~batch.objects.is_of(OBJECT)
            if layout.others is not None:
                unusable |= batch.objects.other_keys(layout.others)
        if layout.indicated and not table:
            unusable |= ~batch.at(ways["label"]).is_of(ABSENT)

        def column(field: str) -> Column | None:
            return None if table and not ways[field] else batch.at(ways[field])

        pairs = [(batch.at([one]), batch.at([two]) if two else None) for one, two in layout.pairs]
        if layout.listed and predicted:
            single = (batch.absent(), None)
            pairs = [single if table else (batch.at(ways["prediction"]), batch.at(ways["score"]))]
        return ScoreFields(
            line=batch.line,
            sample_id=batch.at(ways["sample_id"]),
            truth=None if self._side == "predictions" or layout.indicated else column("label"),
            key=column("label_key"),
            many=column("predictions") if layout.listed and predicted else None,
            pairs=pairs,
            wide=[batch.column(name) for name in layout.classes] if layout.wide else [],
            metadata={
                name: _filled(batch.at([(name,), (INNER, name)]), batch) for name in layout.metadata
            },
            cells=self._cells,
            unusable=unusable,
        )


_ROWS = 1 << 13
_LISTS = 1 << 12
"""Rows of a batch of typed columns, at most; and of one with lists, which may be long."""


def _filled(column: Column, batch: Batch) -> Column:
    """A column whose empty texts are none, where rows are typed."""
    if batch.form != "typed":
        return column
    return column.where(~column.is_of(TEXT) | (column.length > 0))
