"""Parse JSON samples of the common shape fast.

Everything else is left to `sample_rows`, which has the messages: numbers in place of texts,
objects among the contexts, duplicate keys, and any error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, Final

import orjson

from valor_cli.data.shapes.samples.header import (
    COLUMNS,
    Layouts,
    in_milliseconds,
    metadata_at,
    value_at,
)
from valor_cli.data.shapes.samples.logprobs import plain_logprobs
from valor_cli.data.shapes.samples.other_tools import is_promptfoo
from valor_cli.data.shapes.samples.sample_file import SampleReading, SampleRow

_REFERENCES: Final = COLUMNS.index("references")
_DURATION: Final = COLUMNS.index("duration_s")
_TEXTS: Final = frozenset({str, type(None)})
_NUMBERS: Final = frozenset({int, float})
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_TEXT: Final = frozenset({str})
_SPACED_KEY: Final = re.compile(rb'"[ \t\r\n]++:')


class PlainRows:
    """The fast path for usual rows.

    Attributes:
        found: Names of metadata that some row has.
    """

    __slots__ = ("_layouts", "_metadata", "found")

    def __init__(self, reading: SampleReading, layouts: Layouts) -> None:
        """Initialise; `layouts` are those seen so far."""
        self.found: set[str] = set()
        self._layouts = layouts
        self._metadata = tuple(reading.metadata)

    def line(self, content: bytes, line: int) -> SampleRow | None:
        """The row of a JSON text; None if it needs the slow path."""
        try:
            record = orjson.loads(content)
            if type(record) is not dict or _may_repeat(content, record):
                return None
        except (orjson.JSONDecodeError, RecursionError):
            return None
        return self.row(record, line)

    def row(self, record: dict[Any, Any], line: int) -> SampleRow | None:
        """The row of an object without duplicate keys; None if it needs the slow path."""
        names = tuple(record)
        layout = self._layouts.of(names)
        if (
            layout.paths
            or is_promptfoo(record)
            or (layout.keys[_REFERENCES] or "").startswith("__")
        ):
            return None
        metadata = self._metadata_of(record) if self._metadata else ()
        row = None if metadata is None else _row(map(record.get, layout.keys), metadata, line)
        if row is not None and row.duration_s and in_milliseconds(layout.keys[_DURATION]):
            return row._replace(duration_s=row.duration_s / 1000)
        return row

    def _metadata_of(self, record: dict[str, Any]) -> tuple[Any, ...] | None:
        """The values asked for; None if one is not single."""
        values = []
        for name in self._metadata:
            path = metadata_at(record, name)
            value = None if path is None else value_at(record, path)
            if type(value) not in _SCALARS:
                return None
            values.append(value)
            if path is not None:
                self.found.add(name)
        return tuple(values)


def _row(values: Iterable[Any], metadata: tuple[Any, ...], line: int) -> SampleRow | None:
    """A row from the values of the standard columns; None if one is unusual."""
    # Its fields hold whatever the JSON has, until they were looked at.
    row: Any = SampleRow._make((*values, metadata, line, 0))
    references, categories = _texts(row.references), _texts(row.categories)
    if references is None or categories is None or not _is_plain(row):
        return None
    contexts, seconds, dollars = row.retrieved_contexts, row.duration_s, row.cost_usd
    logprobs = row.token_logprobs
    if logprobs is not None and (logprobs := plain_logprobs(logprobs)) is None:
        return None
    found: SampleRow = row._replace(
        sample_id=None if row.sample_id is None else str(row.sample_id),
        references=references,
        retrieved_contexts=None if contexts is None else tuple(contexts),
        categories=categories,
        duration_s=None if seconds is None else float(seconds),
        cost_usd=None if dollars is None else float(dollars),
        token_logprobs=logprobs,
    )
    return found


def _is_plain(row: Any) -> bool:
    """Whether the other values are of the types that they usually are, and can be used."""
    contexts = row.retrieved_contexts
    named = (row.model, row.condition, row.group, row.perturbed_from, row.artifacts)
    return (
        _TEXTS.issuperset(map(type, (row.user_input, row.response, *named)))
        and all(one is None or one.strip() for one in named)
        and not (row.artifacts and "\0" in row.artifacts)
        and (contexts is None or (type(contexts) is list and _TEXT.issuperset(map(type, contexts))))
        and _is_id(row.sample_id)
        and _is_amount(row.duration_s)
        and _is_amount(row.cost_usd)
    )


def _is_id(value: Any) -> bool:
    if type(value) is int:
        # -0 alone is not written as Python writes it.
        return value != 0
    return value is None or (type(value) is str and value != "" and "\0" not in value)


def _is_amount(value: Any) -> bool:
    return value is None or (type(value) in _NUMBERS and 0 <= value < math.inf)


def _texts(value: Any) -> tuple[str, ...] | None:
    if type(value) is str:
        return (value,)
    if value is None:
        return ()
    if type(value) is list and _TEXT.issuperset(map(type, value)):
        return tuple(value)
    return None


def _may_repeat(content: bytes, record: dict[str, Any]) -> bool:
    """Whether a key may be duplicate: more keys are written than were found.

    A key ends in a quote and a colon. In a text that quote has a backslash before it, as it has
    where a key itself ends with one, which is too odd to be read here.
    """
    written = content.count(b'":')
    if b"\\" in content:
        if b'\\\\":' in content:
            return True
        written -= content.count(b'\\":')
    return written != _keys(record) or _SPACED_KEY.search(content) is not None


def _keys(value: Any) -> int:
    """How many keys there are in an object or a list, those of objects inside included."""
    inner, count = (value.values(), len(value)) if type(value) is dict else (value, 0)
    for one in inner:
        kind = type(one)
        if kind is dict or (kind is list and not _TEXT.issuperset(map(type, one))):
            count += _keys(one)
    return count
