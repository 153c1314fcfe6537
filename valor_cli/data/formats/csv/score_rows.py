"""Parse CSV rows of scores one at a time and report every fault.

The slow path: all messages about a row are written here. Where `score_csv_lines` returns columns,
this returns the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from valor_cli.data.column_names import number_in, quoted, wrong_field_count
from valor_cli.data.shapes.scores.fields import PROBABLE
from valor_cli.data.shapes.scores.pieces import ScoreRows
from valor_cli.data.shapes.scores.rows import ScoreHeader, ScorePiece
from valor_cli.data.values import LineProblems
from valor_cli.errors import printable
from valor_cli.kernels.columns.spans import Vocabulary

_SHOWN = 40


class ScoreRowReader:
    """Reads rows one by one.

    Attributes:
        rows: Those read; counts the faulty ones.
    """

    __slots__ = ("_header", "_keys", "_labels", "_note", "_probabilities", "_problems", "rows")

    def __init__(
        self,
        header: ScoreHeader,
        labels: Vocabulary,
        keys: Vocabulary,
        problems: LineProblems,
        *,
        probabilities: bool,
        note: str = "",
    ) -> None:
        """Initialise with the columns to fill.

        Args:
            header: What the columns mean.
            labels, keys: Names seen so far; new ones are added.
            problems: Where faults are noted.
            probabilities: Whether scores must be from 0 to 1.
            note: What to add where a class has a cell that is no number.
        """
        self.rows = ScoreRows(list(header.metadata))
        self._header = header
        self._labels = labels
        self._keys = keys
        self._problems = problems
        self._probabilities = probabilities
        self._note = note

    def piece(
        self, rows: Sequence[tuple[int, Sequence[str]]], uneven: Sequence[tuple[int, int]] = ()
    ) -> ScorePiece:
        """The valid rows.

        Args:
            rows: Line and cells of each.
            uneven: Line and number of cells of rows that have not as many as the header.
        """
        lines = sorted(
            [
                *((line, None, cells) for line, cells in rows),
                *((line, count, ()) for line, count in uneven),
            ],
            key=itemgetter(0),
        )
        for line, count, cells in lines:
            before = self._problems.total
            if count is None:
                self._row(cells, line)
            else:
                expected = len(self._header.names)
                message = wrong_field_count(count, expected, self._header.delimiter, "field")
                self._problems.add(line, "", message)
            self.rows.faulty += self._problems.total > before
        header = self._header
        return self.rows.piece(
            truth=header.truth is not None,
            scored=bool(header.classes or header.pairs),
            dense=bool(header.classes),
        )

    def _row(self, record: Sequence[str], line: int) -> None:
        header, problems, before = self._header, self._problems, self._problems.total
        sample_id = record[header.sample_id]
        key = record[header.key] if header.key is not None else ""
        truth = record[header.truth] if header.truth is not None else ""
        if not sample_id or "\0" in sample_id:
            found = "one with a NUL character" if sample_id else "nothing"
            self._add(line, header.sample_id, f"expected the id of a sample, found {found}")
        if header.key is not None and not key:
            self._add(line, header.key, "expected a label key, found nothing")
        named: list[str] = []
        if header.classes:
            scores = self._classes(record, line)
        else:
            named, scores = self._pairs(record, line)
        if problems.total > before:
            return
        self.rows.add(
            sample_id.encode(),
            line,
            key=self._keys.code(key.encode()) if key else -1,
            truth=self._labels.code(truth.encode()) if truth else -1,
            labels=[self._labels.code(name.encode()) for name in named],
            scores=scores,
            metadata=[record[at] or None for at in header.metadata.values()],
        )

    def _classes(self, record: Sequence[str], line: int) -> list[float]:
        """A score for each class; no prediction if all are empty."""
        at = [position for _, position in self._header.classes]
        if not any(record[position].strip() for position in at):
            return [0.0] * len(at)
        return [self._number(record, position, line, self._note) for position in at]

    def _pairs(self, record: Sequence[str], line: int) -> tuple[list[str], list[float]]:
        """The labels of a row and their scores."""
        named: dict[str, int] = {}
        scores: list[float] = []
        for label_at, score_at in self._header.pairs:
            label = record[label_at]
            if not label:
                if score_at >= 0 and record[score_at].strip():
                    message = f"expected a label for the score {self._shown(record, score_at)}"
                    self._add(line, label_at, f"{message}, found nothing")
                continue
            if label in named:
                message = f"duplicate label {quoted(label)}, also under {self._name(named[label])}"
                self._add(line, label_at, message)
            named[label] = label_at
            scores.append(1.0 if score_at < 0 else self._number(record, score_at, line))
        return list(named), scores

    def _number(self, record: Sequence[str], at: int, line: int, note: str = "") -> float:
        value, fault = number_in(record[at], note)
        if not fault and self._probabilities and not PROBABLE[0] <= value <= PROBABLE[1]:
            fault = f"expected a probability from 0 to 1, found {record[at].strip()}"
        if fault:
            self._add(line, at, fault)
        return value

    def _add(self, line: int, at: int, message: str) -> None:
        self._problems.add(line, self._name(at), message)

    def _name(self, at: int) -> str:
        """A column as the file calls it."""
        return printable(self._header.names[at][:_SHOWN])

    def _shown(self, record: Sequence[str], at: int) -> str:
        return printable(record[at].strip()[:_SHOWN])
