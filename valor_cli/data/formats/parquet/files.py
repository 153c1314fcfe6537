"""Read Parquet inputs: schema and batches of rows.

Rows are read one row group at a time, and only the requested columns.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import weakref
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from typing import Any, BinaryIO, Final, NamedTuple, cast

from valor_cli.data.column_names import duplicate_columns
from valor_cli.data.formats.parquet.class_labels import class_names, named, named_type
from valor_cli.data.formats.parquet.magic import ARROW, ARROW_EXTENSIONS, ENCRYPTED, MAGIC
from valor_cli.data.partition.pieces import Span
from valor_cli.data.source.compression import check_unpacked
from valor_cli.data.source.files import TextSource
from valor_cli.errors import DataError, Problem
from valor_cli.extras import extra
from valor_cli.paths import is_url

pa = extra("pyarrow", "parquet", "reading Parquet")
pc = extra("pyarrow.compute", "parquet", "reading Parquet")
pq = extra("pyarrow.parquet", "parquet", "reading Parquet")

_BYTES: Final = 1 << 23
"""What a batch has at most before compression, unless one row has more."""

_BUFFER: Final = 1 << 20
"""Bytes of a column that are read at once; without it the whole of a row group would be."""

_PACKED: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"PK\x03\x04")
"""Magic bytes of files that are compressed as a whole."""

_SHOWN: Final = 200
_MEND: Final = "Write the file again, or write the table as CSV or JSONL."


class Batch(NamedTuple):
    """Some rows of a file.

    Attributes:
        first: The number of the first, from 1.
        rows: A `pyarrow.RecordBatch`.
    """

    first: int
    rows: Any


class ParquetSource:
    """A Parquet input: a file, a URL, a pipe, or "-" for standard input.

    What cannot be rewound is kept in memory. All of a URL is kept in a temporary file, so that it
    comes once and in order.

    Attributes:
        path: The input, as the user wrote it.
        schema: The `pyarrow.Schema` of its columns, whose names are distinct; columns of bytes are
            taken for texts, and class ids whose names the schema has for these.
        count: How many rows there are in the file.
        size: Bytes of the file.
    """

    __slots__ = (
        "__weakref__",
        "_footer",
        "_groups",
        "_local",
        "_names",
        "_stored",
        "count",
        "path",
        "schema",
        "size",
    )

    def __init__(self, path: str) -> None:
        """Read the footer.

        Raises:
            DataError: It cannot be read, is no Parquet file, is cut off or encrypted, unpacks to
                too much, or two of its columns have one name.
        """
        self.path = path
        self._stored = TextSource(path)
        self._local = self._fetched() if is_url(path) else None
        with self._opened() as raw:
            self.size = _checked_size(raw, path)
            with self._arrow_errors(""):
                opened = _parquet_file(raw)
                self._footer = opened.metadata
                self._take_schema(opened.schema_arrow)
                groups = [self._footer.row_group(one) for one in range(self._footer.num_row_groups)]
                self._groups = [int(one.num_rows) for one in groups]
            check_unpacked(path, self.size, sum(one.total_byte_size for one in groups))
        self.count = sum(self._groups)
        if problems := duplicate_columns(self.schema.names, path):
            raise DataError(problems)

    def _take_schema(self, schema: Any) -> None:
        self._names = class_names(schema)
        kinds = [named_type(_with_texts(one.type), self._names.get(one.name, {})) for one in schema]
        self.schema = pa.schema(zip(schema.names, kinds, strict=True))

    @property
    def sha256(self) -> str:
        """Hex digest of the stored bytes.

        Raises:
            DataError: They cannot be read.
        """
        with self._opened() as raw:
            raw.seek(0)
            digest = hashlib.sha256()
            while chunk := raw.read(_BUFFER):
                digest.update(chunk)
            return digest.hexdigest()

    def batches(
        self,
        columns: Sequence[str],
        coded: Sequence[str],
        most: int,
        wanted: range,
    ) -> Iterator[Batch]:
        """The rows in batches, in order.

        Args:
            columns: Those to read: names, or names of fields in a column ("metadata.city").
            coded: Columns of texts that repeat, to be read as codes and the texts of these.
            most: Rows of a batch.
            wanted: The numbers of the rows, from 1.

        Raises:
            DataError: A row group cannot be read; a text is no UTF-8.
        """
        first = 1
        with self._opened() as raw:
            with self._arrow_errors(""):
                opened = _parquet_file(raw, coded, self._footer)
            for group, count in enumerate(self._groups):
                behind = first + count
                # That one holds no rows must be seen: the footer may be damaged.
                if count < 1 or (first < wanted.stop and wanted.start < behind):
                    size = max(min(most, self._size(group)), 1)
                    for batch in self._batches(opened, group, first, size, columns):
                        if wanted.stop < behind and batch.first >= wanted.stop:
                            break
                        yield from _those_of(batch, wanted)
                first = behind

    def _batches(
        self, opened: Any, group: int, first: int, size: int, columns: Sequence[str]
    ) -> Iterator[Batch]:
        """The rows of a row group, the first of which has the number `first`."""
        where = f": row group {group}"
        read = 0
        with self._arrow_errors(where):
            found = opened.iter_batches(
                size, row_groups=[group], columns=list(columns), use_threads=False
            )
        while True:
            with self._arrow_errors(where):
                rows = next(found, None)
            if rows is None:
                break
            yield Batch(first + read, self._checked(rows, first + read, where))
            read += rows.num_rows
        if columns and read != self._groups[group]:
            message = f"{read:,} rows found, but the footer says {self._groups[group]:,}"
            raise DataError(Problem(f"{self.path}{where}", message), hint=_MEND)

    def _fetched(self) -> BinaryIO:
        """The whole content, in a temporary local file deleted with this object."""
        local = tempfile.TemporaryFile()  # noqa: SIM115 - kept open
        weakref.finalize(self, local.close)
        with self._stored.stored() as raw:
            shutil.copyfileobj(raw, local)
        return cast(BinaryIO, local)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        """The stored bytes.

        Raises:
            DataError: They cannot be read.
        """
        if self._local is not None:
            yield self._local
            return
        with self._stored.stored() as raw:
            yield raw

    def within(self, start: int, end: int) -> tuple[Span, range]:
        """What begins in a range of bytes: the span of its row groups, and the numbers of its rows.

        Where a group begins is said of single columns alone (see `_size`). So each is taken to have
        as much of the file as it has of all bytes before compression.

        Args:
            start: The first byte.
            end: The byte behind the last.
        """
        groups = range(len(self._groups))
        shares = [max(int(self._footer.row_group(one).total_byte_size), 1) for one in groups]
        total = sum(shares)
        begins = [self.size * above // total for above in accumulate(shares[:-1], initial=0)]
        low, high = (bisect_left(begins, at) for at in (start, end))
        above = [0, *accumulate(self._groups)]
        edges = [*begins, self.size]
        return Span(edges[low], edges[high]), range(1 + above[low], 1 + above[high])

    def _size(self, group: int) -> int:
        """Rows of a batch, as the bytes of the whole group have it.

        Those of single columns are not asked for: on damage in what is said of one, Arrow ends the
        process.
        """
        footer = self._footer.row_group(group)
        return _BYTES * int(footer.num_rows) // max(int(footer.total_byte_size), 1)

    def _checked(self, rows: Any, first: int, where: str) -> Any:
        """Rows whose columns are checked against their types, which Arrow does not do.

        Raises:
            DataError: They do not.
        """
        columns = []
        for name, column in zip(rows.schema.names, rows.columns, strict=True):
            try:
                columns.append(self._read(name, column))
            except pa.ArrowInvalid as error:
                at = _first_invalid(partial(self._read, name), column)
                place = f"{self.path}{where}" if at is None else f"{self.path}: row {first + at}"
                message = "not UTF-8 text" if "UTF8" in str(error) else _short(error)
                raise DataError(Problem(f"{place}: {name}", message), hint=_MEND) from None
        return pa.RecordBatch.from_arrays(columns, rows.schema.names)

    def _read(self, name: str, column: Any) -> Any:
        """A column as its schema has it.

        Raises:
            ArrowInvalid: It is not what its type says.
        """
        return named(_checked_texts(column), self._names.get(name, {}))

    @contextmanager
    def _arrow_errors(self, where: str, kind: str = "Parquet") -> Iterator[None]:
        """Raise errors of Arrow as DataError.

        Raises:
            DataError: There was one.
        """
        try:
            yield
        except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
            encrypted = "crypt" in str(error)
            message = f"the {kind} file cannot be read: {_short(error)}"
            if encrypted:
                message = f"the Parquet file is encrypted, and no key is known ({_short(error)})"
            problem = Problem(f"{self.path}{where}", message)
            raise DataError(problem, hint="" if encrypted else _MEND) from None


class ArrowSource(ParquetSource):
    """An Arrow file or stream on disk, as the package `datasets` saves data sets.

    Its attributes are those of `ParquetSource`.
    """

    __slots__ = ("_is_file",)

    def __init__(self, path: str) -> None:
        """Read the schema, and count the rows.

        Raises:
            DataError: It cannot be read, is no Arrow file, or two of its columns have one name.
        """
        self.path = path
        self._stored = TextSource(path)
        self._local = None
        with self._opened() as raw:
            head = raw.read(len(ARROW[0]))
            self.size = raw.seek(0, 2)
        self._is_file = head == ARROW[0]
        if not head.startswith(ARROW):
            raise DataError(Problem(path, "not an Arrow file: it does not begin as one"))
        with self._arrow_errors("", "Arrow"), self._reader() as reader:
            self._take_schema(reader.schema)
            self.count = sum(batch.num_rows for batch in _record_batches(reader))
        if problems := duplicate_columns(self.schema.names, path):
            raise DataError(problems)

    def batches(
        self,
        columns: Sequence[str],
        coded: Sequence[str],
        most: int,
        wanted: range,
    ) -> Iterator[Batch]:
        """The rows in batches, in order; see `ParquetSource.batches`."""
        known = set(self.schema.names)
        names = dict.fromkeys(one if one in known else one.split(".")[0] for one in columns)
        first = 1
        with self._reader() as reader:
            found = _record_batches(reader)
            while True:
                with self._arrow_errors("", "Arrow"):
                    held = next(found, None)
                if held is None:
                    return
                rows = held.select(list(names))
                for at in range(0, rows.num_rows, most):
                    own = self._checked(rows.slice(at, most), first + at, "")
                    yield from _those_of(Batch(first + at, own), wanted)
                first += rows.num_rows

    def within(self, start: int, end: int) -> tuple[Span, range]:
        """What begins in a range of bytes: as many of the rows as of the bytes."""
        span = Span(start, end)
        return span, range(*(1 + self.count * at // self.size for at in span))

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        with self._opened() as raw:
            raw.seek(0)
            with self._arrow_errors("", "Arrow"):
                source = pa.PythonFile(raw, "r")
                opened = pa.ipc.open_file(source) if self._is_file else pa.ipc.open_stream(source)
            with opened:
                yield opened


def _record_batches(reader: Any) -> Iterator[Any]:
    """The batches of a reader of an Arrow file or stream."""
    if hasattr(reader, "get_batch"):
        return (reader.get_batch(at) for at in range(reader.num_record_batches))
    return iter(reader)


def open_table(path: str) -> ParquetSource:
    """A Parquet or Arrow input.

    Raises:
        DataError: It cannot be read, or is neither.
    """
    if not path.endswith(ARROW_EXTENSIONS):
        return ParquetSource(path)
    if is_url(path):
        raise DataError(
            Problem(path, "Arrow files are read from disk alone"),
            hint="Copy it to this machine, or write it as Parquet.",
        )
    return ArrowSource(path)


def _parquet_file(raw: BinaryIO, coded: Sequence[str] = (), footer: Any = None) -> Any:
    """The `pyarrow.parquet.ParquetFile` of an open file."""
    return pq.ParquetFile(
        pa.PythonFile(raw, "r"),
        metadata=footer,
        read_dictionary=list(coded) or None,
        buffer_size=_BUFFER,
        pre_buffer=False,
        page_checksum_verification=True,
    )


def _checked_size(raw: BinaryIO, path: str) -> int:
    """The bytes of a file that begins and ends as Parquet files do.

    Raises:
        DataError: It does not.
    """
    raw.seek(0)
    head = raw.read(len(MAGIC))
    size = raw.seek(0, 2)
    raw.seek(max(size - len(MAGIC), 0))
    end = raw.read(len(MAGIC))
    raw.seek(0)
    message, hint = "", ""
    if not head:
        message = "the file is empty"
    elif ENCRYPTED in (head, end):
        message = "the Parquet file is encrypted, and no key is known"
    elif not size:
        message = "the server does not say how long this file is, as reading parts of it needs"
        hint = "Copy it to this machine."
    elif head.startswith(_PACKED):
        message = "a Parquet file that is compressed as a whole is not read"
        hint = "Unpack it: Parquet compresses its columns by itself."
    elif head != MAGIC:
        message = "not a Parquet file: it does not begin with PAR1"
    elif end != MAGIC or size < 12:
        message = "the Parquet file is cut off: its end, which says what it holds, is missing"
        hint = "Write or copy the file again."
    if message:
        raise DataError(Problem(path, message), hint=hint)
    return size


def _those_of(batch: Batch, numbers: range) -> Iterator[Batch]:
    """The rows of a batch that have one of some numbers; nothing where none has."""
    begin = max(numbers.start - batch.first, 0)
    count = min(numbers.stop - batch.first, batch.rows.num_rows) - begin
    if count == batch.rows.num_rows:
        yield batch
    elif count > 0:
        yield Batch(batch.first + begin, batch.rows.slice(begin, count))


def _first_invalid(read: Callable[[Any], Any], column: Any) -> int | None:
    """The first row that makes a column one that cannot be read; None if no row alone does."""
    low, high = 0, len(column)
    try:
        while high - low > 1:
            half = (low + high) // 2
            if _is_valid(read, column.slice(low, half - low)):
                low = half
            else:
                high = half
        return low if low < len(column) and not _is_valid(read, column.slice(low, 1)) else None
    except pa.ArrowException:
        return None


def _is_valid(read: Callable[[Any], Any], column: Any) -> bool:
    try:
        read(column)
    except pa.ArrowInvalid:
        return False
    return True


def _with_texts(kind: Any) -> Any:
    """A type, with texts in the place of bytes."""
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _with_texts(kind.value_type), kind.ordered)
    return pa.large_string() if _is_bytes(kind) else kind


def _checked_texts(column: Any) -> Any:
    """A column that is what its type says, with texts in the place of bytes.

    Raises:
        ArrowInvalid: It is not.
    """
    column.validate(full=True)
    if pa.types.is_dictionary(column.type) and _is_bytes(column.type.value_type):
        names = column.dictionary.cast(pa.large_string())
        return pa.DictionaryArray.from_arrays(column.indices, names)
    return column.cast(pa.large_string()) if _is_bytes(column.type) else column


def _is_bytes(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind))


def _short(error: BaseException) -> str:
    """The first line of a message."""
    text = (str(error).splitlines() or [""])[0].rstrip(". ")
    return text[:_SHOWN] or type(error).__name__
