"""Build a `SampleFile` from the collected rows, or report all their problems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from valor_cli.data.column_names import listed, missing_columns
from valor_cli.data.shapes.samples.columns import PackedRows, packed, unzipped
from valor_cli.data.shapes.samples.header import ambiguous, known_names
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading, SampleRow
from valor_cli.data.table import LINE, SKIP_HINT
from valor_cli.data.values import Problems, stop_on
from valor_cli.errors import DataError, Problem
from valor_cli.results import InputFile

COLUMNS_HINT = "Map other names under `data: columns:`, as {response: my_column}."

_PLAIN_CONTEXTS = (
    "contexts written as one text, not as a list, count as one context each: {count:,} rows; "
    "write several contexts as a JSON list"
)


def sample_file(
    path: str,
    rows: Sequence[tuple[int, SampleRow]] | PackedRows,
    problems: Problems,
    reading: SampleReading,
    *,
    faulty: int,
    sha256: str,
    names: Iterable[str],
    metadata: Iterable[str],
    plain_contexts: int = 0,
    place: str = LINE,
    count: int | None = None,
) -> SampleFile:
    """Build the `SampleFile` of a file.

    Args:
        path: The file.
        rows: Good ones alone, in the order of the file, each with its number in the file, from 1.
        problems: What is wrong with the others.
        reading: How it was read.
        faulty: How many rows are wrong.
        sha256: Of the file.
        names: What its columns are called.
        metadata: Those asked for that some row has.
        plain_contexts: How many rows have a bare text for a list of contexts.
        place: How a row is named.
        count: How many rows there are, where they are kept elsewhere; None: those given.

    Raises:
        DataError: Rows are wrong and not to be left out; there are none; no column is one that
            texts have, or a mapped one is not there.
    """
    names = list(names)
    if names:
        check_names(names, reading, path)
    if reading.invalid == "error":
        stop_on([problems], SKIP_HINT)
    count = len(rows) if count is None else count
    if not count:
        left = f"; {faulty:,} were left out as invalid" if faulty else ""
        raise DataError(
            [Problem(path, f"there are no samples; at least one is needed{left}")],
            hint="" if not problems.kept else f"the first: {problems.kept[0]}",
        )
    warnings = [_PLAIN_CONTEXTS.format(count=plain_contexts)] if plain_contexts else []
    warnings += [
        f"{listed(several)} could each be the {standard}; of these the first that a row has is "
        "read. To settle it, name one under `columns:`"
        for standard, several in ambiguous(names, reading.columns).items()
    ]
    if reading.packed and not isinstance(rows, PackedRows):
        rows = packed(rows)
    listed_rows, numbers = unzipped(rows)
    return SampleFile(
        path,
        listed_rows,
        numbers,
        names,
        frozenset(metadata),
        [InputFile(path, sha256, count + faulty, faulty)],
        (place,),
        [f"{path}: {one}" for one in warnings],
    )


def check_names(names: Sequence[str], reading: SampleReading, place: str) -> None:
    """Check that a file has text columns, and all mapped ones.

    Raises:
        DataError: It has not.
    """
    mapped = {
        name if name in names else name.split(".")[0]: f"for {standard}"
        for standard, name in reading.columns.items()
    }
    if problems := missing_columns(mapped, names, place):
        raise DataError(problems)
    if not known_names(names, reading.columns):
        message = f"no column is one that text samples have; there is: {listed(names)}"
        raise DataError(Problem(place, message), hint=COLUMNS_HINT)
