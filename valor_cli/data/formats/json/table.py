"""Read JSON files as rows.

A file is a list of rows; an object that holds such a list, possibly nested ("results.results"); an
object of columns of equal length; or a single row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from valor_cli.data.batch import Found, Known, RowFile, Shaped
from valor_cli.data.formats.json.document import decoded
from valor_cli.data.formats.json.lines import BLOCK, JsonLinesFile
from valor_cli.data.json_records import DuplicateKey, Record, parsed, said
from valor_cli.data.source.files import TextSource
from valor_cli.data.value_rows import ValueFile
from valor_cli.errors import DataError, Problem, printable

ROW_LISTS: Final = (
    "results",
    "samples",
    "test_cases",
    "testCases",
    "inputs",
    "data",
    "dataset",
    "rows",
    "examples",
    "goldens",
    "queries",
)
"""What a list of rows may be called where an object holds several lists."""

_DEEPEST = 3
_RAW: Final = msgspec.json.Decoder(list[msgspec.Raw])


def open_rows(path: str, known: Known, shaped: Shaped | None = None) -> RowFile:
    """Open a JSON file.

    Args:
        path: The file.
        known: Says whether an object may be a row, or columns of rows.
        shaped: Finds the rows of other tools' documents.

    Raises:
        DataError: It cannot be read; it is no JSON, or holds no list of rows.
    """
    source = TextSource(path)
    content = source.whole()
    try:
        return JsonLinesFile(source, _blocks_of_items(_RAW.decode(content)), "[{row}]", 0)
    except (msgspec.MsgspecError, RecursionError):
        found = _rows_in(content, path, known, shaped)
        return ValueFile.of_document(path, found, source.sha256)


def _blocks_of_items(items: Sequence[msgspec.Raw]) -> Iterator[bytes]:
    """The texts of items as lines, some at a time."""
    block: list[bytes] = []
    size = 0
    for item in items:
        # Line ends stand between values alone: in a text they are escaped.
        block.append(bytes(item).replace(b"\n", b" ").replace(b"\r", b" "))
        size += len(block[-1])
        if size > BLOCK:
            yield b"\n".join(block)
            block, size = [], 0
    if block:
        yield b"\n".join(block)


def _rows_in(content: bytes, path: str, known: Known, shaped: Shaped | None) -> Found:
    """The rows of an object, or of a list that only a lenient parser takes (NaN in it).

    Raises:
        DataError: It is no JSON, or there are no rows in it.
    """
    document = decoded(lambda: parsed(content), path)
    if isinstance(document, list):
        return Found("", document)
    if not isinstance(document, dict):
        message = f"expected a list of objects, one a sample, found {said(document)}"
        raise DataError(Problem(path, message))
    if isinstance(document, DuplicateKey):
        raise DataError(Problem(f"{path}: {document.key}", "duplicate key in this object"))
    found = _search(document, path, "", _DEEPEST)
    if shaped is not None:
        found = shaped(document, found)
    if found is not None:
        return found
    if known(list(document)):
        return Found("", list(_columns(document)) or [document])
    shown = ", ".join(printable(key) for key in list(document)[:12])
    message = f"there is no list of samples in this object; there is: {shown or 'nothing'}"
    raise DataError(Problem(path, message))


def _search(document: Record, path: str, name: str, depth: int) -> Found | None:
    """The list of objects in an object: the only one, the best known, or one further inside."""
    lists = {
        key: value
        for key, value in document.items()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    }
    inside = [key for key in (*ROW_LISTS, *document) if isinstance(document.get(key), dict)]
    known = [key for key in ROW_LISTS if key in lists]
    if known or (len(lists) == 1 and not any(key in ROW_LISTS for key in inside)):
        key = known[0] if known else next(iter(lists))
        return Found(name + key, lists[key])
    if depth > 1:
        for key in dict.fromkeys(inside):
            if isinstance(document[key], DuplicateKey):
                place = f"{path}: {name}{key}.{document[key].key}"
                raise DataError(Problem(place, "duplicate key in this object"))
            found = _search(document[key], path, f"{name}{key}.", depth - 1)
            if found is not None:
                return found
    return None


def _columns(document: Record) -> Iterator[Record]:
    """The rows of an object of columns, as pandas and `Dataset.to_dict` write them."""
    columns = [
        list(value.values()) if isinstance(value, dict) else value for value in document.values()
    ]
    lengths = {len(value) if isinstance(value, list) else -1 for value in columns}
    if len(lengths) == 1 and -1 not in lengths:
        for row in zip(*columns, strict=True):
            yield dict(zip(document, row, strict=True))
