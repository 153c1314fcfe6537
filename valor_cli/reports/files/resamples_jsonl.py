"""Write and read resamples.jsonl, one line per resampled value."""

from __future__ import annotations

from math import isfinite

from msgspec import ValidationError, convert
from msgspec.structs import replace

from valor_cli.errors import DataError, Problem
from valor_cli.reports.files.sample_lines import NEXT, read_lines
from valor_cli.results import ResampledResult, RunResult
from valor_cli.results.document import dumps
from valor_cli.results.identity import row_key

_FORM = (
    f"expected {', '.join(ResampledResult.__struct_fields__)}; values is a list of numbers and null"
)


def to_jsonl(result: RunResult) -> bytes:
    """The file, values in the order of the run.

    Raises:
        ValueError: A number is NaN or infinite, which JSON does not have.
    """
    for one in result.resamples:
        if not all(map(isfinite, filter(None, one.values))):
            raise ValueError(f"resamples of {one.model}, {one.metric} {one.output}: NaN")
    return b"".join(dumps(one) + b"\n" for one in result.resamples)


def from_jsonl(content: bytes, path: str, result: RunResult) -> tuple[ResampledResult, ...]:
    """Read what `to_jsonl` wrote; parameters are taken from the run's rows.

    Args:
        content: The file's bytes.
        path: The file they were read from, for messages.
        result: The run, as results.json has it.

    Raises:
        DataError: Not such lines, or those of another run.
    """
    rows = {row_key(row): row for row in result.metrics}
    asked = result.intervals
    found = {}
    for number, record in read_lines(content, path):
        try:
            one = convert(record, ResampledResult)
        except ValidationError:
            raise DataError(Problem(f"{path}:{number}", _FORM), hint=NEXT) from None
        key = row_key(one)
        row = rows.get(key)
        told = f"{one.metric:.60} {one.output:.60} of {one.model!r:.60}"
        if row is None:
            message = f"results.json has no value {told} so computed"
            raise DataError(Problem(f"{path}:{number}", message), hint=NEXT)
        if key in found:
            message = f"{told} is a duplicate"
            raise DataError(Problem(f"{path}:{number}", message), hint=NEXT)
        if asked is not None and len(one.values) != asked.resamples:
            message = f"{len(one.values):,} resamples; results.json says {asked.resamples:,}"
            raise DataError(Problem(f"{path}:{number}", message), hint=NEXT)
        found[key] = replace(one, parameters=row.parameters)
    if asked is not None and not found:
        raise DataError(Problem(path, "the file is empty; was it truncated?"), hint=NEXT)
    return tuple(found.values())
