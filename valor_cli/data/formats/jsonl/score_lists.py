"""Decode JSON lines and collect the labels and scores in them.

Anything unusual is only detected here; the slow path says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from valor_cli.data.json_records import first_of
from valor_cli.data.shapes.scores.score_file import ITEM_LABELS, ITEM_SCORES

_Listed: TypeAlias = tuple[Sequence[Any], Sequence[Any], int]
"""Labels of a line, their scores, and under how many keys the two stand."""

_ANY: Final = msgspec.json.Decoder()
_TEXT: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_NOTHING: Final[_Listed] = (), (), 0


class _Item(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    label: str
    score: float


_Value: TypeAlias = bool | int | float | str | list[_Item] | dict[str, Any] | None
_USUAL: Final = msgspec.json.Decoder(dict[str, _Value])
"""Lines as most are: a third faster than those of anything."""


class Keys(NamedTuple):
    """Names of the keys of a line; None for absent or unused ones."""

    sample_id: str
    label: str | None
    many: str | None
    single: str | None
    score: str | None
    label_key: str | None


class Lists(NamedTuple):
    """Concatenated lists of lines.

    Attributes:
        counts: How many labels each line lists.
        labels, scores: Of all lines; of whatever kind.
        found: Under how many keys these stand; to be added up.
        rejected: Lines with unusual lists, which are empty here.
    """

    counts: list[int]
    labels: list[Any]
    scores: list[Any]
    found: list[int]
    rejected: list[int]


class _UnusualLineError(Exception):
    """A line that is left to the slow reading."""


def decoded(lines: Sequence[bytes]) -> Sequence[Any]:
    """Decoded lines, None if not JSON."""
    text = b"\n".join(lines)
    decoder: msgspec.json.Decoder[Any]
    for decoder in (_USUAL, _ANY):
        try:
            records: list[Any] = decoder.decode_lines(text)
        except (msgspec.MsgspecError, RecursionError):
            continue
        # Blank lines are none.
        if len(records) == len(lines):
            return records
    return list(map(_record, lines))


def _record(line: bytes) -> Any:
    try:
        return _ANY.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return None


def column(records: Sequence[Any], names: Sequence[str | None]) -> list[Any]:
    """The value of each line under its own name of a key; None if absent."""
    distinct = set(names)
    if len(distinct) == 1:
        name = names[0]
        return [None] * len(names) if name is None else [record[name] for record in records]
    pairs = zip(records, names, strict=True)
    return [None if name is None else record[name] for record, name in pairs]


def text_of(value: Any) -> str | None:
    """A text, or an integer with a unique notation; empty for null."""
    if type(value) is str:
        return value
    if type(value) is int and value:
        return str(value)
    return "" if value is None else None


def distinct_keys(records: Sequence[Any], lines: Sequence[bytes], found: int) -> NDArray[np.bool_]:
    """Lines without duplicate keys, detected by the number of colons.

    Args:
        records: The lines as objects.
        lines: Their texts.
        found: How many keys there are in the lists of all of them.
    """
    colons = [line.count(b":") for line in lines]
    distinct = np.ones(len(lines), np.bool_)
    if sum(colons) == sum(map(len, records)) + found:
        return distinct
    for row, (line, record) in enumerate(zip(lines, records, strict=True)):
        keys = _keys_in(record)
        # Texts may hold colons.
        if keys != colons[row]:
            distinct[row] = keys == _TEXT.sub(b"", line).count(b":")
    return distinct


def _keys_in(value: Any) -> int:
    """How many keys there are in a value, at any depth."""
    if type(value) is dict:
        return len(value) + sum(map(_keys_in, value.values()))
    if type(value) is _Item:
        return 2
    return sum(map(_keys_in, value)) if type(value) is list else 0


def lists_of(records: Sequence[Any], keys: Sequence[Keys]) -> Lists:
    """The lists of the lines."""
    many = column(records, [one.many for one in keys])
    if all(one.single is None for one in keys):
        found = _uniform_lists(many)
        if found is not None:
            return found
    lists = Lists([], [], [], [], [])
    for at, (record, one) in enumerate(zip(records, keys, strict=True)):
        try:
            labels, scores, found_keys = (
                _listed(many[at]) if one.single is None else _single(record, one.single, one.score)
            )
        except (_UnusualLineError, KeyError, TypeError):
            labels, scores, found_keys = _NOTHING
            lists.rejected.append(at)
        lists.counts.append(len(labels))
        lists.labels.extend(labels)
        lists.scores.extend(scores)
        lists.found.append(found_keys)
    return lists


def _uniform_lists(many: Sequence[Any]) -> Lists | None:
    """The lists of lines that all hold objects or all hold lists of objects; else None."""
    kinds = set(map(type, many))
    counts = list(map(len, many)) if kinds <= {dict, list} else []
    if kinds == {dict}:
        scores = list(chain.from_iterable(one.values() for one in many))
        return Lists(counts, list(chain.from_iterable(many)), scores, counts, [])
    items = list(chain.from_iterable(many)) if kinds == {list} else []
    if set(map(type, items)) != {_Item}:
        return None
    labels, scores = (list(map(attrgetter(name), items)) for name in ("label", "score"))
    return Lists(counts, labels, scores, [2 * len(items)], [])


def _single(record: dict[str, Any], single: str, score: str | None) -> _Listed:
    """The one label of a line, and its score."""
    label = text_of(record[single])
    if label is None or (not label and score is not None):
        raise _UnusualLineError
    return ([label], [1.0 if score is None else record[score]], 0) if label else _NOTHING


def _listed(value: Any) -> _Listed:
    """The labels of a line, their scores, and under how many keys these stand."""
    if type(value) is dict:
        return list(value), list(value.values()), len(value)
    if value is None or value == []:
        return _NOTHING
    if type(value) is not list:
        raise _UnusualLineError
    if type(value[0]) is _Item:
        return [one.label for one in value], [one.score for one in value], 2 * len(value)
    return (_items if type(value[0]) is dict else _pairs)(value)


def _items(value: Sequence[Any]) -> _Listed:
    """Of objects that each have a label and a score, under the same keys."""
    label, score = "label", "score"
    first = value[0]
    if label not in first or score not in first:
        label, score = (str(first_of(names, first)) for names in (ITEM_LABELS, ITEM_SCORES))
        if any(type(one) is not dict or one.keys() != first.keys() for one in value):
            raise _UnusualLineError
    found = sum(map(len, value))
    return [one[label] for one in value], [one[score] for one in value], found


def _pairs(value: Sequence[Any]) -> _Listed:
    """Of lists of a label and a score."""
    if any(type(one) is not list or len(one) != 2 for one in value):
        raise _UnusualLineError
    labels, scores = zip(*value, strict=True)
    return labels, scores, 0
