"""What a list asks for, and a list as JSON or CSV."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from msgspec import Struct

from valor_cli.errors import DataError, Problem, UnknownNameError, did_you_mean
from valor_cli.reports.files.csv_rows import cell
from valor_cli.reports.writer import SLICES
from valor_cli.results import RunResult, Scalar
from valor_cli.results.document import dumps

SHOWN = 8
"""Names that a message lists."""


class Query(Struct, frozen=True):
    """Which objects or samples are listed; None: whichever.

    Attributes:
        kind: What became of them.
        model, label, metric: Whose they are.
        slice: The name of one, as results have it.
        sample: Id or file name of the image, or id of the sample.
        threshold: Score from which on a detection counts, or value from which on a sample passes.
        min_score, max_score: Bounds of a detection's score.
        min_size, max_size: Bounds of the square root of the area of the box, in pixels.
        limit: The first so many.
    """

    kind: str
    model: str | None = None
    label: str | None = None
    metric: str | None = None
    slice: str | None = None
    sample: str | None = None
    threshold: float | None = None
    min_score: float | None = None
    max_score: float | None = None
    min_size: float | None = None
    max_size: float | None = None
    limit: int | None = None


class Listing(Struct, frozen=True):
    """Some objects or samples.

    Attributes:
        kind: What became of them.
        settings: What that rests on, as `iou_threshold`.
        columns: Names of the columns.
        rows: Those that are listed.
        total: How many there are.
    """

    kind: str
    settings: Mapping[str, Scalar]
    columns: Sequence[str]
    rows: Sequence[Sequence[Scalar]]
    total: int

    def as_json(self) -> bytes:
        """The list as JSON."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        document: dict[str, Any] = {"kind": self.kind, **self.settings, "total": self.total}
        return dumps({**document, "rows": rows})

    def as_csv(self) -> bytes:
        """The list as CSV, as results.csv is written."""
        out = StringIO(newline="")
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow(self.columns)
        writer.writerows([map(cell, row) for row in self.rows])
        return out.getvalue().encode()


def models_of(result: RunResult, query: Query) -> Sequence[str]:
    """The models that are listed.

    Raises:
        UnknownNameError: The run has no such model.
    """
    if query.model is None:
        return result.models
    check_known("--model", "model", query.model, result.models)
    return (query.model,)


def in_slice(result: RunResult, query: Query, model: str) -> Collection[tuple[type, Scalar]] | None:
    """Kind and id of each sample of the slice that is asked for; None: no slice is.

    Raises:
        UnknownNameError: The run has no such slice.
        DataError: The run does not say which samples are in which slices.
    """
    if query.slice is None:
        return None
    if not result.slices:
        message = f"the run has no {SLICES} beside its results.json"
        hint = "evaluate again with json among the formats and a list of `slices:` of metadata"
        raise DataError(Problem("--slice", message), hint=hint)
    check_known("--slice", "slice", query.slice, [n for one in result.slices for n in one.names])
    return {
        (type(name), name)
        for one in result.slices
        if one.model == model and query.slice in one.names
        for name, there in zip(
            one.sample_ids, one.members[list(one.names).index(query.slice)], strict=True
        )
        if there
    }


def check_known(option: str, what: str, name: str, known: Iterable[str]) -> None:
    """Check that the run has something of that name.

    Raises:
        UnknownNameError: It has not.
    """
    names = list(dict.fromkeys(known))
    if name in names:
        return
    message = f"the run has no {what} '{name}'{did_you_mean(name, names)}"
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    told = ", ".join(names[:SHOWN]) + more
    raise UnknownNameError(Problem(option, message), hint=f"{what}s: {told or 'none'}")
