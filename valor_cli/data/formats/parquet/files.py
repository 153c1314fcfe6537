"""Read the batches of Parquet and Arrow files, and what their heads say."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, Final, NamedTuple

from valor_cli.data.partition.pieces import Span
from valor_cli.data.source.compression import check_unpacked
from valor_cli.data.source.files import Stored
from valor_cli.data.source.inputs import PARQUET
from valor_cli.errors import DataError, Problem
from valor_cli.extras import extra

pa = extra("pyarrow", "parquet", "reading Parquet")
pc = extra("pyarrow.compute", "parquet", "reading Parquet")
pq = extra("pyarrow.parquet", "parquet", "reading Parquet")

_BUFFER: Final = 1 << 20
"""Bytes of a column that are read at once; without it the whole of a row group would be."""

_BYTES: Final = 1 << 23
"""What a batch has at most before compression, unless one row has more."""

_PACKED: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"PK\x03\x04")
"""Magic bytes of files that are compressed as a whole."""

_ARROW: Final = (b"ARROW1", b"\xff\xff\xff\xff")
"""Magic bytes of Arrow files and of Arrow streams."""

_SHOWN: Final = 200
REWRITE: Final = "Write the file again, or write the table as CSV or JSONL."


class ArrowRows(NamedTuple):
    """Some rows of a file.

    Attributes:
        first: The number of the first, from 1.
        place: Where they are: the file, and the row group.
        rows: A `pyarrow.RecordBatch`.
    """

    first: int
    place: str
    rows: Any


class ParquetContainer:
    """A Parquet file, of which only the row groups and the columns asked for are read.

    Attributes:
        schema: The `pyarrow.Schema` of its columns.
        count: How many rows there are.
    """

    def __init__(self, raw: Stored, path: str) -> None:
        """Read the footer.

        Raises:
            DataError: It is no Parquet file, is cut off or encrypted, or unpacks to too much.
        """
        self._path = path
        self._size = _checked_size(raw, path)
        with arrow_errors(path, "Parquet"):
            opened = _parquet_file(raw)
            self.schema = opened.schema_arrow
            self._footer = opened.metadata
            groups = [self._footer.row_group(one) for one in range(self._footer.num_row_groups)]
            self._rows = [int(one.num_rows) for one in groups]
            # Those of single columns are not asked for: on damage in what is said of one, Arrow
            # ends the process.
            self._bytes = [max(int(one.total_byte_size), 1) for one in groups]
        check_unpacked(path, self._size, sum(self._bytes))
        self.count = sum(self._rows)

    def within(self, start: int, end: int) -> tuple[Span, range]:
        """What begins in a range of bytes: the span of its row groups, and the numbers of its rows.

        Where one begins is said of single columns alone. So each is taken to have as much of the
        file as it has of all bytes before compression.

        Args:
            start: The first byte.
            end: The byte behind the last.
        """
        total = sum(self._bytes)
        begins = [self._size * above // total for above in accumulate(self._bytes[:-1], initial=0)]
        low, high = (bisect_left(begins, at) for at in (start, end))
        above = [0, *accumulate(self._rows)]
        edges = [*begins, self._size]
        return Span(edges[low], edges[high]), range(1 + above[low], 1 + above[high])

    def batches(
        self, raw: Stored, columns: Sequence[str], coded: Sequence[str], most: int, wanted: range
    ) -> Iterator[ArrowRows]:
        """The rows in batches, in order; the first and the last may hold others too.

        Args:
            raw: The file.
            columns: Those to read: names, or names of fields in a column ("metadata.city").
            coded: Columns of texts that repeat, to be read as codes and the texts of these.
            most: Rows of a batch.
            wanted: The numbers of the rows, from 1.

        Raises:
            DataError: A row group cannot be read.
        """
        with arrow_errors(self._path, "Parquet"):
            opened = _parquet_file(raw, coded, self._footer)
        first = 1
        for group, count in enumerate(self._rows):
            behind = first + count
            # That one holds no rows must be seen: the footer may be damaged.
            if count < 1 or (first < wanted.stop and wanted.start < behind):
                place = f"{self._path}: row group {group}"
                size = max(min(most, _BYTES * count // self._bytes[group]), 1)
                with arrow_errors(place, "Parquet"):
                    for rows in opened.iter_batches(
                        size, row_groups=[group], columns=list(columns), use_threads=False
                    ):
                        if wanted.stop < behind and first >= wanted.stop:
                            break
                        yield ArrowRows(first, place, rows)
                        first += rows.num_rows
                    else:
                        if columns and first != behind:
                            read = first - behind + count
                            message = f"{read:,} rows found, but the footer says {count:,}"
                            raise DataError(Problem(place, message), hint=REWRITE)
            first = behind


class ArrowContainer:
    """An Arrow file or stream, as the package `datasets` saves data sets.

    Its attributes are those of `ParquetContainer`.
    """

    def __init__(self, raw: Stored, path: str) -> None:
        """Read the schema, and count the rows.

        Raises:
            DataError: It is no Arrow file, or cannot be read.
        """
        self._path = path
        head = raw.read(len(_ARROW[0]))
        self._size = raw.seek(0, 2)
        self._is_file = head == _ARROW[0]
        if not head.startswith(_ARROW):
            raise DataError(Problem(path, "not an Arrow file: it does not begin as one"))
        with self._opened(raw) as reader:
            self.schema = reader.schema
            self.count = sum(batch.num_rows for batch in _record_batches(reader))

    def within(self, start: int, end: int) -> tuple[Span, range]:
        """As many of the rows as of the bytes."""
        span = Span(start, end)
        return span, range(*(1 + self.count * at // self._size for at in span))

    def batches(
        self, raw: Stored, columns: Sequence[str], coded: Sequence[str], most: int, wanted: range
    ) -> Iterator[ArrowRows]:
        """The rows in batches, in order; see `ParquetContainer.batches`."""
        known = set(self.schema.names)
        names = dict.fromkeys(one if one in known else one.split(".")[0] for one in columns)
        first = 1
        with self._opened(raw) as reader:
            for held in _record_batches(reader):
                if first >= wanted.stop:
                    return
                rows = held.select(list(names))
                for at in range(0, rows.num_rows, most):
                    yield ArrowRows(first + at, self._path, rows.slice(at, most))
                first += rows.num_rows

    @contextmanager
    def _opened(self, raw: Stored) -> Iterator[Any]:
        raw.seek(0)
        with arrow_errors(self._path, "Arrow"):
            source = pa.PythonFile(raw, "r")
            with (
                pa.ipc.open_file(source) if self._is_file else pa.ipc.open_stream(source) as opened
            ):
                yield opened


def _record_batches(reader: Any) -> Iterator[Any]:
    """The batches of a reader of an Arrow file or stream."""
    if hasattr(reader, "get_batch"):
        return (reader.get_batch(at) for at in range(reader.num_record_batches))
    return iter(reader)


def _parquet_file(raw: Stored, coded: Sequence[str] = (), footer: Any = None) -> Any:
    """The `pyarrow.parquet.ParquetFile` of an open file."""
    return pq.ParquetFile(
        pa.PythonFile(raw, "r"),
        metadata=footer,
        read_dictionary=list(coded) or None,
        buffer_size=_BUFFER,
        pre_buffer=False,
        page_checksum_verification=True,
    )


def _checked_size(raw: Stored, path: str) -> int:
    """The bytes of a file that begins and ends as Parquet files do.

    Raises:
        DataError: It does not.
    """
    magic, encrypted = PARQUET
    raw.seek(0)
    head = raw.read(len(magic))
    size = raw.seek(0, 2)
    raw.seek(max(size - len(magic), 0))
    end = raw.read(len(magic))
    raw.seek(0)
    message, hint = "", ""
    if not head:
        message = "the file is empty"
    elif encrypted in (head, end):
        message = "the Parquet file is encrypted, and no key is known"
    elif not size:
        message = "the server does not say how long this file is, as reading parts of it needs"
        hint = "Copy it to this machine."
    elif head.startswith(_PACKED):
        message = "a Parquet file that is compressed as a whole is not read"
        hint = "Unpack it: Parquet compresses its columns by itself."
    elif head != magic:
        message = "not a Parquet file: it does not begin with PAR1"
    elif end != magic or size < 12:
        message = "the Parquet file is cut off: its end, which says what it holds, is missing"
        hint = "Write or copy the file again."
    if message:
        raise DataError(Problem(path, message), hint=hint)
    return size


@contextmanager
def arrow_errors(place: str, kind: str) -> Iterator[None]:
    """Raise errors of Arrow as DataError.

    Raises:
        DataError: There was one.
    """
    try:
        yield
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        encrypted = "crypt" in str(error)
        message = f"the {kind} file cannot be read: {short(error)}"
        if encrypted:
            message = f"the Parquet file is encrypted, and no key is known ({short(error)})"
        raise DataError(Problem(place, message), hint="" if encrypted else REWRITE) from None


def short(error: BaseException) -> str:
    """The first line of a message of Arrow."""
    text = (str(error).splitlines() or [""])[0].rstrip(". ")
    return text[:_SHOWN] or type(error).__name__
