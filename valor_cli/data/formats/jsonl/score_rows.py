"""Parse JSON lines of labels and scores one at a time and report every fault.

The slow path: all messages about the content of a line are written here. Where a faster reader
returns columns, this returns the same ones.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from valor_cli.data.json_records import (
    DuplicateKey,
    Number,
    Record,
    first_of,
    parsed,
    present_keys,
    said,
    scalar_text,
)
from valor_cli.data.shapes.scores.pieces import ScoreRows
from valor_cli.data.shapes.scores.prediction_columns import NAME_CLASSES
from valor_cli.data.shapes.scores.rows import ScorePiece
from valor_cli.data.shapes.scores.score_file import ALIASES, ScoreReading, Side
from valor_cli.data.shapes.scores.values import Listed, ScoreValues
from valor_cli.data.values import Problems, is_text
from valor_cli.kernels.columns.spans import Vocabulary


class KeyNames(NamedTuple):
    """The accepted names of each standard key, in order of precedence."""

    sample_id: Sequence[str]
    label: Sequence[str]
    prediction: Sequence[str]
    predictions: Sequence[str]
    score: Sequence[str]
    label_key: Sequence[str]

    @classmethod
    def of(cls, reading: ScoreReading) -> KeyNames:
        """The mapped name, or the standard name and its aliases."""
        mapped = set(reading.columns.values())
        return cls(
            **{
                standard: (reading.columns[standard],)
                if standard in reading.columns
                else tuple(
                    name
                    for name in (standard, *aliases)
                    if name not in mapped and (name == standard or name not in reading.metadata)
                )
                for standard, aliases in ALIASES.items()
            }
        )


class WideKeys(NamedTuple):
    """The keys of lines that have one per class.

    Attributes:
        names: The classes.
        others: All keys that lines may have; None for any.
        named: Whether the config names the classes.
    """

    names: tuple[str, ...]
    others: frozenset[str] | None
    named: bool


class ScoreLineReader:
    """Reads lines one by one.

    Attributes:
        rows: Those read; counts the faulty lines.
    """

    __slots__ = (
        "_key_codes",
        "_label_codes",
        "_line",
        "_names",
        "_problems",
        "_reading",
        "_side",
        "_values",
        "_wide",
        "rows",
    )

    def __init__(
        self,
        side: Side,
        reading: ScoreReading,
        labels: Vocabulary,
        keys: Vocabulary,
        problems: Problems,
        wide: WideKeys | None = None,
    ) -> None:
        """Initialise with the columns to fill.

        Args:
            side: What the file holds; metadata is read of ground truth and of samples.
            reading: How to read it.
            labels, keys: Names seen so far; new ones are added.
            problems: Where faults are noted.
            wide: The classes, where lines have a key for each.
        """
        self._wide = wide
        self.rows = ScoreRows([] if side == "predictions" else list(reading.metadata))
        self._side = side
        self._reading = reading
        self._names = KeyNames.of(reading)
        self._label_codes = labels
        self._key_codes = keys
        self._problems = problems
        self._line = 0
        self._values = ScoreValues(
            reading.classes, probabilities=reading.probabilities, note=self._note
        )

    def piece(self, lines: Sequence[bytes], numbers: Sequence[int]) -> ScorePiece:
        """The rows of lines with these numbers."""
        for line, content in zip(numbers, lines, strict=True):
            if content.strip():
                before, self._line = self._problems.total, line
                record = self._parsed(content)
                if record is not None:
                    self._record(record, before)
                self.rows.faulty += self._problems.total > before
        return self.rows.piece(
            truth=self._side != "predictions", scored=self._side != "ground_truth", dense=False
        )

    def _note(self, key: str, message: str) -> None:
        self._problems.add(self._line, key, message)

    def _parsed(self, content: bytes) -> Record | None:
        try:
            value = parsed(content)
        except json.JSONDecodeError as error:
            message = f"not JSON ({error.msg}, column {error.colno}); each line is one JSON object"
            self._note("", message)
            return None
        except RecursionError:
            self._note("", "the JSON is nested too deeply to be read")
            return None
        if not isinstance(value, dict):
            self._note("", f"expected an object with a sample_id, found {said(value)}")
            return None
        if isinstance(value, DuplicateKey):
            self._note(value.key, "duplicate key in this object")
            return None
        return value

    def _record(self, record: Record, before: int) -> None:
        sample_id = self._sample_id(record)
        truths: dict[str | None, str] = {}
        listed: dict[str | None, Listed] = {}
        if self._side != "predictions":
            truths = self._truths(record)
        if self._side != "ground_truth":
            listed = self._predictions(record)
        keys = self._label_keys(record, truths, listed)
        metadata = self._metadata(record)
        if self._problems.total > before:
            return
        for key, (truth, scores) in keys.items():
            self.rows.add(
                sample_id.encode(),
                self._line,
                key=-1 if key is None else self._key_codes.code(key.encode()),
                truth=self._label_codes.code(truth.encode()) if truth else -1,
                labels=[self._label_codes.code(label.encode()) for label in scores],
                scores=list(scores.values()),
                metadata=metadata,
            )

    def _sample_id(self, record: Record) -> str:
        name = first_of(self._names.sample_id, record)
        if name is None:
            self._note("", f'"{self._names.sample_id[0]}" is missing ({present_keys(record)})')
            return ""
        value = record[name]
        text = None if isinstance(value, bool) else scalar_text(value)
        if text is None:
            self._note(name, f"expected a string or a number, found {said(value)}")
        elif not text or "\0" in text:
            found = "one with a NUL character" if text else "nothing"
            self._note(name, f"expected the id of a sample, found {found}")
        return text or ""

    def _truths(self, record: Record) -> dict[str | None, str]:
        name = first_of(self._names.label, record)
        if name is None:
            if self._side == "ground_truth":
                self._note("", f'"{self._names.label[0]}" is missing ({present_keys(record)})')
            return {}
        return self._values.labels(record[name], name)

    def _predictions(self, record: Record) -> dict[str | None, Listed]:
        """Many scores where there are any, else the one label."""
        names = self._names
        many, single = first_of(names.predictions, record), first_of(names.prediction, record)
        score = first_of(names.score, record)
        if many is not None and (record[many] is not None or single is None):
            return self._values.predictions(record[many], many)
        if single is not None:
            value = None if score is None else record[score]
            return self._values.single(record[single], value, single, score or "")
        if self._wide is not None:
            return {None: self._by_class(record, self._wide)}
        if self._side == "predictions":
            expected = f'"{names.predictions[0]}" or "{names.prediction[0]}"'
            self._note("", f"{expected} is missing ({present_keys(record)})")
        return {}

    def _by_class(self, record: Record, wide: WideKeys) -> Listed:
        """A score for each class; no prediction if all are null."""
        others = record.keys() if wide.others is None else wide.others
        if odd := [name for name in record if name not in others]:
            self._note(odd[0], f"the first line has no such key{NAME_CLASSES}")
        if missing := [name for name in wide.names if name not in record]:
            self._note("", f'"{missing[0]}" is missing ({present_keys(record)})')
            return {}
        if all(record[name] is None for name in wide.names):
            return dict.fromkeys(wide.names, 0.0)
        scores: Listed = {}
        for name in wide.names:
            value = record[name]
            if isinstance(value, float) or wide.named:
                scores[name] = self._values.number(value, name)
            else:
                self._note(name, f"expected a number, found {said(value)}{NAME_CLASSES}")
        return scores

    def _label_keys(
        self, record: Record, truths: dict[str | None, str], listed: dict[str | None, Listed]
    ) -> dict[str | None, tuple[str, Listed]]:
        """For each label key, the true label (empty for none) and what is listed."""
        name = first_of(self._names.label_key, record)
        key = None
        if name is not None and record[name] is not None:
            key = scalar_text(record[name])
            if not key:
                self._note(name, f"expected a label key, found {said(record[name])}")
            elif {*truths, *listed} - {None}:
                message = "expected no label keys elsewhere in the line, found an object of them"
                self._note(name, message)
        elif {*truths} - {None} or {*listed} - {None}:
            # What is empty belongs to no key, and needs none.
            listed = {one: scores for one, scores in listed.items() if scores or one is not None}
            if None in truths or None in listed:
                keyed, bare = (
                    ("predictions", "labels") if None in truths else ("labels", "predictions")
                )
                self._note("", f"{keyed} have label keys, but {bare} do not")
        return {
            key if one is None else one: (truths.get(one, ""), listed.get(one, {}))
            for one in dict.fromkeys([*truths, *listed]) or [None]
        }

    def _metadata(self, record: Record) -> list[Any]:
        if self._side == "predictions":
            return []
        inner = record.get("metadata")
        inner = inner if isinstance(inner, dict) else {}
        values = []
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
            values.append(value.plain if isinstance(value, Number) else value)
        return values
