"""Find what each value of a JSON line means, and its position."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from valor_cli.data.formats.jsonl.score_rows import KeyNames, WideKeys
from valor_cli.data.json_records import first_of
from valor_cli.data.shapes.scores.score_file import ITEM_LABELS, ITEM_SCORES, Side

Path: TypeAlias = tuple[str | int, ...]
Kind: TypeAlias = Literal["key", "string", "bare"]
"""A key, what stands inside of quotes, or a number, true, false or null."""

_TOKEN: Final = re.compile(rb'"([^"]*)"|([{}\[\]:,])|([^\s{}\[\]:,"]+)')
_LONGEST: Final = 1 << 18
"""Bytes of a line."""


class Value(NamedTuple):
    """A value or key of a line.

    Attributes:
        path: The keys and places that lead to it.
        start, end: Where it stands; a string without its quotes.
        kind: What it is.
    """

    path: Path
    start: int
    end: int
    kind: Kind


class Wanted(Struct, frozen=True):
    """What to read of lines.

    Attributes:
        side: What the file holds.
        names: What keys may be called.
        classes: How many scores a list of bare numbers has.
        metadata: Names of metadata.
        wide: The classes, where lines have a key for each.
    """

    side: Side
    names: KeyNames
    classes: int
    metadata: Sequence[str]
    wide: WideKeys | None = None


class Shape(Struct, frozen=True):
    """The meaning of a line's values.

    Attributes:
        values: Where lines may differ, ascending.
        sample_id, truth, key: Which value is that; -1 if none is.
        listed: Which are labels that the model lists.
        scores: Which are their scores; none where labels have no score. Without labels, those of
            all classes.
        metadata: Which values are metadata, by name; -1 for none.
    """

    values: tuple[Value, ...]
    sample_id: int
    truth: int
    key: int
    listed: tuple[int, ...]
    scores: tuple[int, ...]
    metadata: Mapping[str, int]


def shape_of(line: bytes, wanted: Wanted) -> Shape | None:
    """The shape of a line without backslashes; None if invalid or unusual."""
    if len(line) > _LONGEST:
        return None
    try:
        if not isinstance(msgspec.json.decode(line), dict):
            return None
    except (msgspec.MsgspecError, RecursionError):
        return None
    tokens = list(_tokens(line))
    keys = [one.path for one in tokens if one.kind == "key"]
    if len(set(keys)) < len(keys):
        return None
    named = named_keys([str(path[0]) for path in keys if len(path) == 1], wanted.names)
    many = named["predictions"] if wanted.side != "ground_truth" else None
    # The keys of an object of scores are labels; other keys are the same in all lines.
    values = tuple(
        one for one in tokens if one.kind != "key" or (len(one.path) == 2 and one.path[0] == many)
    )
    at = {one.path: number for number, one in enumerate(values) if one.kind != "key"}
    found = {name: -1 if key is None else at.get((key,), -1) for name, key in named.items()}
    listed = _listed(values, at, named, wanted)
    metadata = _metadata(at, set(keys), wanted.metadata)
    truth = found["label"] if wanted.side != "predictions" else -1
    if (
        listed is None
        or metadata is None
        or found["sample_id"] < 0
        or (truth < 0 and wanted.side != "predictions")
        or (found["label_key"] < 0 and named["label_key"] is not None)
    ):
        return None
    return Shape(values, found["sample_id"], truth, found["label_key"], *listed, metadata)


def named_keys(keys: Collection[str], names: KeyNames) -> dict[str, str | None]:
    """The key of each standard name, by precedence."""
    return {standard: first_of(accepted, keys) for standard, accepted in names._asdict().items()}


def _metadata(
    at: Mapping[Path, int], keys: set[Path], wanted: Sequence[str]
) -> dict[str, int] | None:
    """Which values are metadata: those of the line, else those under its key `metadata`."""
    found = {}
    for name in wanted:
        paths = [path for path in ((name,), ("metadata", name)) if path in keys]
        found[name] = at.get(paths[0], -2) if paths else -1
    return None if -2 in found.values() else found


_Lists: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


def _listed(
    values: Sequence[Value],
    at: Mapping[Path, int],
    named: Mapping[str, str | None],
    wanted: Wanted,
) -> _Lists | None:
    """Which values are labels that are listed, and which are their scores."""
    if wanted.side == "ground_truth":
        return (), ()
    many, single, score = (named[name] for name in ("predictions", "prediction", "score"))
    if many is None and single is None and wanted.wide is not None:
        others = wanted.wide.others
        if others is not None and any(one.path[0] not in others for one in values):
            return None
        found = tuple(at.get((name,), -1) for name in wanted.wide.names)
        return None if -1 in found else ((), found)
    if many is None:
        label = at.get((single,), -1) if single is not None else -1
        scored = at.get((score,), -1) if score is not None else None
        if label < 0 or scored == -1:
            return None
        return (label,), () if scored is None else (scored,)
    inside = [number for number, one in enumerate(values) if one.path[0] == many]
    depth = {len(values[number].path) for number in inside}
    if not inside or min(depth) < 2:
        return None
    if values[inside[0]].kind == "key":
        # Keys and their scores in turn.
        return (tuple(inside[::2]), tuple(inside[1::2])) if depth == {2} else None
    if depth == {2}:
        return ((), tuple(inside)) if len(inside) == wanted.classes else None
    return _items(values, inside)


def _items(values: Sequence[Value], inside: Sequence[int]) -> _Lists | None:
    """The labels and the scores of a list of objects, or of pairs."""
    if not all(isinstance(values[number].path[1], int) for number in inside):
        return None
    count = 1 + max(int(values[number].path[1]) for number in inside)
    labels, scores = ([-1] * count for _ in range(2))
    for number in inside:
        path = values[number].path
        for names, found in (((0, *ITEM_LABELS), labels), ((1, *ITEM_SCORES), scores)):
            if len(path) > 2 and path[2] in names:
                if len(path) > 3 or found[int(path[1])] >= 0:
                    return None
                found[int(path[1])] = number
        if len(path) < 3 or path[2] == 2:
            return None
    return None if min(*labels, *scores) < 0 else (tuple(labels), tuple(scores))


def _tokens(line: bytes) -> Iterator[Value]:
    """Keys and values of a line that is JSON."""
    path: list[str | int] = []
    expected = False
    for found in _TOKEN.finditer(line):
        string, mark, bare = found.span(1), found[2], found.span(3)
        if mark in (b"{", b"["):
            path.append("" if mark == b"{" else 0)
            expected = mark == b"{"
        elif mark in (b"}", b"]"):
            path.pop()
            expected = False
        elif mark == b",":
            last = path[-1]
            expected = isinstance(last, str)
            if isinstance(last, int):
                path[-1] = last + 1
        elif mark == b":":
            expected = False
        elif string[0] < 0:
            yield Value(tuple(path), *bare, "bare")
        elif expected:
            path[-1] = found[1].decode()
            yield Value(tuple(path), *string, "key")
        else:
            yield Value(tuple(path), *string, "string")
