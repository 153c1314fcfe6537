"""Read rows by a function that an installed package offers as a format."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from hashlib import sha256
from typing import Any

import orjson

from valor_cli.data.batch import RowFile
from valor_cli.data.partition.pieces import sha256_of
from valor_cli.data.value_rows import ValueFile
from valor_cli.entry_points import FORMATS, offered, one_line
from valor_cli.errors import DataError, Problem

_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


def open_offered(path: str, format: str) -> RowFile:  # noqa: A002 - as in YAML
    """Open a file with the function of a package: a path to mappings, as lines of JSONL are.

    Raises:
        DataError: It cannot be read, or gives something else.
        UnknownNameError: No package offers the format.
    """
    read = offered(FORMATS, format, "data.format")
    if not os.path.exists(path):
        raise DataError(Problem(path, f"no such file, which the format {format} reads"))
    try:
        with redirect_stdout(sys.stderr):
            rows = [_plain(row) for row in read.load()(path)]
    except (Exception, SystemExit) as error:  # whatever a package does, this input is not read
        message = f"the format {format} cannot read it: {one_line(error)}"
        raise DataError(Problem(path, message)) from None
    return ValueFile(path, rows, "[{row}]", _digest(path))


def _plain(row: Any) -> dict[str, Any]:
    """A row as JSON has it."""
    if not isinstance(row, Mapping):
        raise TypeError(f"a row is no mapping, but of type {type(row).__name__}")
    found: dict[str, Any] = orjson.loads(orjson.dumps(dict(row), option=_OPTIONS))
    return found


def _digest(path: str) -> str:
    """Of a folder, that of the names in it and what they hold."""
    if os.path.isfile(path):
        return sha256_of(path)
    whole = sha256()
    for folder, _, names in sorted(os.walk(path)):
        for name in sorted(names):
            inside = os.path.join(folder, name)
            whole.update(os.path.relpath(inside, path).encode("utf-8", "surrogateescape"))
            with open(inside, "rb") as file:
                whole.update(sha256(file.read()).digest())
    return whole.hexdigest()
