"""Write results.csv.

RFC 4180: a header, then a line for each row of `metrics` in results.json, in their order; CRLF,
UTF-8. Numbers have full precision, as in results.json; an empty cell is a null there.

A spreadsheet reads a cell that begins with = + - @, a tab or a line break as a formula, even in
quotes; some skip spaces and zero-width characters before it, or accept full-width forms. Text that
begins so, which may come from untrusted data, is prefixed with an apostrophe. Numbers are
unchanged. Control characters are removed from text; the exact text is in results.json.
"""

from __future__ import annotations

import csv
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

from valor_cli.reports.digests.formatting import clean
from valor_cli.results import MetricResult, RunResult, Scalar
from valor_cli.results.document import dumps

COLUMNS = (
    *("metric", "output", "model", "label", "slice", "parameters", "value", "unit", "direction"),
    *("n", "interval_low", "interval_high", "method", "caution", "undefined"),
)

_FORMULA = frozenset("=+-@")
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that show nothing."""


def to_csv(result: RunResult) -> bytes:
    """Write the file."""
    out = StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(_cells, result.metrics))
    return out.getvalue().encode()


def cell(value: Scalar) -> str:
    """A value as a cell: a number in full, a text that is no formula."""
    if value is None or isinstance(value, str):
        return _text(value)
    return dumps(value).decode()


def _cells(row: MetricResult) -> Sequence[str]:
    low, high = row.interval or (None, None)
    return [
        *map(_text, (row.metric, row.output, row.model, row.label, row.slice)),
        _text(dumps(row.parameters).decode()),
        _number(row.value),
        _text(row.unit),
        _text(row.direction),
        *map(_number, (row.n, low, high)),
        *map(_text, (row.method, row.caution, row.undefined)),
    ]


def _text(text: str | None) -> str:
    if not text:
        return ""
    text = clean(text, sys.maxsize)
    return f"'{text}" if _may_be_formula(text) else text


def _may_be_formula(text: str) -> bool:
    """Whether the first character that is seen begins a formula, in whatever width it is."""
    for each in text:
        # Separators, controls and marks are not seen by themselves.
        if unicodedata.category(each)[0] not in "ZCM" and each not in _FILLERS:
            return unicodedata.normalize("NFKC", each) in _FORMULA
    return False


def _number(number: float | None) -> str:
    return "" if number is None else dumps(number).decode()


BEFORE = ("metric", "output", "model", "label", "slice")
AFTER = ("value", "unit", "direction", "n")
LAST = ("method", "caution", "undefined")


def flat_rows(result: RunResult) -> list[dict[str, Scalar]]:
    """A row for each row of `metrics` in results.json, in their order, all with the same keys.

    A parameter is under `parameters.NAME`; lists and mappings are JSON text.
    """
    names = list(dict.fromkeys(name for row in result.metrics for name in row.parameters))
    return [_flat(row, names) for row in result.metrics]


def _flat(row: MetricResult, names: Iterable[str]) -> dict[str, Scalar]:
    low, high = row.interval or (None, None)
    return {
        **{name: getattr(row, name) for name in BEFORE},
        **{f"parameters.{name}": _scalar(row.parameters.get(name)) for name in names},
        **{name: getattr(row, name) for name in AFTER},
        "interval_low": low,
        "interval_high": high,
        **{name: getattr(row, name) for name in LAST},
    }


def _scalar(value: Any) -> Scalar:
    if value is None or isinstance(value, str | int | float):
        return value
    return dumps(value).decode()
