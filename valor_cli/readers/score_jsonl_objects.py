"""Lines of JSON with scores come in; columns go out, and which lines are left to others.

Between the quick reading and the slow: lines need not look alike, as those of a quick reading must.
Every line is decoded, and what is then done is done with all lines at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.vocabulary import Vocabulary
from valor_cli.readers.score_files import ScoreReading, Side
from valor_cli.readers.score_json_shape import ITEM_LABELS, ITEM_SCORES
from valor_cli.readers.score_jsonl_rows import KeyNames, named
from valor_cli.readers.score_pieces import id_column, object_column
from valor_cli.readers.score_rows import Ints, ScorePiece, Sifted, others

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
_Listed: TypeAlias = tuple[Sequence[Any], Sequence[Any], int]
"""Labels of a line, their scores, and under how many keys the two stand."""

_ANY: Final = msgspec.json.Decoder()
_NUMBERS: Final = frozenset({float, int})
_TEXTS: Final = frozenset({str})
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_TEXT: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_NOTHING: Final[_Listed] = (), (), 0


class _Item(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    label: str
    score: float


_Value: TypeAlias = bool | int | float | str | list[_Item] | dict[str, Any] | None
_USUAL: Final = msgspec.json.Decoder(dict[str, _Value])
"""Lines as most are: a third faster than those of anything."""


class _Keys(NamedTuple):
    """What the keys of a line are called; None for those that are not there or not read."""

    sample_id: str
    label: str | None
    many: str | None
    single: str | None
    score: str | None
    label_key: str | None


class _Lists(NamedTuple):
    """What lines list, one after the other.

    Attributes:
        counts: How many labels each line lists.
        labels, scores: Of all lines; of whatever kind.
        found: Under how many keys these stand; to be added up.
        odd: Lines whose lists are unusual; they list nothing here.
    """

    counts: list[int]
    labels: list[Any]
    scores: list[Any]
    found: list[int]
    odd: list[int]


class _UnusualLineError(Exception):
    """A line that is left to the slow reading."""


class DecodedScoreLines:
    """Reads lines whose values are of the usual kinds."""

    __slots__ = (
        "_codes",
        "_keys",
        "_known",
        "_labels",
        "_metadata",
        "_names",
        "_probable",
        "_side",
    )

    def __init__(
        self, side: Side, reading: ScoreReading, labels: Vocabulary, keys: Vocabulary
    ) -> None:
        """Say where things go.

        Args:
            side: What the file holds; metadata is read of ground truth and of samples.
            reading: How to read it.
            labels, keys: Names seen so far; new ones are added.
        """
        self._side = side
        self._names = KeyNames.of(reading)
        self._metadata = [] if side == "predictions" else list(reading.metadata)
        self._probable = reading.probabilities
        self._labels = labels
        self._keys = keys
        self._known: dict[tuple[str, ...], _Keys | None] = {(): None}
        self._codes = {"": -1}

    def sifted(self, lines: Sequence[bytes], numbers: Ints) -> Sifted:
        """The samples of lines that have these numbers; left out are those of unusual values."""
        records = _decoded(lines)
        shapes = [tuple(one) if type(one) is dict else () for one in records]
        for shape in set(shapes) - self._known.keys():
            self._known[shape] = self._meant(shape)
        meant = [self._known[shape] for shape in shapes]
        place = np.flatnonzero(np.array([one is not None for one in meant], np.bool_))
        if len(place) < len(lines):
            records = [records[at] for at in place.tolist()]
            lines = [lines[at] for at in place.tolist()]
        keys = [one for one in meant if one is not None]
        piece = self._piece(records, keys, lines, numbers[place])
        return Sifted(piece, others(np.searchsorted(numbers, piece.line), len(meant)), len(meant))

    def _piece(
        self, records: Sequence[Any], keys: Sequence[_Keys], lines: Sequence[bytes], numbers: Ints
    ) -> ScorePiece:
        """The samples of objects whose keys are usual, less those with unusual values."""
        ids, sound = _texts(_column(records, [one.sample_id for one in keys]))
        truths, fine = _texts(_column(records, [one.label for one in keys]))
        named_keys = _column(records, [one.label_key for one in keys])
        label_keys, usual = _texts(named_keys)
        sound &= fine & usual
        if not all(ids) or "\0" in "".join(ids):
            sound &= _each(ids, lambda one: one != "" and "\0" not in one)
        if "" in named_keys:
            sound &= _each(named_keys, lambda one: one != "")
        metadata = {name: _metadata(records, name) for name in self._metadata}
        for values in metadata.values():
            if not set(map(type, values)) <= _SCALARS:
                sound &= _each(values, lambda one: type(one) in _SCALARS)
        lists = _lists(records, keys)
        row = np.repeat(np.arange(len(records)), lists.counts)
        score, fine = self._scores(lists)
        sound[row[~fine]] = False
        sound[lists.odd] = False
        sound &= _distinct_keys(records, lines, sum(lists.found))
        truth, label = self._coded(truths, lists.labels, row, sound)
        chosen, listed = np.flatnonzero(sound).tolist(), sound[row]
        scored, labelled = self._side != "ground_truth", self._side != "predictions"
        key = _coded([label_keys[at] for at in chosen], self._keys)
        return ScorePiece(
            sample_id=id_column([ids[at].encode() for at in chosen]),
            line=numbers[sound],
            key=key if (key >= 0).any() else None,
            truth=truth[sound] if labelled else None,
            count=np.array(lists.counts, np.int64)[sound] if scored else None,
            label=label[listed] if scored else None,
            score=score[listed] if scored else None,
            metadata={name: object_column(values)[sound] for name, values in metadata.items()},
        )

    def _scores(self, lists: _Lists) -> tuple[Floats, Bools]:
        """(e,) scores, and which of them are sound and have sound labels."""
        try:
            usual = set(map(type, lists.scores)) <= _NUMBERS
            score = np.array(lists.scores if usual else list(map(_number, lists.scores)), float)
        except OverflowError:
            score = np.array(list(map(_number, lists.scores)), float)
        sound = np.isfinite(score)
        if self._probable:
            sound &= (score >= 0) & (score <= 1)
        if not set(map(type, lists.labels)) <= _TEXTS or "" in lists.labels:
            sound &= _each(lists.labels, lambda one: type(one) is str and one != "")
        return score, sound

    def _coded(
        self, truths: Sequence[str], labels: Sequence[Any], row: Ints, sound: Bools
    ) -> tuple[Ints, Ints]:
        """(n,) codes of the true labels and (e,) of those listed; -1 for no text.

        Lines that list a label twice become unsound. New names are numbered line by line, the true
        label first; those of unsound lines are not.
        """
        if not set(map(type, labels)) <= _TEXTS:
            labels = [one if type(one) is str else "" for one in labels]
        names: Mapping[str, int] = self._codes
        known = names.keys() >= {*truths, *labels}
        if not known:
            names = {name: at for at, name in enumerate(dict.fromkeys(chain(truths, labels)))}
        truth, label = (_numbered(column, names) for column in (truths, labels))
        pairs = np.sort(row * (len(names) + 1) + label)
        sound[pairs[1:][pairs[1:] == pairs[:-1]] // (len(names) + 1)] = False
        if known:
            return truth, label
        texts = list(names)
        for at in _as_met(np.where(sound, truth, -1), np.where(sound[row], label, -1), row):
            if texts[at] not in self._codes:
                self._codes[texts[at]] = self._labels.code(texts[at].encode())
        codes = np.array([self._codes.get(name, -1) for name in texts], np.int64)
        return codes[truth], codes[label]

    def _meant(self, record: Collection[str]) -> _Keys | None:
        """What the keys of a line mean; None if there is anything unusual about them."""
        names, side = self._names, self._side
        sample_id = named(record, names.sample_id)
        scored, labelled = side != "ground_truth", side != "predictions"
        label = named(record, names.label) if labelled else None
        many = named(record, names.predictions) if scored else None
        single = named(record, names.prediction) if scored else None
        if (
            sample_id is None
            or (many is not None and single is not None)
            or (side == "predictions" and many is None and single is None)
            or (side == "ground_truth" and label is None)
        ):
            return None
        score = named(record, names.score) if single is not None else None
        return _Keys(sample_id, label, many, single, score, named(record, names.label_key))


def _decoded(lines: Sequence[bytes]) -> Sequence[Any]:
    """The lines, None for those that are no JSON."""
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


def _column(records: Sequence[Any], names: Sequence[str | None]) -> list[Any]:
    """The value of each line under the name that it has there; None without one."""
    distinct = set(names)
    if len(distinct) == 1:
        name = names[0]
        return [None] * len(names) if name is None else [record[name] for record in records]
    pairs = zip(records, names, strict=True)
    return [None if name is None else record[name] for record, name in pairs]


def _metadata(records: Sequence[Any], name: str) -> list[Any]:
    """The value of each line under a name, or else under that name in its metadata."""
    return [record[name] if name in record else _inner(record, name) for record in records]


def _inner(record: dict[str, Any], name: str) -> Any:
    inner = record.get("metadata")
    return inner.get(name) if type(inner) is dict else None


def _each(values: Sequence[Any], holds: Callable[[Any], bool]) -> Bools:
    """Of which values something holds."""
    return np.fromiter(map(holds, values), np.bool_, len(values))


def _texts(values: list[Any]) -> tuple[list[str], Bools]:
    """Ids or labels as texts, empty for none; and which are usual."""
    if set(map(type, values)) <= _TEXTS:
        return values, np.ones(len(values), np.bool_)
    texts = list(map(_text, values))
    return ["" if one is None else one for one in texts], _each(texts, lambda one: one is not None)


def _text(value: Any) -> str | None:
    """A text, or a whole number that can be written in one way only; empty for null."""
    if type(value) is str:
        return value
    if type(value) is int and value:
        return str(value)
    return "" if value is None else None


def _coded(names: Sequence[str], vocabulary: Vocabulary) -> Ints:
    """The code of each name; -1 for the empty one."""
    distinct = dict.fromkeys(names)
    codes = {name: vocabulary.code(name.encode()) if name else -1 for name in distinct}
    return _numbered(names, codes)


def _numbered(names: Sequence[str], numbers: Mapping[str, int]) -> Ints:
    return np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))


def _as_met(truth: Ints, label: Ints, row: Ints) -> list[int]:
    """Codes in the order in which lines say them, the true label first; none below 0."""
    place = np.arange(len(truth)) + np.searchsorted(row, np.arange(len(truth)))
    met = np.empty(len(truth) + len(label), np.int64)
    met[place] = truth
    behind = np.ones(len(met), np.bool_)
    behind[place] = False
    met[behind] = label
    codes, first = np.unique(met, return_index=True)
    codes = codes[np.argsort(first)]
    found: list[int] = codes[codes >= 0].tolist()
    return found


def _distinct_keys(records: Sequence[Any], lines: Sequence[bytes], found: int) -> Bools:
    """Which lines have no key that stands twice: one of the two was lost, and its colon was not.

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


def _number(value: Any) -> float:
    """A score; NaN for what is none."""
    try:
        return float(value) if type(value) in _NUMBERS else math.nan
    except OverflowError:
        return math.nan


def _lists(records: Sequence[Any], keys: Sequence[_Keys]) -> _Lists:
    """What the lines list."""
    many = _column(records, [one.many for one in keys])
    if all(one.single is None for one in keys):
        found = _alike(many)
        if found is not None:
            return found
    lists = _Lists([], [], [], [], [])
    for at, (record, one) in enumerate(zip(records, keys, strict=True)):
        try:
            labels, scores, found_keys = (
                _listed(many[at]) if one.single is None else _single(record, one.single, one.score)
            )
        except (_UnusualLineError, KeyError, TypeError):
            labels, scores, found_keys = _NOTHING
            lists.odd.append(at)
        lists.counts.append(len(labels))
        lists.labels.extend(labels)
        lists.scores.extend(scores)
        lists.found.append(found_keys)
    return lists


def _alike(many: Sequence[Any]) -> _Lists | None:
    """What lines list that all have an object, or all a list of objects; None for others."""
    kinds = set(map(type, many))
    counts = list(map(len, many)) if kinds <= {dict, list} else []
    if kinds == {dict}:
        scores = list(chain.from_iterable(one.values() for one in many))
        return _Lists(counts, list(chain.from_iterable(many)), scores, counts, [])
    items = list(chain.from_iterable(many)) if kinds == {list} else []
    if set(map(type, items)) != {_Item}:
        return None
    labels, scores = (list(map(attrgetter(name), items)) for name in ("label", "score"))
    return _Lists(counts, labels, scores, [2 * len(items)], [])


def _single(record: dict[str, Any], single: str, score: str | None) -> _Listed:
    """The one label of a line, and its score."""
    label = _text(record[single])
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
        label, score = (str(named(first, names)) for names in (ITEM_LABELS, ITEM_SCORES))
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
