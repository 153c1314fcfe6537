"""Write rows as JSONL, JSON or CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from typing import Any

from valor_cli.data.formats.records import RowForm


def rows_as(rows: Sequence[Mapping[str, Any]], form: RowForm, delimiter: str = ",") -> bytes:
    """Rows as file content; in CSV, values that are not text are written as JSON, None as empty."""
    if form == "jsonl":
        return "".join(f"{_json(row)}\n" for row in rows).encode()
    if form == "json":
        return "[\n{}\n]\n".format(",\n".join(map(_json, rows))).encode()
    return "".join(f"{line}\n" for line in _csv(rows, delimiter)).encode()


def _json(value: Any) -> str:
    # orjson knows no whole numbers of more than 64 bits, and less depth than is read.
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class _Lines(list[str]):
    """The lines that a csv.writer writes."""

    write = list.append


def _csv(rows: Sequence[Mapping[str, Any]], delimiter: str) -> list[str]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = _Lines()
    # Characters of the line end are quoted in cells: a lone "\r" has to be.
    end = "\r\n"
    writer = csv.writer(lines, delimiter=delimiter, lineterminator=end)
    writer.writerow(names)
    writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
    return [line.removesuffix(end) for line in lines]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _json(value)
