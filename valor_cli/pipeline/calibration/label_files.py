"""Read files of human labels: rows of a sample and an annotator, or exports of labelling tools."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from valor_cli.data.formats.tables import format_of, open_rows, read_records
from valor_cli.data.shapes.samples.schema import SCHEMA, other_names
from valor_cli.data.source.inputs import expanded_tables
from valor_cli.data.table import LINE
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.pipeline.calibration.scales import is_blank
from valor_cli.results import Scalar

ANNOTATOR = ("annotator", "annotator_id", "_annotator_id", "_session_id", "rater", "completed_by")
"""Names of the column that says whose label it is."""

Key = tuple[str | None, str]
"""The model, if the row names one, and the sample."""


class LabelFiles(Struct, frozen=True):
    """What label files say.

    Attributes:
        paths: As they were named.
        cells: By column, annotator and sample, the label; blank ones are left out.
    """

    paths: Sequence[str]
    cells: Mapping[str, Mapping[str, Mapping[Key, Scalar]]]

    def have(self, columns: Sequence[str]) -> bool:
        """Whether they have one of some columns, which may be patterns."""
        return any(part_of(name, one) is not None for one in columns for name in self.cells)


def part_of(column: str, pattern: str) -> str | None:
    """What the stars of a pattern stand for in a column; None if it does not fit."""
    found = re.fullmatch("(.*)".join(map(re.escape, pattern.split("*"))), column)
    return None if found is None else "_".join(found.groups())


class _Row(Struct, frozen=True):
    place: str
    key: Key
    annotator: str
    labels: Mapping[str, Scalar]


def read_label_files(named: Sequence[str], columns: Mapping[str, str]) -> LabelFiles:
    """The labels of files.

    Args:
        named: `FILE`, or `ANNOTATOR=FILE`; a file may be a pattern. Without a column that says
            whose label it is, all labels of a file are those of ANNOTATOR, else of its stem.
        columns: Standard name of a column of samples to the name in the files.

    Raises:
        DataError: A file cannot be read, has no sample ids, or an annotator labelled a sample
            twice.
    """
    cells: dict[str, dict[str, dict[Key, Scalar]]] = {}
    places: dict[tuple[str, str, Key], str] = {}
    problems = []
    for one in named:
        name, path = _named(one)
        for file in expanded_tables(path):
            for row in _rows(file, name or _stem(file), columns):
                for column, label in row.labels.items():
                    own = cells.setdefault(column, {}).setdefault(row.annotator, {})
                    if is_blank(label):
                        continue
                    if own.setdefault(row.key, label) != label:
                        first = places[column, row.annotator, row.key]
                        message = (
                            f"{row.annotator} labels the sample {row.key[1]!r} as {label!r}, "
                            f"and as {own[row.key]!r} at {first}"
                        )
                        problems.append(Problem(f"{row.place}: {column}", message))
                    places.setdefault((column, row.annotator, row.key), row.place)
    if problems:
        hint = "leave one label of an annotator for a sample"
        raise DataError(problems[:LISTED], total=len(problems), hint=hint)
    return LabelFiles([_named(one)[1] for one in named], cells)


def _named(one: str) -> tuple[str, str]:
    name, equals, path = one.partition("=")
    if not equals or os.path.exists(one) or os.sep in name:
        return "", one
    return name, path


def _stem(path: str) -> str:
    return os.path.basename(path).partition(".")[0] or path


def _rows(path: str, annotator: str, columns: Mapping[str, str]) -> Iterator[_Row]:
    known = {"sample_id", "model", *ANNOTATOR}
    file = open_rows(path, format_of(path), lambda names: len(known.intersection(names)))
    where = "{path}:{line}" if file.place == LINE else "{path}: row {line}"
    named = False
    for line, record in read_records(file, _faults):
        place = where.format(path=path, line=line)
        for row in _flat(record):
            layout = SCHEMA.layout(list(row), columns)
            ways = {one: str(layout[one][0]) for one in ("sample_id", "model") if one in layout}
            if "sample_id" not in ways or is_blank(row[ways["sample_id"]]):
                message = f"expected a sample, as {other_names('sample_id')}; found {_said(row)}"
                raise DataError(Problem(place, message), hint=_HINT)
            whose = next((one for one in ANNOTATOR if one in row), None)
            named = named or whose is not None
            if named and (whose is None or is_blank(row[whose])):
                raise DataError(Problem(place, "expected an annotator, as other rows have"))
            model = row.get(ways.get("model", ""))
            taken = {*ways.values(), whose}
            yield _Row(
                place,
                (None if is_blank(model) else str(model), str(row[ways["sample_id"]])),
                annotator if whose is None else str(row[whose]),
                {name: value for name, value in row.items() if name not in taken},
            )


_HINT = "a row is a label: sample_id, annotator, label; and model, where samples have several"


def _said(row: Mapping[str, Any]) -> str:
    return ", ".join(row) or "nothing"


def _faults(value: Any) -> Sequence[tuple[str, str]]:
    return [] if isinstance(value, dict) else [("", "expected an object")]


def _flat(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows with an annotator each of a row of any tool."""
    if isinstance(row.get("annotations"), list) and isinstance(row.get("data"), dict):
        yield from _of_label_studio(row)
    elif isinstance(row.get("responses"), dict):
        yield from _of_argilla(row)
    elif "answer" in row and ("_annotator_id" in row or "_session_id" in row):
        yield from _of_prodigy(row)
    else:
        yield _scalars(row)


def _scalars(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if not isinstance(value, dict | list)}


def _of_label_studio(task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Of each annotation of a task the results with one choice, a rating or a number."""
    for said in task["annotations"]:
        if said.get("was_cancelled"):
            continue
        who = said.get("completed_by")
        who = (who.get("email") or who.get("id")) if isinstance(who, dict) else who
        labels = {}
        for result in said.get("result", ()):
            for found in [result.get("value", {}).get(kind) for kind in _KINDS]:
                found = found[0] if isinstance(found, list) and len(found) == 1 else found
                if found is not None and not isinstance(found, dict | list):
                    labels[str(result.get("from_name"))] = found
        data = _scalars(task["data"])
        yield {"id": task.get("id"), **data, **labels, "annotator": who}


_KINDS = ("choices", "rating", "number")


def _of_argilla(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Of each user of a record the responses."""
    users: dict[str, dict[str, Any]] = {}
    for question, answers in record["responses"].items():
        for one in answers if isinstance(answers, list) else ():
            if one.get("status") not in ("discarded", "draft"):
                users.setdefault(str(one.get("user_id")), {})[question] = one.get("value")
    own = {"id": record.get("id"), **_scalars(record.get("metadata") or {})}
    for user, labels in users.items():
        yield {**own, **_scalars(labels), "annotator": user}


def _of_prodigy(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The one option that was chosen, else accepted or rejected; ignored ones say nothing."""
    chosen = row.get("accept")
    label = {"accept": "pass", "reject": "fail"}.get(row["answer"])
    if isinstance(chosen, list):
        label = chosen[0] if label == "pass" and len(chosen) == 1 else None
    who = row.get("_annotator_id") or row.get("_session_id")
    yield {**_scalars(row.get("meta") or {}), **_scalars(row), "label": label, "annotator": who}
