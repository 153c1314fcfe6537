"""Read Parquet and Arrow as rows of typed columns; a null in an object is no field of it."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import weakref
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, cast

import numpy as np

from valor_cli.data.batch import (
    ALL,
    Batch,
    Block,
    ColumnType,
    Form,
    Known,
    Part,
    RowFile,
    Shaped,
    TypedReading,
)
from valor_cli.data.column_names import duplicate_columns
from valor_cli.data.formats.parquet.class_labels import class_names, named_type
from valor_cli.data.formats.parquet.files import (
    REWRITE,
    ArrowContainer,
    ParquetContainer,
    arrow_errors,
    pa,
    short,
)
from valor_cli.data.formats.parquet.tape import tape_of_arrow, type_of
from valor_cli.data.formats.tables import ARROW_EXTENSIONS
from valor_cli.data.partition.pieces import Piece
from valor_cli.data.schema import Path
from valor_cli.data.source.files import Stored, TextSource
from valor_cli.data.table import ROW
from valor_cli.data.tape import Column
from valor_cli.errors import DataError, Problem
from valor_cli.paths import is_url


def open_rows(path: str, known: Known, shaped: Shaped | None = None) -> TypedFile:
    """Open a Parquet or Arrow file.

    Raises:
        DataError: It cannot be read, or two columns have one name.
    """
    return TypedFile(path)


class TypedFile(RowFile):
    """A Parquet or Arrow file; see `RowFile`.

    What cannot be rewound is kept in memory. All of a URL is kept in a temporary file, so that it
    comes once and in order. Columns of bytes are taken for texts, and class ids whose names the
    schema has for these.
    """

    form: Form = "typed"
    place = ROW

    def __init__(self, path: str) -> None:
        """Read the schema.

        Raises:
            DataError: The file cannot be read, is of neither format, cut off or encrypted, unpacks
                to too much, or two of its columns have one name.
        """
        self.path = self.head = path
        is_arrow = path.endswith(ARROW_EXTENSIONS)
        if is_arrow and is_url(path):
            raise DataError(
                Problem(path, "Arrow files are read from disk alone"),
                hint="Copy it to this machine, or write it as Parquet.",
            )
        self._stored = TextSource(path)
        self._local = self._fetched() if is_url(path) else None
        with self._opened() as raw:
            self._held = ArrowContainer(raw, path) if is_arrow else ParquetContainer(raw, path)
        schema = self._held.schema
        # A name may be no text.
        with arrow_errors(path, "Arrow" if is_arrow else "Parquet"):
            self.names: Sequence[str] = schema.names
            self._classes = class_names(schema)
            self.types: Mapping[str, ColumnType] = {
                name: type_of(self._type(name, kind))
                for name, kind in zip(schema.names, schema.types, strict=True)
            }
        if problems := duplicate_columns(self.names, path):
            raise DataError(problems)

    def _type(self, name: str, kind: Any) -> Any:
        """The type of a column as it is read."""
        return named_type(_checked(pa.nulls(0, kind)).type, self._classes.get(name, ()))

    def _fetched(self) -> Stored:
        """The whole content, in a temporary local file deleted with this object."""
        local = tempfile.TemporaryFile()  # noqa: SIM115 - kept open
        weakref.finalize(self, local.close)
        with self._stored.stored() as raw:
            shutil.copyfileobj(raw, local)
        return cast(Stored, local)

    def _opened(self) -> AbstractContextManager[Stored]:
        """The stored bytes.

        Raises:
            DataError: They cannot be read.
        """
        return self._stored.stored() if self._local is None else nullcontext(self._local)

    def first_rows(self) -> Iterator[Mapping[str, Any]]:
        """None: types say what columns hold."""
        return iter(())

    def part_of(self, piece: Piece) -> Part:
        """The rows of the row groups that begin in a piece."""
        if piece.end is None:
            raise ValueError("all of an input has no range of bytes")
        span, numbers = self._held.within(piece.start, piece.end)
        return Part(numbers.start, numbers.stop, span)

    @property
    def sha256(self) -> str:
        """Hex digest of the file."""
        with self._opened() as raw:
            raw.seek(0)
            return hashlib.file_digest(raw, "sha256").hexdigest()

    def blocks(self, part: Part | None = None, typed: TypedReading = ALL) -> Iterator[Block]:
        """The rows, in order; see `RowFile.blocks`.

        Raises:
            DataError: The file cannot be read; a column to read is of a type that is not read.
        """
        names = self._names_of(typed.columns)
        wanted = range(1, self._held.count + 1) if part is None else range(part.begin, part.end)
        with self._opened() as raw:
            for batch in self._held.batches(raw, names, typed.coded, typed.most, wanted):
                begin = max(wanted.start - batch.first, 0)
                rows = batch.rows.slice(begin, max(wanted.stop - batch.first - begin, 0))
                if not rows.num_rows:
                    continue
                first = batch.first + begin
                held = self._columns(rows, first, batch.place)
                at = first + np.arange(rows.num_rows)
                number = at - (wanted.start - 1)
                records = partial(_records, held)
                names_at = dict.fromkeys(held, 0)
                yield Block([Batch("typed", at, number, names_at, held.__getitem__, records)])

    def _columns(self, rows: Any, first: int, place: str) -> dict[str, Column]:
        """The columns of a batch, checked against their types, which Arrow does not do.

        Raises:
            DataError: They are not of these; a text is no UTF-8, or an id that of no class.
        """
        names = rows.schema.names
        try:
            return dict(zip(names, self._read(names, rows.columns), strict=True))
        except pa.ArrowException:
            for name, column in zip(names, rows.columns, strict=True):
                self._check(name, column, first, place)
            raise

    def _read(self, names: Sequence[str], columns: Sequence[Any]) -> list[Column]:
        """Columns of values as JSON has them.

        Raises:
            ArrowException: One is not what its type says.
        """
        classes = [self._classes.get(name, ()) for name in names]
        return tape_of_arrow([_checked(column) for column in columns], classes)

    def _check(self, name: str, column: Any, first: int, place: str) -> None:
        """Find the first row that makes a column one that cannot be read.

        Raises:
            DataError: There is one, or no row alone does.
        """

        def error_of(rows: Any) -> str:
            try:
                self._read([name], [rows])
            except pa.ArrowException as error:
                return "not UTF-8 text" if "UTF8" in str(error) else short(error)
            return ""

        if not (message := error_of(column)):
            return
        rows = range(len(column))
        at = bisect_left(rows, True, key=lambda row: error_of(column.slice(0, row + 1)) != "")
        if error_of(column.slice(at, 1)):
            place = f"{self.path}: row {first + at}"
        raise DataError(Problem(f"{place}: {name}", message), hint=REWRITE)

    def _names_of(self, columns: Sequence[Path] | None) -> list[str]:
        """Columns, and fields of structs with dots, as far down as there are structs.

        Raises:
            DataError: One is of a type that is not read.
        """
        if columns is None:
            return [name for name, kind in self.types.items() if not any(_unsupported(kind, ""))]
        found = {self._path(path): str(path[0]) for path in columns}
        found.pop("", None)
        problems = [
            problem
            for name in dict.fromkeys(found.values())
            for problem in _unsupported(self.types[name], f"{self.path}: {name}")
        ]
        if problems:
            raise DataError(problems, hint="Cast the column where the file is written.")
        return [path for path, name in found.items() if path == name or name not in found]

    def _path(self, path: Path) -> str:
        """A field as far down as there are structs; empty where one has no such field."""
        name, *inner = path
        found, kind = str(name), self.types[str(name)]
        for key in inner:
            if kind.kind != "struct" or isinstance(key, int):
                break
            field = kind.field(key)
            if field is None:
                return ""
            found, kind = f"{found}.{key}", field
        return found


def _records(held: Mapping[str, Column], some: Sequence[int]) -> list[dict[str, Any]]:
    """Rows as JSON has them."""
    columns = [column.take(np.array(some, np.int64)).values() for column in held.values()]
    return [dict(zip(held, row, strict=True)) for row in zip(*columns, strict=True)]


def _unsupported(kind: ColumnType, place: str) -> Iterator[Problem]:
    """Problems for types that are not read."""
    names = [name for name, _ in kind.fields]
    if kind.kind == "deep":
        yield Problem(place, "it is nested too deeply to be read")
    elif kind.kind == "other":
        yield Problem(place, f"a column of {kind.shown} is not read; write it as text")
    elif kind.kind == "struct" and len(set(names)) < len(names):
        yield Problem(place, "two fields of it have one name")
    for name, inner in kind.fields:
        within = {"list": f"{place}[]", "struct": f"{place}.{name}"}
        yield from _unsupported(inner, within.get(kind.kind, place))


def _checked(column: Any) -> Any:
    """A column that is what its type says, with texts in the place of bytes.

    Raises:
        ArrowInvalid: It is not.
    """
    column.validate(full=True)
    kind = column.type
    if pa.types.is_dictionary(kind) and _is_bytes(kind.value_type):
        texts = column.dictionary.cast(pa.large_string())
        return pa.DictionaryArray.from_arrays(column.indices, texts)
    return column.cast(pa.large_string()) if _is_bytes(kind) else column


def _is_bytes(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind))
