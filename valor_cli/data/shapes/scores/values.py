"""Parse labels and predictions in JSON, by label key.

All supported notations are handled here, and each fault has its message and place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from valor_cli.data.column_names import quoted
from valor_cli.data.json_records import (
    DuplicateKey,
    Number,
    first_of,
    present_keys,
    said,
    scalar_text,
)
from valor_cli.data.shapes.scores.fields import PROBABLE
from valor_cli.data.shapes.scores.score_file import ITEM_LABELS, ITEM_SCORES
from valor_cli.data.values import is_text
from valor_cli.errors import printable

Listed: TypeAlias = dict[str, float]
"""Labels that a row lists, in order, with their scores."""

Note: TypeAlias = Callable[[str, str], None]
"""Takes a place in a line ("predictions.cat") and what is wrong there."""

_SHOWN = 40
_FORMS = (
    'expected an object {"label": score}, or a list of {"label": …, "score": …} '
    "or of [label, score]"
)


class ScoreValues:
    """Reads values line by line."""

    __slots__ = ("_classes", "_note", "_probabilities")

    def __init__(self, classes: Sequence[str], *, probabilities: bool, note: Note) -> None:
        self._classes = classes
        self._probabilities = probabilities
        self._note = note

    def labels(self, value: object, place: str) -> dict[str | None, str]:
        """The label of each key, under None without keys; empty for no label."""
        if not isinstance(value, dict):
            text = self.text(value, place)
            return {None: text} if text else {}
        self._distinct(value, place)
        if not value:
            self._note(place, "expected a label for each label key, found an empty object")
        found = {
            self._key(key, "label key", place): self.text(one, _inner(place, key))
            for key, one in value.items()
        }
        return {key: text or "" for key, text in found.items()}

    def text(self, value: object, place: str) -> str:
        """A label; empty if none."""
        if value is None:
            return ""
        text = scalar_text(value)
        if text is None:
            self._note(place, f"expected a label, found {said(value)}")
        return text or ""

    def predictions(self, value: object, place: str) -> dict[str | None, Listed]:
        """The listed labels of each key, under None without keys."""
        if isinstance(value, dict) and any(isinstance(one, dict | list) for one in value.values()):
            self._distinct(value, place)
            return {
                self._key(key, "label key", place): self._listed(one, _inner(place, key))
                for key, one in value.items()
            }
        return {None: self._listed(value, place)}

    def single(self, value: object, score: object, place: str, at: str) -> dict[str | None, Listed]:
        """The predicted label of each key with its score, 1 if there is none."""
        if isinstance(value, dict) and any(isinstance(one, Number) for one in value.values()):
            self._note(place, 'expected a label, found scores: write them under "predictions"')
            return {}
        found: dict[str | None, Listed] = {}
        for key, label in (self.labels(value, place) if value != {} else {}).items():
            one = score.get(key) if isinstance(score, dict) and key is not None else score
            number = (
                1.0 if one is None else self.number(one, at if key is None else _inner(at, key))
            )
            found[key] = {label: number} if label else {}
        if not found and score is not None and not isinstance(score, dict):
            self._note(place, f"expected a label for the score {said(score)}, found nothing")
        return found or {None: {}}

    def number(self, value: object, place: str) -> float:
        """A score."""
        if not isinstance(value, Number) and not (isinstance(value, float)):
            self._note(place, f"expected a number, found {said(value)}")
            return math.nan
        if not math.isfinite(value):
            self._note(place, f"expected a finite number, found {said(value)}")
        elif self._probabilities and not PROBABLE[0] <= value <= PROBABLE[1]:
            self._note(place, f"expected a probability from 0 to 1, found {said(value)}")
        return float(value)

    def _listed(self, value: object, place: str) -> Listed:
        """Labels and their scores, however they are written."""
        if value is None:
            return {}
        if isinstance(value, dict):
            self._distinct(value, place)
            return {
                self._key(key, "label", place): self.number(score, _inner(place, key))
                for key, score in value.items()
            }
        if not isinstance(value, list):
            self._note(place, f"{_FORMS}; found {said(value)}")
            return {}
        if value and all(isinstance(one, float) for one in value):
            return self._by_class(value, place)
        found: Listed = {}
        for position, one in enumerate(value):
            self._add(found, one, f"{place}[{position}]")
        return found

    def _by_class(self, value: Sequence[Any], place: str) -> Listed:
        """A list of bare numbers."""
        expected = len(self._classes)
        if not expected:
            message = (
                "a list of numbers needs the names of its classes, in their order: "
                "`classes:` under `data:`"
            )
            self._note(place, message)
        elif len(value) != expected:
            message = f"expected {expected} scores, one for each of `classes`, found {len(value)}"
            self._note(place, message)
        scores = [self.number(one, f"{place}[{at}]") for at, one in enumerate(value)]
        return dict(zip(self._classes, scores, strict=False))

    def _add(self, found: Listed, one: object, place: str) -> None:
        """An item of a list: an object with a label and a score, or a pair of the two."""
        if isinstance(one, dict):
            self._distinct(one, place)
            names = [first_of(keys, one) for keys in (ITEM_LABELS, ITEM_SCORES)]
            if None in names:
                missing = " and ".join(
                    f'"{keys[0]}"'
                    for keys, name in zip((ITEM_LABELS, ITEM_SCORES), names, strict=True)
                    if name is None
                )
                self._note(place, f"{missing} is missing ({present_keys(one)})")
                return
            label, score = (str(name) for name in names)
            values, places = (one[label], one[score]), (f"{place}.{label}", f"{place}.{score}")
        elif isinstance(one, list) and len(one) == 2:
            values, places = (one[0], one[1]), (f"{place}[0]", f"{place}[1]")
        else:
            message = f'expected {{"label": …, "score": …}} or [label, score], found {said(one)}'
            self._note(place, message)
            return
        text = self.text(values[0], places[0])
        number = self.number(values[1], places[1])
        if not text and values[0] in ("", None):
            self._note(places[0], "expected a label, found nothing")
        if text in found:
            self._note(places[0], f"the label {quoted(text)} is listed twice")
        found[text] = number

    def _key(self, key: str, what: str, place: str) -> str:
        """A label or a label key that is a key of an object."""
        if not key or not is_text(key):
            self._note(place, f"expected a {what}, found {said(key) if key else 'an empty text'}")
        return key

    def _distinct(self, value: Mapping[str, Any], place: str) -> None:
        if isinstance(value, DuplicateKey):
            self._note(_inner(place, value.key), "duplicate key in this object")


def _inner(place: str, key: str) -> str:
    """The place of a value in an object."""
    shown = printable(key if len(key) <= _SHOWN else key[: _SHOWN - 1] + "…")
    return f"{place}.{shown}"
