"""JSON objects of the usual shape come in as text; rows of samples go out, quickly.

What is unusual is left to `sample_rows`, which has the words for it: numbers where texts are
expected, objects among the contexts, keys that stand twice, anything wrong.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

import orjson

from valor_cli.readers.sample_files import SampleReading, SampleRow
from valor_cli.readers.sample_header import COLUMNS, Layouts, in_milliseconds, metadata_at, value_at
from valor_cli.readers.sample_peers import is_promptfoo

_REFERENCES: Final = COLUMNS.index("references")
_DURATION: Final = COLUMNS.index("duration_s")
_TEXTS: Final = frozenset({str, type(None)})
_NUMBERS: Final = frozenset({int, float, type(None)})
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_TEXT: Final = frozenset({str})
_SPACED_KEY: Final = re.compile(rb'"[ \t\r\n]+:')


class PlainRows:
    """Reads rows of the usual shape.

    Attributes:
        found: Names of metadata that some row has.
    """

    __slots__ = ("_layouts", "_metadata", "found")

    def __init__(self, reading: SampleReading, layouts: Layouts) -> None:
        """Say how to read; `layouts` are those seen so far."""
        self.found: set[str] = set()
        self._layouts = layouts
        self._metadata = tuple(reading.metadata)

    def line(self, content: bytes, line: int) -> SampleRow | None:
        """The row of a JSON text; None if it is to be read slowly."""
        try:
            record = orjson.loads(content)
            if type(record) is not dict or _may_repeat(content, record):
                return None
        except (orjson.JSONDecodeError, RecursionError):
            return None
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
        if row is None or (row.duration_s is not None and in_milliseconds(layout.keys[_DURATION])):
            return None
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


def _row(values: Any, metadata: tuple[Any, ...], line: int) -> SampleRow | None:
    """A row from the values of the standard columns; None if one is unusual."""
    (
        sample_id,
        model,
        user_input,
        response,
        references,
        contexts,
        condition,
        categories,
        group,
        perturbed_from,
        duration,
        cost,
        artifacts,
    ) = values
    if type(sample_id) is int and sample_id:
        # -0 alone is not written as Python writes it.
        sample_id = str(sample_id)
    plain = {
        type(sample_id), type(model), type(user_input), type(response), type(condition),
        type(group), type(perturbed_from), type(artifacts),
    } <= _TEXTS  # fmt: skip
    if not plain or type(duration) not in _NUMBERS or type(cost) not in _NUMBERS:
        return None
    references, categories = _texts(references), _texts(categories)
    if references is None or categories is None:
        return None
    if contexts is not None:
        if type(contexts) is not list or not _TEXT.issuperset(map(type, contexts)):
            return None
        contexts = tuple(contexts)
    for name in (model, condition, group, perturbed_from, artifacts):
        if name is not None and not name.strip():
            return None
    if sample_id == "" or (sample_id and "\0" in sample_id):
        return None
    if artifacts and "\0" in artifacts:
        return None
    if not (_usable(duration) and _usable(cost)):
        return None
    return SampleRow(
        sample_id,
        model,
        user_input,
        response,
        references,
        contexts,
        condition,
        categories,
        group,
        perturbed_from,
        None if duration is None else float(duration),
        None if cost is None else float(cost),
        artifacts,
        metadata,
        line,
    )


def _texts(value: Any) -> tuple[str, ...] | None:
    if type(value) is str:
        return (value,)
    if value is None:
        return ()
    if type(value) is list and _TEXT.issuperset(map(type, value)):
        return tuple(value)
    return None


def _usable(amount: float | None) -> bool:
    return amount is None or 0 <= amount < math.inf


def _may_repeat(content: bytes, record: dict[str, Any]) -> bool:
    """Whether a key may stand twice: then more keys are written than were found.

    A key ends in a quote and a colon. In a text that quote has a backslash before it, as it has
    where a key itself ends with one, which is too odd to be read here.
    """
    written = content.count(b'":')
    if b'\\":' in content:
        if b'\\\\":' in content:
            return True
        written -= content.count(b'\\":')
    if written == _keys(record):
        return bool(b'" ' in content or b'"\t' in content or b'"\r' in content) and bool(
            _SPACED_KEY.search(content)
        )
    return True


def _keys(value: Any) -> int:
    """How many keys there are in an object or a list, those of objects inside included."""
    inner, count = (value.values(), len(value)) if type(value) is dict else (value, 0)
    for one in inner:
        kind = type(one)
        if kind is dict or (kind is list and not _TEXT.issuperset(map(type, one))):
            count += _keys(one)
    return count
