"""Join the lines of a log to the samples in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from valor_cli.data.batch import Found, Known
from valor_cli.data.json_records import Record, scalar_text
from valor_cli.data.shapes.samples.labs import has_lab_rows, is_lab, lab_rows
from valor_cli.data.shapes.samples.spans import spans_in
from valor_cli.data.shapes.samples.squad import answers_by_id, squad_rows
from valor_cli.data.source.inputs import head_of

_LOG: Final = re.compile(rb'\s*\{\s*"(?:spec"\s*:\s*\{|resourceSpans"\s*:\s*\[)')
"""How a log begins: one of OpenAI evals with what was run, one of OpenTelemetry with spans."""


SPANS: Final = "spans"
"""What the rows of a trace are called."""


def is_log(path: str) -> bool:
    """Whether a file of JSON lines is a log whose lines are not the samples.

    Raises:
        DataError: It cannot be read.
    """
    return _LOG.match(head_of(path)) is not None


def rows_of_log(lines: Iterable[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """The samples of a log, each with the number of its first line.

    Args:
        lines: All lines with their numbers. Those that are no objects are rows as they are, for
            they are faults.
    """
    spans: list[tuple[int, Any]] = []
    events: list[tuple[int, Record]] = []
    for line, value in lines:
        if not isinstance(value, dict):
            spans.append((line, value))
        elif "resourceSpans" in value:
            spans += [(line, span) for span in spans_in(value)]
        else:
            events.append((line, value))
    return sorted([*spans, *_rows_of_events(events)], key=lambda row: row[0])


def rows_of_document(document: Record, found: Found | None, known: Known) -> Found | None:
    """The rows of a JSON object that is a trace, an H2O test lab or its results, or SQuAD's.

    Args:
        document: The object.
        found: The list of rows in it.
        known: Says whether the object may be a row itself.
    """
    if "resourceSpans" in document:
        return Found(SPANS, spans_in(document))
    if (own := squad_rows(document)) is not None:
        return own
    if found is None:
        return answers_by_id(document, known)
    if is_lab(document):
        found = Found("dataset.inputs", document["dataset"]["inputs"])
    if found is not None and has_lab_rows(found.rows):
        return found._replace(rows=lab_rows(document, found.rows))
    return found


def _rows_of_events(events: Iterable[tuple[int, Record]]) -> list[tuple[int, Record]]:
    """The samples of an event log of OpenAI evals: what was asked and answered last."""
    samples: dict[str | int, tuple[int, Record, list[Record]]] = {}
    model = None
    for line, event in events:
        spec, data, name = (event.get(key) for key in ("spec", "data", "sample_id"))
        if isinstance(spec, dict):
            models = spec.get("completion_fns")
            model = models[0] if isinstance(models, list) and models else model
        kind = event.get("type")
        if kind is None or (name is None and kind not in ("sampling", "match")):
            continue
        data = data if isinstance(data, dict) else {}
        own = {"sample_id": name, "model": model}
        key = line if name is None else scalar_text(name) or line
        *_, said = samples.setdefault(key, (line, own, []))
        if kind in ("sampling", "match"):
            sampled = data.get("sampled")
            said.append(
                {
                    "user_input": data.get("prompt"),
                    "response": sampled[-1] if isinstance(sampled, list) and sampled else sampled,
                    "references": data.get("expected"),
                }
            )
        elif kind == "metrics" and "choice" in data and len(said) > 1:
            # What was said last is the verdict of the model that graded the sample.
            said.pop()
    for _, row, said in samples.values():
        for told in said:
            row |= {key: value for key, value in told.items() if value is not None}
    return [(line, row) for line, row, _ in samples.values()]
