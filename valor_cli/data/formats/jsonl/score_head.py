"""Infer the layout of a file of labels and scores from its first JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from valor_cli.data.formats.jsonl.score_rows import KeyNames, WideKeys
from valor_cli.data.shapes.scores.prediction_columns import Columns, other_columns, unread_columns
from valor_cli.data.shapes.scores.rows import ScoreHeader
from valor_cli.data.shapes.scores.score_file import ALIASES, ScoreReading, Side, positions

_INNER = "metadata"


class JsonHead(NamedTuple):
    """Layout of a file, inferred from its first lines.

    Attributes:
        long: Whether a line is one label of a sample.
        names: Of what the first line has, for messages.
        wide: The keys that are classes, where lines have one for each.
        unread: The keys that may be classes, and are not among those of the config.
    """

    long: bool
    names: Sequence[str]
    wide: WideKeys | None = None
    unread: Sequence[str] = ()


def json_head(records: Iterable[Mapping[str, Any]], side: Side, reading: ScoreReading) -> JsonHead:
    """Infer the layout of a file from its first lines.

    Lines have a key for each class where none of them has predictions under a name of their own,
    and keys of the first line that are nothing else hold numbers: which keys, is found as for the
    columns of a CSV file.
    """
    records = iter(records)
    first = next(records, {})
    inner = first.get(_INNER)
    names = [*(name for name in first if name != _INNER), *(inner if type(inner) is dict else ())]
    if side == "ground_truth":
        return JsonHead(False, names)
    known = KeyNames.of(reading)
    for record in chain([first], records):
        if not record.keys().isdisjoint(known.predictions):
            return JsonHead(False, names)
        if not record.keys().isdisjoint(known.prediction):
            return JsonHead(True, names)
    return JsonHead(False, names, *_wide(first, side, reading))


def _wide(
    first: Mapping[str, Any], side: Side, reading: ScoreReading
) -> tuple[WideKeys | None, Sequence[str]]:
    """The keys that are classes, and those that may be and are not read; None for no such keys."""
    keys = [name for name in first if name != _INNER]
    cells = ["0" if type(first[name]) in (int, float) else "" for name in keys]
    found = positions(keys, reading)
    columns = Columns("", keys, cells, found, side, reading)
    classes = tuple(other_columns(columns))
    if reading.classes:
        named = set(keys) & set(reading.classes)
        classes = tuple((name, keys.index(name)) for name in reading.classes if name in named)
    numbers = any(cells[at] for _, at in classes)
    nested = any(type(first[name]) in (dict, list) for name, _ in classes)
    if not numbers or nested or "score" in found:
        return None, ()
    header = ScoreHeader(
        names=tuple(keys),
        delimiter="",
        spaced=False,
        sample_id=found.get("sample_id", -1),
        truth=found.get("label"),
        key=found.get("label_key"),
        classes=classes,
        pairs=(),
        metadata=dict.fromkeys(reading.metadata, -1),
    )
    unread = unread_columns(header, reading)
    names = tuple(reading.classes) or tuple(name for name, _ in classes)
    others = None
    if side == "predictions" and not reading.classes:
        standard = {one for name, aliases in ALIASES.items() for one in (name, *aliases)}
        others = frozenset({*keys, *standard, *reading.columns.values(), _INNER})
    return WideKeys(names, others, named=bool(reading.classes)), unread


def records_in(block: bytes) -> Iterator[dict[str, Any]]:
    """The lines of a block that are objects."""
    for line in block.split(b"\n"):
        try:
            found = msgspec.json.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found
