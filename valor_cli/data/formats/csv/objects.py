"""Read objects from CSV, one box per line.

The first line names the columns (`csv_header.ALIASES`): image_id and label; a box as x, y, width
and height, as xmin, ymin, xmax and ymax, or rotated as cx, cy, width, height and angle; score in
predictions; optionally id, crowd, area, image_width and image_height in ground truth. Fields are
separated by commas, semicolons or tabs, and quoted with double quotes where needed. A row with an
empty label and box names an image without objects.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from itertools import chain
from typing import Any

from valor_cli.data.column_names import csv_reader, not_csv
from valor_cli.data.formats.csv.object_header import Header, read_header
from valor_cli.data.formats.csv.object_lines import PlainRows
from valor_cli.data.formats.csv.object_rows import RowReader
from valor_cli.data.shapes.objects.image_facts import ImageFacts
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role, Wanted
from valor_cli.data.shapes.objects.rows import (
    Codes,
    ImageRows,
    Named,
    Piece,
    checked_ids,
    id_column,
    joined_pieces,
    object_file,
    text_column,
)
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.table import SKIP_HINT, InvalidRows, Table
from valor_cli.data.values import LineProblems, stop_on
from valor_cli.errors import DataError, Problem
from valor_cli.results import InputFile

_ROWS_AT_ONCE = 4096
_SIDES = ("image_width", "image_height")


def read_csv(
    path: str,
    role: Role,
    *,
    wanted: Wanted = "box",
    metadata: Sequence[str] = (),
    invalid: InvalidRows = "error",
    columns: Mapping[str, str] | None = None,
) -> ObjectFile:
    """Read objects from a CSV file; image ids are text.

    Args:
        path: The file, plain or compressed, or "-" for standard input.
        role: Which side it is.
        wanted: Which form to take of a file that has boxes and rotated boxes.
        metadata: Columns to read for every image; all rows of an image must say the same.
        invalid: "skip" leaves out rows that cannot be used and counts them.
        columns: Standard name to the name in the file.

    Raises:
        DataError: The file cannot be read; a column is missing; a row or a value is wrong.
    """
    source = TextSource(path)
    faults, problems = LineProblems(path), LineProblems(path)
    blocks = blocks_of_lines(source)
    first, rest = _first_line(next(blocks))
    if not first.strip() and not any(block.strip() for block in chain([rest], blocks)):
        raise DataError(Problem(path, "the file is empty: it has only line breaks"))
    header = read_header(first, path, role, wanted=wanted, columns=columns or {}, metadata=metadata)
    names = [name for name in _SIDES if name in header.at] + list(header.metadata)
    facts = ImageFacts(names, [{**header.at, **header.metadata}[name] for name in names], faults)
    labels, images = Codes(), Codes()
    plain = PlainRows(header, role, labels, images, facts)
    slow = RowReader(header, role, labels, images, facts, problems)
    pieces, rows = _pieces(chain([rest], blocks), header, path, plain, slow)
    found = joined_pieces(pieces, role)
    if role == "ground_truth":
        found.columns["id"] = _typed(found.columns["id"].tolist())
        found = checked_ids(found, problems)
    if invalid == "error":
        stop_on([faults, problems], SKIP_HINT * bool(problems.total))
    table, values = _images(path, role, images, facts, header)
    stop_on([faults])
    skipped = rows - slow.empty - len(found.shapes)
    return object_file(
        path,
        found,
        images=table,
        image_ids=id_column(list(images)) if images else text_column([]),
        labels=Named.in_order(labels),
        files=[InputFile(path, source.sha256, rows - slow.empty, skipped)],
        metadata=values,
        skipped=skipped,
        image_names="text",
    )


def _first_line(block: bytes) -> tuple[str, bytes]:
    """The first line and what follows it, with its line end as a mark that it was there."""
    ends = [at for at in (block.find(b"\n"), block.find(b"\r")) if at >= 0]
    end = min(ends, default=len(block))
    after = end + 2 if block[end : end + 2] == b"\r\n" else end + 1
    return block[:end].decode(), block[after:]


def _pieces(
    blocks: Iterable[bytes], header: Header, path: str, plain: PlainRows, slow: RowReader
) -> tuple[list[Piece], int]:
    """All rows, and how many there were."""
    pieces: list[Piece] = []
    total, line = 0, 2
    blocks = iter(blocks)
    for block in blocks:
        if header.spaced or b'"' in block or b"\\" in block:
            # A quoted field may go on in the next block.
            blocks = chain([block], blocks)
            break
        piece = plain.from_text(block, line) if block else None
        if piece is None:
            for records, lines in _records([block], header, path, line):
                total += len(records)
                pieces.append(slow.piece(records, lines))
        else:
            total += len(piece.shapes)
            pieces.append(piece)
        line += block.count(b"\n")
    for records, lines in _records(blocks, header, path, line):
        total += len(records)
        piece = plain.from_fields(records, lines)
        pieces.append(slow.piece(records, lines) if piece is None else piece)
    return pieces, total


def _records(
    blocks: Iterable[bytes], header: Header, path: str, first: int
) -> Iterator[tuple[list[list[str]], list[int]]]:
    """Fields of rows and the lines they begin on, some rows at a time; blank lines are left out.

    Raises:
        DataError: A quote is not closed, or text follows a closing one.
    """
    lines = chain.from_iterable(StringIO(block.decode(), newline="") for block in blocks)
    reader = csv_reader(lines, header.delimiter, spaced=header.spaced)
    records: list[list[str]] = []
    starts: list[int] = []
    begin = first
    try:
        for record in reader:
            if record:
                records.append(record)
                starts.append(begin)
            begin = first + reader.line_num
            if len(records) == _ROWS_AT_ONCE:
                yield records, starts
                records, starts = [], []
    except csv.Error as error:
        raise not_csv(path, begin, error) from None
    if records:
        yield records, starts


def _typed(ids: Sequence[str | None]) -> Any:
    """Ids as numbers if all are."""
    numbers = [one for one in ids if one is not None and one.isascii() and one.isdigit()]
    if len(numbers) == len(ids) and all(one == "0" or one[0] != "0" for one in numbers):
        return text_column([int(one) if len(one) < 19 else one for one in numbers])
    return text_column(ids)


def _images(
    path: str, role: Role, images: Codes, facts: ImageFacts, header: Header
) -> tuple[Table | None, dict[str, list[Any]]]:
    """The images of ground truth, in order of appearance, and their metadata.

    Raises:
        DataError: There are none.
    """
    if role == "predictions":
        return None, {}
    if not images:
        raise DataError(Problem(path, "there are no images; at least one is needed"))
    count = len(images)
    rows = ImageRows(
        ids=list(images),
        lines=[],
        width=facts.sides("image_width", count),
        height=facts.sides("image_height", count),
        file_name=[None] * count,
    )
    values = {
        name: [value or None for value in facts.values(name, count)] for name in header.metadata
    }
    return rows.table(path), values
