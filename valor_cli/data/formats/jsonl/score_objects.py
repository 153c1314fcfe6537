"""Parse decoded JSON lines in bulk and leave unusual ones to the slow path.

Between the fast and the slow path: lines need not have the same layout. Each line is decoded, and
the rest is done for all lines at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.jsonl.score_lists import (
    Keys,
    Lists,
    column,
    decoded,
    distinct_keys,
    lists_of,
    text_of,
)
from valor_cli.data.formats.jsonl.score_rows import KeyNames, WideKeys
from valor_cli.data.json_records import first_of
from valor_cli.data.shapes.scores.fields import probable
from valor_cli.data.shapes.scores.pieces import id_column, object_column
from valor_cli.data.shapes.scores.rows import Ints, ParsedRows, ScorePiece, others
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side
from valor_cli.kernels.columns.vocabulary import Vocabulary

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
_NUMBERS: Final = frozenset({float, int})
_TEXTS: Final = frozenset({str})
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


class DecodedScoreLines:
    """Reads lines with values of the usual types."""

    __slots__ = (
        "_codes",
        "_keys",
        "_known",
        "_labels",
        "_metadata",
        "_names",
        "_probable",
        "_side",
        "_wide",
    )

    def __init__(
        self,
        side: Side,
        reading: ScoreReading,
        labels: Vocabulary,
        keys: Vocabulary,
        wide: WideKeys | None = None,
    ) -> None:
        """Initialise with the columns to fill.

        Args:
            side: What the file holds; metadata is read of ground truth and of samples.
            reading: How to read it.
            labels, keys: Names seen so far; new ones are added.
            wide: The classes, where lines have a key for each: such lines are left out.
        """
        self._wide = wide is not None
        self._side = side
        self._names = KeyNames.of(reading)
        self._metadata = [] if side == "predictions" else list(reading.metadata)
        self._probable = reading.probabilities
        self._labels = labels
        self._keys = keys
        self._known: dict[tuple[str, ...], Keys | None] = {(): None}
        self._codes = {"": -1}

    def parse(self, lines: Sequence[bytes], numbers: Ints) -> ParsedRows:
        """Parse lines with these numbers, without those with unusual values."""
        records = decoded(lines)
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
        return ParsedRows(
            piece, others(np.searchsorted(numbers, piece.line), len(meant)), len(meant)
        )

    def _piece(
        self, records: Sequence[Any], keys: Sequence[Keys], lines: Sequence[bytes], numbers: Ints
    ) -> ScorePiece:
        """The samples of objects whose keys are usual, less those with unusual values."""
        ids, sound = _texts(column(records, [one.sample_id for one in keys]))
        truths, fine = _texts(column(records, [one.label for one in keys]))
        named_keys = column(records, [one.label_key for one in keys])
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
        lists = lists_of(records, keys)
        row = np.repeat(np.arange(len(records)), lists.counts)
        score, fine = self._scores(lists)
        sound[row[~fine]] = False
        sound[lists.rejected] = False
        sound &= distinct_keys(records, lines, sum(lists.found))
        truth, label = self._coded(truths, lists.labels, row, sound)
        chosen, listed = np.flatnonzero(sound).tolist(), sound[row]
        scored, labelled = self._side != "ground_truth", self._side != "predictions"
        key = _codes_of([label_keys[at] for at in chosen], self._keys)
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

    def _scores(self, lists: Lists) -> tuple[Floats, Bools]:
        """(e,) scores, and which of them are valid and have valid labels."""
        try:
            usual = set(map(type, lists.scores)) <= _NUMBERS
            score = np.array(lists.scores if usual else list(map(_number, lists.scores)), float)
        except OverflowError:
            score = np.array(list(map(_number, lists.scores)), float)
        sound = np.isfinite(score)
        if self._probable:
            sound &= probable(score)
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

    def _meant(self, record: Collection[str]) -> Keys | None:
        """What the keys of a line mean; None if there is anything unusual about them."""
        names, side = self._names, self._side
        sample_id = first_of(names.sample_id, record)
        scored, labelled = side != "ground_truth", side != "predictions"
        label = first_of(names.label, record) if labelled else None
        many = first_of(names.predictions, record) if scored else None
        single = first_of(names.prediction, record) if scored else None
        if (
            sample_id is None
            or (many is not None and single is not None)
            or ((side == "predictions" or self._wide) and many is None and single is None)
            or (side == "ground_truth" and label is None)
        ):
            return None
        score = first_of(names.score, record) if single is not None else None
        return Keys(sample_id, label, many, single, score, first_of(names.label_key, record))


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
    texts = list(map(text_of, values))
    return ["" if one is None else one for one in texts], _each(texts, lambda one: one is not None)


def _codes_of(names: Sequence[str], vocabulary: Vocabulary) -> Ints:
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


def _number(value: Any) -> float:
    """A score; NaN for what is none."""
    try:
        return float(value) if type(value) in _NUMBERS else math.nan
    except OverflowError:
        return math.nan
