"""Read the objects of rows as columns, and those of unusual rows one by one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from valor_cli.data.batch import Batch, Fault, RowFile, TypedReading
from valor_cli.data.shapes.objects.object_file import (
    ImageNames,
    ObjectFile,
    Piece,
    Role,
)
from valor_cli.data.shapes.objects.parse import ObjectParser
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.rows import (
    ImageRows,
    ObjectRows,
    checked_ids,
    joined_pieces,
    object_file,
)
from valor_cli.data.table import SKIP_HINT, InvalidRows, Problems, stop_on
from valor_cli.data.tape import Bools
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.columns.spans import Vocabulary
from valor_cli.results import InputFile

_Rejected: TypeAlias = tuple[int, list[Fault], Any]
"""The line of a row, its faults, and what it holds where it has none."""


class ObjectReader(ABC):
    """Reads the objects of a file of rows.

    Attributes:
        faults, problems: Of rows or images, which are always errors, and of objects.
        labels, label_code: Names that were found so far, and the code of one.
        found: How many objects there were, good or not.
    """

    def __init__(self, file: RowFile, role: Role, reading: Reading) -> None:
        self.faults = Problems(file.path, file.place)
        self.problems = Problems(file.path, file.place)
        self.labels = Vocabulary()
        self.label_code = coder(self.labels)
        self.found = 0
        self._file = file
        self._role: Role = role
        self._parser = ObjectParser(role, reading.wanted, self.labels)
        self._pieces: list[Piece] = []

    @abstractmethod
    def columns(self, batch: Batch) -> tuple[Piece, Bools]:
        """The objects of a batch, and (n,) which rows are read one by one instead."""

    @abstractmethod
    def row(self, record: Any, line: int, rows: ObjectRows) -> None:
        """Read a row that is wrong or unusual."""

    @abstractmethod
    def refuse(self, line: int, faults: Sequence[Fault]) -> None:
        """Note what is wrong with a row that could not be read."""

    def read(self, typed: TypedReading) -> Piece:
        """All objects, in the order of lines."""
        for block in self._file.blocks(typed=typed):
            rejected = [(line, faults, None) for line, faults in block.wrong]
            for batch in block.batches:
                rejected += self._add(batch) if len(batch) else ()
            if rejected:
                self._add_rows(sorted(rejected, key=itemgetter(0)))
        return joined_pieces(self._pieces, self._role)

    def _add(self, batch: Batch) -> Iterator[_Rejected]:
        """Add the rows of a batch; returns those left to read one by one."""
        piece, wrong = self.columns(batch)
        self._pieces.append(piece)
        self.found += len(piece.shapes)
        left = np.flatnonzero(wrong)
        records = batch.records(left.tolist()) if len(left) else ()
        return (
            (line, [], one) for line, one in zip(batch.line[left].tolist(), records, strict=True)
        )

    def _add_rows(self, rejected: Sequence[_Rejected]) -> None:
        rows = ObjectRows(self._role)
        for line, faults, record in rejected:
            if faults:
                self.refuse(line, faults)
            else:
                self.row(record, line, rows)
        self._pieces.append(rows.piece())

    def object_file(
        self,
        found: Piece,
        images: ImageRows,
        invalid: InvalidRows,
        metadata: Callable[[], Mapping[str, list[Any]]],
        *,
        listed: bool = True,
        masks: Sequence[InputFile] = (),
        image_names: ImageNames = "typed",
    ) -> ObjectFile:
        """The objects and images of the file.

        Args:
            found: All objects.
            images: All images; their position is what an object's `image` means.
            invalid: "skip" leaves out objects that cannot be used and counts them.
            metadata: Reads that of images, once all else is known to be right.
            listed: Whether the file lists its images, rather than name them through its objects.
            masks: Other files that were read.
            image_names: As in `ObjectFile`.

        Raises:
            DataError: There were faults; or problems, and no object may be left out; a ground
                truth has no images.
        """
        path, place = self._file.path, self._file.place
        if self._role == "ground_truth":
            found = checked_ids(found, self.problems)
        if invalid == "error":
            stop_on([self.faults, self.problems], SKIP_HINT * bool(self.problems.total))
        stop_on([self.faults])
        if self._role == "ground_truth" and not images.ids:
            raise DataError(Problem(path, "there are no images; at least one is needed"))
        image_place = place if images.lines else "[{row}]"
        return object_file(
            path,
            found,
            images,
            self.labels.names,
            found=self.found,
            sha256=self._file.sha256,
            others=masks,
            metadata=metadata(),
            image_names=image_names,
            place=place,
            image_place=image_place if listed else None,
        )


def coder(names: Vocabulary) -> Callable[[str], int]:
    """The code of a name, added if new."""
    # A few names are asked for again and again, and a look into the vocabulary is some calls.
    return lru_cache(1 << 12)(lambda name: names.code(name.encode()))
