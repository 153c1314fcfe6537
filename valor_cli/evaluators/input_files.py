"""Report the problems of all input files together, and the rows that were left out of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from valor_cli.errors import DataError
from valor_cli.results import InputFile


def error_of_inputs(errors: Sequence[DataError]) -> DataError:
    """One error for the problems of several inputs; what two say alike is counted once."""
    distinct = {error.problems: error for error in errors}.values()
    return DataError(
        [problem for error in distinct for problem in error.problems],
        total=sum(error.total for error in distinct),
        hint="\n".join(error.hint for error in errors if error.hint),
    )


def invalid_row_warnings(files: Iterable[InputFile]) -> list[str]:
    """How many rows each file left out."""
    return [
        f"{one.path}: left out as invalid: {one.skipped:,} of {one.rows:,} rows"
        for one in files
        if one.skipped
    ]
