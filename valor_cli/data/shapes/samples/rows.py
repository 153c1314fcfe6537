"""Check JSON samples of any shape and report every fault.

The slow path: all messages about a row are written here. Where `sample_plain` returns a row, this
returns the same one.
"""

from __future__ import annotations

import json
from typing import Any

from valor_cli.data.json_records import Record, parsed, said
from valor_cli.data.shapes.samples import values
from valor_cli.data.shapes.samples.header import (
    COLUMNS,
    Layouts,
    in_milliseconds,
    metadata_at,
    value_at,
)
from valor_cli.data.shapes.samples.logprobs import logprobs
from valor_cli.data.shapes.samples.other_tools import expected_answer, one_shape
from valor_cli.data.shapes.samples.sample_file import SampleReading, SampleRow
from valor_cli.data.values import Problems


class SampleRowReader:
    """Reads rows one by one.

    Attributes:
        faulty: How many could not be used.
        plain_contexts: How many had a text where a list of contexts is expected.
        found: Names of metadata that some row has.
    """

    __slots__ = (
        "_layouts",
        "_line",
        "_problems",
        "_reading",
        "faulty",
        "found",
        "plain_contexts",
    )

    def __init__(self, reading: SampleReading, layouts: Layouts, problems: Problems) -> None:
        """Initialise with the read options.

        Args:
            reading: As all of the file.
            layouts: Those seen so far; new ones are added.
            problems: Where faults are noted.
        """
        self.faulty = 0
        self.plain_contexts = 0
        self.found: set[str] = set()
        self._reading = reading
        self._layouts = layouts
        self._problems = problems
        self._line = 0

    def line(self, content: bytes, line: int) -> SampleRow | None:
        """The row of a JSON text; None if invalid."""
        self._line = line
        try:
            value = parsed(content)
        except json.JSONDecodeError as error:
            message = f"not JSON ({error.msg}, column {error.colno}); each line is one JSON object"
            return self._fault(message)
        except RecursionError:
            return self._fault("the JSON is nested too deeply to be read")
        return self.row(value, line)

    def row(self, value: Any, line: int) -> SampleRow | None:
        """The row of a value from `json_records.parsed`; None if invalid."""
        self._line = line
        if not isinstance(value, dict):
            return self._fault(f"expected an object, one a sample, found {said(value)}")
        before = self._problems.total
        try:
            for place, message in values.faults(value):
                self._note(place, message)
            row = self._row(one_shape(value)) if self._problems.total == before else None
        except RecursionError:
            return self._fault("the JSON is nested too deeply to be read")
        if self._problems.total > before:
            self.faulty += 1
            return None
        return row

    def _fault(self, message: str) -> SampleRow | None:
        self._note("", message)
        self.faulty += 1
        return None

    def _note(self, place: str, message: str) -> None:
        self._problems.add(self._line, place, message)

    def _row(self, record: Record) -> SampleRow:
        layout = self._layouts.of(tuple(record))
        note = self._note
        value = {
            name: record[key] if key is not None else value_at(record, layout.paths.get(name, ()))
            for name, key in zip(COLUMNS, layout.keys, strict=True)
            if key is not None or name in layout.paths
        }.get
        name = layout.name_of
        duration = values.amount(value("duration_s"), name("duration_s"), note)
        if duration is not None and in_milliseconds(name("duration_s")):
            duration /= 1000
        return SampleRow(
            sample_id=values.sample_id(value("sample_id"), name("sample_id"), note),
            model=values.name(value("model"), name("model"), note),
            user_input=values.text(value("user_input"), name("user_input"), note),
            response=values.response(value("response"), name("response"), note),
            references=self._references(value("references"), name("references")),
            retrieved_contexts=self._contexts(
                value("retrieved_contexts"), name("retrieved_contexts")
            ),
            condition=values.name(value("condition"), name("condition"), note),
            categories=values.texts(value("categories"), name("categories"), note),
            group=values.name(value("group"), name("group"), note),
            perturbed_from=values.name(value("perturbed_from"), name("perturbed_from"), note),
            duration_s=duration,
            cost_usd=values.amount(value("cost_usd"), name("cost_usd"), note),
            artifacts=self._artifacts(value("artifacts"), name("artifacts")),
            token_logprobs=logprobs(value("token_logprobs"), name("token_logprobs"), note),
            metadata=tuple(self._metadata(record, one) for one in self._reading.metadata),
            line=self._line,
        )

    def _references(self, value: Any, place: str) -> tuple[str, ...]:
        found = values.texts(value, place, self._note)
        if not place.startswith("__"):
            return found
        return tuple(one for one in map(expected_answer, found) if one is not None)

    def _contexts(self, value: Any, place: str) -> tuple[str, ...] | None:
        if isinstance(value, list):
            return values.contexts(value, place, self._note)
        if isinstance(value, dict):
            self._note(place, "expected a list of texts, found an object")
            return None
        found = values.name(value, place, self._note)
        if found is None:
            return None
        self.plain_contexts += 1
        return (found,)

    def _artifacts(self, value: Any, place: str) -> str | None:
        found = values.name(value, place, self._note)
        if found is not None and "\0" in found:
            self._note(place, "expected a path, found one with a NUL character")
        return found

    def _metadata(self, record: Record, name: str) -> Any:
        path = metadata_at(record, name)
        if path is None:
            return None
        self.found.add(name)
        return values.metadata(value_at(record, path), ".".join(path), self._note)
