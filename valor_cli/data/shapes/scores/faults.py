"""Say what is wrong with rows of labels and scores that could not be used."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from valor_cli.data.batch import Fault
from valor_cli.data.column_names import indicator_in, number_in, quoted
from valor_cli.data.json_records import (
    DuplicateKey,
    Number,
    Record,
    first_of,
    json_or_none,
    present_keys,
    said,
    scalar_text,
)
from valor_cli.data.schema import Path, cell_of, dotted, value_at
from valor_cli.data.shapes.scores.layout import NAME_CLASSES, PROBABLE, ScoreLayout
from valor_cli.data.shapes.scores.schema import ITEM_LABELS, ITEM_SCORES
from valor_cli.data.shapes.scores.score_file import Side
from valor_cli.data.values import is_text, shortened
from valor_cli.errors import printable

_SHOWN = 40
_FORMS = (
    'expected an object {"label": score}, or a list of {"label": …, "score": …} '
    "or of [label, score]"
)

_INDICATOR: Final = "expected 0 or 1, whether the sample has this label"
_SEVERAL_HINT: Final = "; if samples have several labels, write `multi_label: true` under `data:`"


class CellFaults:
    """Checks rows of cells."""

    def __init__(self, layout: ScoreLayout, *, typed: bool = False) -> None:
        """Initialise with the columns.

        Args:
            layout: What they mean.
            typed: Whether the columns have types, so that no text is read as a number.
        """
        self._layout = layout
        self._ways = layout.ways(())
        self._probabilities = layout.reading.probabilities
        self._note = "" if typed or layout.reading.classes else NAME_CLASSES
        self._typed = typed

    def of(self, record: Mapping[str, Any]) -> list[Fault]:
        """The faults of a row, from its values by column."""
        layout, faults = self._layout, list[Fault]()
        for name in layout.metadata if self._typed else ():
            value = record.get(name)
            if isinstance(value, float) and not isinstance(value, Number):
                _add(faults, (name,), f"expected a finite number, found {value}")
        if faults:
            return faults
        way = self._ways["sample_id"][0]
        sample_id = cell_of(record, way)
        if not sample_id or "\0" in sample_id:
            found = "one with a NUL character" if sample_id else "nothing"
            _add(faults, way, f"expected the id of a sample, found {found}")
        for way in self._ways["label_key"]:
            if not cell_of(record, way):
                _add(faults, way, "expected a label key, found nothing")
        for way in self._ways["label"]:
            self._labels(faults, record, way)
        classes: list[Path] = [(name,) for name in layout.classes] if layout.wide else []
        if layout.indicated:
            for way in classes:
                if indicator_in(cell := cell_of(record, way)) is None:
                    found = quoted(cell) if cell.strip() else "nothing"
                    _add(faults, way, f"{_INDICATOR}, found {found}{self._note}")
        elif any(cell_of(record, way).strip() for way in classes):
            for way in classes:
                self._number(faults, record, way, self._note)
        listed: dict[str, Path] = {}
        for way, score_way in layout.pairs:
            label, score = cell_of(record, way), cell_of(record, score_way).strip()
            if not score_way:
                self._labels(faults, record, way)
            if not label:
                if score:
                    shown = printable(score[:_SHOWN])
                    message = f"expected a label for the score {shown}, found nothing"
                    _add(faults, way, message)
                continue
            if label in listed:
                message = f"duplicate label {quoted(label)}, also under {_name(listed[label])}"
                _add(faults, way, message)
            listed[label] = way
            if score_way:
                self._number(faults, record, score_way)
        return faults

    def _labels(self, faults: list[Fault], record: Mapping[str, Any], way: Path) -> None:
        """The labels of a cell, where it may have several."""
        reading, values = self._layout.reading, value_at(record, way)
        if not reading.several:
            return
        if isinstance(values, str) and reading.separator:
            values = values.strip(" ") and [
                one.strip(" ") for one in values.split(reading.separator)
            ]
        elif isinstance(values, str) and values.startswith("["):
            shown, values = printable(values[:_SHOWN]), json_or_none(values.encode())
            if not isinstance(values, list):
                message = f'expected a JSON list of labels, as ["cat"], found {shown}'
                _add(faults, way, message)
        if isinstance(values, list):
            faults += list_faults(values, _name(way))

    def _number(
        self, faults: list[Fault], record: Mapping[str, Any], way: Path, note: str = ""
    ) -> None:
        cell = cell_of(record, way)
        if self._typed and cell in ("nan", "inf", "-inf"):
            _add(faults, way, f"expected a finite number, found {cell}")
            return
        value, fault = number_in(cell, note)
        if not fault and self._probabilities and not PROBABLE[0] <= value <= PROBABLE[1]:
            fault = f"expected a probability from 0 to 1, found {cell.strip()}"
        if fault:
            _add(faults, way, fault)


def _add(faults: list[Fault], way: Path, message: str) -> None:
    faults.append((_name(way), message))


def _name(way: Path) -> str:
    """A column as the file calls it."""
    return printable(dotted(way)[:_SHOWN])


def list_faults(values: Sequence[object], place: str) -> Iterator[Fault]:
    """What is wrong with a list of labels."""
    seen = set[str]()
    for at, one in enumerate(values):
        text = scalar_text(one)
        if not text:
            found = "nothing" if one in ("", None) else said(one)
            yield f"{place}[{at}]", f"expected a label, found {found}"
        elif text in seen:
            yield f"{place}[{at}]", f"the label {quoted(text)} is listed twice"
        seen.add(text or "")


class RecordFaults:
    """Checks values of JSON, as of `json_records.parsed`."""

    def __init__(self, side: Side, layout: ScoreLayout) -> None:
        self._side = side
        self._layout = layout
        self._reading = layout.reading
        self._ways: Mapping[str, Sequence[Path]] = {}
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
        self._faults.append((place, message))

    def _said(self, record: Record, field: str) -> tuple[str, Any] | None:
        """The first value that a row has of a field, with its place."""
        for way in self._ways[field]:
            outer = value_at(record, way[:-1]) if way[1:] else record
            if isinstance(outer, dict) and way[-1] in outer:
                return dotted(way), outer[str(way[-1])]
            if isinstance(outer, list) and (value := value_at(record, way)) is not None:
                return dotted(way), value
        return None

    def _record(self, record: Record) -> None:
        self._ways = self._layout.ways(record)
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
        said_id = self._said(record, "sample_id")
        if said_id is None:
            name = self._layout.name("sample_id")
            self._note("", f'"{name}" is missing ({present_keys(record)})')
            return
        name, value = said_id
        text = None if isinstance(value, bool) else scalar_text(value)
        if text is None:
            self._note(name, f"expected a string or a number, found {said(value)}")
        elif not text or "\0" in text:
            found = "one with a NUL character" if text else "nothing"
            self._note(name, f"expected the id of a sample, found {found}")

    def _truths(self, record: Record) -> set[str | None]:
        """The label keys of the true labels, None without."""
        label = self._said(record, "label")
        if self._layout.indicated:
            self._indicators(record, label)
            return {None}
        if label is not None:
            return set(self._labels(label[1], label[0]))
        if self._side == "ground_truth":
            name = self._layout.name("label")
            self._note("", f'"{name}" is missing ({present_keys(record)})')
        return set()

    def _indicators(self, record: Record, label: tuple[str, Any] | None) -> None:
        """Whether the sample has each label."""
        if label is not None:
            self._note(label[0], "expected no labels beside a key for each label")
        for name in self._layout.classes:
            if name not in record:
                self._note("", f'"{name}" is missing ({present_keys(record)})')
            elif record[name] not in (0, 1):
                note = "" if self._reading.classes else NAME_CLASSES
                self._note(name, f"{_INDICATOR}, found {said(record[name])}{note}")

    def _predictions(self, record: Record) -> set[str | None]:
        """The label keys of what is predicted, None without; nothing where nothing is."""
        many, single = (self._said(record, field) for field in ("predictions", "prediction"))
        if many is not None and (many[1] is not None or single is None):
            return self._many(many[1], many[0])
        if single is not None:
            at, score = self._said(record, "score") or ("", None)
            if self._reading.several and isinstance(single[1], list):
                if score is not None:
                    name = self._layout.name("predictions")
                    message = f'give each label its score under "{name}"'
                    self._note(at, f"expected no score of a list of labels: {message}")
                return self._many(single[1], single[0])
            return self._single(single[1], score, single[0], at)
        if self._layout.wide:
            self._by_class(record)
            return {None}
        if self._layout.pairs:
            return self._pairs(record)
        if self._side == "predictions":
            expected = " or ".join(
                f'"{self._layout.name(field)}"' for field in ("predictions", "prediction")
            )
            self._note("", f"{expected} is missing ({present_keys(record)})")
        return set()

    def _pairs(self, record: Record) -> set[str | None]:
        """Labels and scores under numbered names, which have no label keys."""
        listed, labels = set[str | None]([None]), set[str]()
        for way, score_way in self._layout.pairs:
            label, score = value_at(record, way), value_at(record, score_way)
            listed |= self._single(label, score, dotted(way), dotted(score_way))
            if (text := scalar_text(label)) in labels:
                self._note(dotted(way), f"the label {quoted(text or '')} is listed twice")
            labels.add(text or "")
        return listed

    def _by_class(self, record: Record) -> None:
        """A score for each class; no prediction if all are null."""
        names, others = self._layout.classes, self._layout.others
        known = record.keys() if others is None else others
        if other := [name for name in record if name not in known]:
            self._note(other[0], f"the first line has no such key{NAME_CLASSES}")
        if missing := [name for name in names if name not in record]:
            self._note("", f'"{missing[0]}" is missing ({present_keys(record)})')
            return
        if all(record[name] is None for name in names):
            return
        for name in names:
            value = record[name]
            if isinstance(value, float) or self._reading.classes:
                self._number(value, name)
            else:
                self._note(name, f"expected a number, found {said(value)}{NAME_CLASSES}")

    def _label_keys(self, record: Record, truths: set[str | None], listed: set[str | None]) -> None:
        name, key = self._said(record, "label_key") or ("", None)
        if key is not None:
            if not scalar_text(key):
                self._note(name, f"expected a label key, found {said(key)}")
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
            return [None] if self._label(value, place) else []
        self._distinct(value, place)
        if not value:
            self._note(place, "expected a label for each label key, found an empty object")
        for key, one in value.items():
            self._key(key, "label key", place)
            self._label(one, _inner(place, key))
        return list(value)

    def _label(self, value: object, place: str) -> bool:
        """Whether a value says what the label is, or the labels."""
        if not isinstance(value, list):
            return bool(self._text(value, place))
        if self._reading.several:
            self._faults += list_faults(value, place)
        else:
            self._note(place, f"expected a label, found {said(value)}{_SEVERAL_HINT}")
        return True

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
        elif isinstance(one, str) and self._reading.several:
            values, places = (one, Number("1")), (place, place)
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
    return f"{place}.{printable(shortened(key))}"
