"""Write rows of a program as JSON lines, for the readers of files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias

from valor_cli.errors import DataError, Problem


class _Polars(Protocol):
    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows of a polars data frame."""


class _Arrow(Protocol):
    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows of an Arrow table."""


class _Pandas(Protocol):
    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        """The rows of a pandas data frame."""


Rows: TypeAlias = Iterable[Mapping[str, Any]] | _Polars | _Arrow | _Pandas
"""Mappings, one a row; or a data frame of polars or pandas, or an Arrow table."""


def write_rows(rows: Rows, name: str, folder: str) -> str:
    """Write rows as a JSONL file; NaN is null, as data frames have it.

    Args:
        rows: The rows.
        name: What they are called in messages, "samples".
        folder: Where the file goes.

    Returns:
        Its path.

    Raises:
        DataError: A row is no mapping, or holds what JSON cannot.
    """
    # Only who passes rows pays for its import.
    import orjson

    options = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE
    path = os.path.join(folder, f"{name}.jsonl")
    with open(path, "wb") as file:
        for number, row in enumerate(_mappings(rows, name), 1):
            if not isinstance(row, Mapping):
                message = f"expected a mapping, found {type(row).__name__}"
                raise DataError(Problem(f"{name}: row {number}", message))
            try:
                file.write(orjson.dumps(dict(row), _plain, options))
            except TypeError as error:
                message = f"cannot be written as JSON ({error})"
                raise DataError(Problem(f"{name}: row {number}", message)) from None
    return path


def _mappings(rows: Any, name: str) -> Iterator[Any]:
    for method, arguments in (("to_dicts", ()), ("to_pylist", ()), ("to_dict", ("records",))):
        if hasattr(rows, method) and not isinstance(rows, Mapping):
            yield from getattr(rows, method)(*arguments)
            return
    if isinstance(rows, Mapping):
        raise DataError(
            Problem(name, "expected rows, one mapping each, found a mapping"),
            hint="A mapping of columns becomes rows in a data frame.",
        )
    yield from rows


def _plain(value: Any) -> Any:
    """A value that orjson does not know: sets, and scalars of other packages."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    raise TypeError(f"a value of type {type(value).__name__}")
