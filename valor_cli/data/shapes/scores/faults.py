"""Say what is wrong with rows of labels and scores that could not be used."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from valor_cli.data.column_names import number_in, quoted
from valor_cli.data.json_records import (
    DuplicateKey,
    Number,
    Record,
    first_of,
    present_keys,
    said,
    scalar_text,
)
from valor_cli.data.shapes.scores.header import (
    NAME_CLASSES,
    PROBABLE,
    KeyNames,
    ScoreHeader,
    WideKeys,
)
from valor_cli.data.shapes.scores.score_file import ITEM_LABELS, ITEM_SCORES, ScoreReading, Side
from valor_cli.data.values import is_text
from valor_cli.errors import printable

_SHOWN = 40
_FORMS = (
    'expected an object {"label": score}, or a list of {"label": …, "score": …} '
    "or of [label, score]"
)


class Fault(NamedTuple):
    """What is wrong at a place of a row: a column, or "predictions.cat"."""

    place: str
    message: str


class CellFaults:
    """Checks rows of cells."""

    def __init__(self, header: ScoreHeader, reading: ScoreReading, *, typed: bool = False) -> None:
        """Initialise with the columns.

        Args:
            header: What they mean.
            reading: How they are read.
            typed: Whether the columns have types, so that no text is read as a number.
        """
        self._header = header
        self._probabilities = reading.probabilities
        self._note = "" if typed or reading.classes else NAME_CLASSES
        self._typed = typed

    def of(self, cells: Sequence[str], floats: Collection[int] = ()) -> list[Fault]:
        """The faults of a row.

        Args:
            cells: Its cells as text.
            floats: Positions of metadata that are numbers.
        """
        header, faults = self._header, list[Fault]()
        for at in floats:
            if not _is_finite(cells[at]):
                self._add(faults, at, f"expected a finite number, found {cells[at]}")
        if faults:
            return faults
        sample_id = cells[header.sample_id]
        if not sample_id or "\0" in sample_id:
            found = "one with a NUL character" if sample_id else "nothing"
            self._add(faults, header.sample_id, f"expected the id of a sample, found {found}")
        if header.key is not None and not cells[header.key]:
            self._add(faults, header.key, "expected a label key, found nothing")
        if any(cells[at].strip() for _, at in header.classes):
            for _, at in header.classes:
                self._number(faults, cells, at, self._note)
        listed: dict[str, int] = {}
        for label_at, score_at in header.pairs:
            label = cells[label_at]
            if not label:
                if score_at >= 0 and cells[score_at].strip():
                    shown = printable(cells[score_at].strip()[:_SHOWN])
                    message = f"expected a label for the score {shown}, found nothing"
                    self._add(faults, label_at, message)
                continue
            if label in listed:
                name = self._name(listed[label])
                self._add(faults, label_at, f"duplicate label {quoted(label)}, also under {name}")
            listed[label] = label_at
            if score_at >= 0:
                self._number(faults, cells, score_at)
        return faults

    def _number(self, faults: list[Fault], cells: Sequence[str], at: int, note: str = "") -> None:
        if self._typed and not _is_finite(cells[at]):
            self._add(faults, at, f"expected a finite number, found {cells[at]}")
            return
        value, fault = number_in(cells[at], note)
        if not fault and self._probabilities and not PROBABLE[0] <= value <= PROBABLE[1]:
            fault = f"expected a probability from 0 to 1, found {cells[at].strip()}"
        if fault:
            self._add(faults, at, fault)

    def _add(self, faults: list[Fault], at: int, message: str) -> None:
        faults.append(Fault(self._name(at), message))

    def _name(self, at: int) -> str:
        """A column as the file calls it."""
        return printable(self._header.names[at][:_SHOWN])


def _is_finite(cell: str) -> bool:
    """Whether a number of a typed column, as text, is finite."""
    return cell not in ("nan", "inf", "-inf")


class RecordFaults:
    """Checks values of JSON, as of `json_records.parsed`."""

    def __init__(
        self, side: Side, reading: ScoreReading, names: KeyNames, wide: WideKeys | None
    ) -> None:
        """Initialise with the keys.

        Args:
            side: What the file holds.
            reading: How it is read.
            names: What keys may be called.
            wide: The classes, where rows have a key for each.
        """
        self._side = side
        self._reading = reading
        self._names = names
        self._wide = wide
        self._faults: list[Fault] = []

    def of(self, value: Any) -> list[Fault]:
        """The faults of a row."""
        self._faults = []
        if not isinstance(value, dict):
            self._note("", f"expected an object with a sample_id, found {said(value)}")
        elif isinstance(value, DuplicateKey):
            self._note(value.key, "duplicate key in this object")
        else:
            self._record(value)
        return self._faults

    def _note(self, place: str, message: str) -> None:
        self._faults.append(Fault(place, message))

    def _record(self, record: Record) -> None:
        self._sample_id(record)
        truths, listed = set[str | None](), set[str | None]()
        if self._side != "predictions":
            truths = self._truths(record)
        if self._side != "ground_truth":
            listed = self._predictions(record)
        self._label_keys(record, truths, listed)
        if self._side != "predictions":
            self._metadata(record)

    def _sample_id(self, record: Record) -> None:
        name = first_of(self._names.sample_id, record)
        if name is None:
            self._note("", f'"{self._names.sample_id[0]}" is missing ({present_keys(record)})')
            return
        value = record[name]
        text = None if isinstance(value, bool) else scalar_text(value)
        if text is None:
            self._note(name, f"expected a string or a number, found {said(value)}")
        elif not text or "\0" in text:
            found = "one with a NUL character" if text else "nothing"
            self._note(name, f"expected the id of a sample, found {found}")

    def _truths(self, record: Record) -> set[str | None]:
        """The label keys of the true labels, None without."""
        name = first_of(self._names.label, record)
        if name is not None:
            return set(self._labels(record[name], name))
        if self._side == "ground_truth":
            self._note("", f'"{self._names.label[0]}" is missing ({present_keys(record)})')
        return set()

    def _predictions(self, record: Record) -> set[str | None]:
        """The label keys of what is predicted, None without; nothing where nothing is."""
        names = self._names
        many, single = first_of(names.predictions, record), first_of(names.prediction, record)
        if many is not None and (record[many] is not None or single is None):
            return self._many(record[many], many)
        if single is not None:
            score = first_of(names.score, record)
            value = None if score is None else record[score]
            return self._single(record[single], value, single, score or "")
        if self._wide is not None:
            self._by_class(record, self._wide)
            return {None}
        if self._side == "predictions":
            expected = f'"{names.predictions[0]}" or "{names.prediction[0]}"'
            self._note("", f"{expected} is missing ({present_keys(record)})")
        return set()

    def _by_class(self, record: Record, wide: WideKeys) -> None:
        """A score for each class; no prediction if all are null."""
        known = record.keys() if wide.others is None else wide.others
        if other := [name for name in record if name not in known]:
            self._note(other[0], f"the first line has no such key{NAME_CLASSES}")
        if missing := [name for name in wide.names if name not in record]:
            self._note("", f'"{missing[0]}" is missing ({present_keys(record)})')
            return
        if all(record[name] is None for name in wide.names):
            return
        for name in wide.names:
            value = record[name]
            if isinstance(value, float) or wide.named:
                self._number(value, name)
            else:
                self._note(name, f"expected a number, found {said(value)}{NAME_CLASSES}")

    def _label_keys(self, record: Record, truths: set[str | None], listed: set[str | None]) -> None:
        name = first_of(self._names.label_key, record)
        if name is not None and record[name] is not None:
            if not scalar_text(record[name]):
                self._note(name, f"expected a label key, found {said(record[name])}")
            elif {*truths, *listed} - {None}:
                message = "expected no label keys elsewhere in the line, found an object of them"
                self._note(name, message)
        elif {*truths, *listed} - {None} and None in {*truths, *listed}:
            keyed, bare = ("predictions", "labels") if None in truths else ("labels", "predictions")
            self._note("", f"{keyed} have label keys, but {bare} do not")

    def _metadata(self, record: Record) -> None:
        inner = record.get("metadata")
        inner = inner if isinstance(inner, dict) else {}
        for name in self._reading.metadata:
            outside = name in record or name not in inner
            value = record.get(name) if outside else inner[name]
            place = name if outside else f"metadata.{name}"
            if isinstance(value, list | dict):
                self._note(place, f"expected a single value, found {said(value)}")
            elif isinstance(value, str) and not is_text(value):
                self._note(place, f"expected Unicode text, found {said(value)}")
            elif isinstance(value, float) and not isinstance(value, Number):
                self._note(place, f"expected a finite number, found {said(value)}")

    def _labels(self, value: object, place: str) -> list[str | None]:
        """The label keys that have a label, None for a label without."""
        if not isinstance(value, dict):
            return [None] if self._text(value, place) else []
        self._distinct(value, place)
        if not value:
            self._note(place, "expected a label for each label key, found an empty object")
        for key, one in value.items():
            self._key(key, "label key", place)
            self._text(one, _inner(place, key))
        return list(value)

    def _text(self, value: object, place: str) -> str:
        """A label; empty if none."""
        text = "" if value is None else scalar_text(value)
        if text is None:
            self._note(place, f"expected a label, found {said(value)}")
        return text or ""

    def _many(self, value: object, place: str) -> set[str | None]:
        if isinstance(value, dict) and any(isinstance(one, dict | list) for one in value.values()):
            self._distinct(value, place)
            for key, one in value.items():
                self._key(key, "label key", place)
                self._listed(one, _inner(place, key))
            return set(value)
        self._listed(value, place)
        return {None} if value else set()

    def _single(self, value: object, score: object, place: str, at: str) -> set[str | None]:
        """A predicted label, perhaps by label key, with its score."""
        if isinstance(value, dict) and any(isinstance(one, Number) for one in value.values()):
            self._note(place, 'expected a label, found scores: write them under "predictions"')
            return set()
        keys = [] if value == {} else self._labels(value, place)
        for key in keys:
            one = score.get(key) if isinstance(score, dict) and key is not None else score
            if one is not None:
                self._number(one, at if key is None else _inner(at, key))
        if not keys and score is not None and not isinstance(score, dict):
            self._note(place, f"expected a label for the score {said(score)}, found nothing")
        return set(keys)

    def _number(self, value: object, place: str) -> None:
        if not isinstance(value, float):
            self._note(place, f"expected a number, found {said(value)}")
        elif not math.isfinite(value):
            self._note(place, f"expected a finite number, found {said(value)}")
        elif self._reading.probabilities and not PROBABLE[0] <= value <= PROBABLE[1]:
            self._note(place, f"expected a probability from 0 to 1, found {said(value)}")

    def _listed(self, value: object, place: str) -> None:
        """Labels and their scores, however they are written."""
        if value is None:
            return
        if isinstance(value, dict):
            self._distinct(value, place)
            for key, score in value.items():
                self._key(key, "label", place)
                self._number(score, _inner(place, key))
        elif not isinstance(value, list):
            self._note(place, f"{_FORMS}; found {said(value)}")
        elif value and all(isinstance(one, float) for one in value):
            self._scores_of_classes(value, place)
        else:
            labels = set[str]()
            for position, one in enumerate(value):
                self._item(labels, one, f"{place}[{position}]")

    def _scores_of_classes(self, value: Sequence[Any], place: str) -> None:
        expected = len(self._reading.classes)
        if not expected:
            message = (
                "a list of numbers needs the names of its classes, in their order: "
                "`classes:` under `data:`"
            )
            self._note(place, message)
        elif len(value) != expected:
            message = f"expected {expected} scores, one for each of `classes`, found {len(value)}"
            self._note(place, message)
        for at, one in enumerate(value):
            self._number(one, f"{place}[{at}]")

    def _item(self, labels: set[str], one: object, place: str) -> None:
        """An item of a list: an object with a label and a score, or a pair of the two."""
        if isinstance(one, dict):
            self._distinct(one, place)
            label, score = (first_of(keys, one) for keys in (ITEM_LABELS, ITEM_SCORES))
            if label is None or score is None:
                missing = [
                    f'"{keys[0]}"'
                    for keys, name in ((ITEM_LABELS, label), (ITEM_SCORES, score))
                    if name is None
                ]
                message = f"{' and '.join(missing)} is missing ({present_keys(one)})"
                self._note(place, message)
                return
            values, places = (one[label], one[score]), (f"{place}.{label}", f"{place}.{score}")
        elif isinstance(one, list) and len(one) == 2:
            values, places = (one[0], one[1]), (f"{place}[0]", f"{place}[1]")
        else:
            message = f'expected {{"label": …, "score": …}} or [label, score], found {said(one)}'
            self._note(place, message)
            return
        text = self._text(values[0], places[0])
        self._number(values[1], places[1])
        if not text and values[0] in ("", None):
            self._note(places[0], "expected a label, found nothing")
        if text in labels:
            self._note(places[0], f"the label {quoted(text)} is listed twice")
        labels.add(text)

    def _key(self, key: str, what: str, place: str) -> None:
        """A label or a label key that is a key of an object."""
        if not key or not is_text(key):
            self._note(place, f"expected a {what}, found {said(key) if key else 'an empty text'}")

    def _distinct(self, value: Mapping[str, Any], place: str) -> None:
        if isinstance(value, DuplicateKey):
            self._note(_inner(place, value.key), "duplicate key in this object")


def _inner(place: str, key: str) -> str:
    """The place of a value in an object."""
    shown = printable(key if len(key) <= _SHOWN else key[: _SHOWN - 1] + "…")
    return f"{place}.{shown}"
