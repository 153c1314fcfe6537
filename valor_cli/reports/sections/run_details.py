"""Coverage, warnings, and the record of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from valor_cli.reports.digests.digest import Digest
from valor_cli.reports.digests.formatting import (
    NO_VALUE,
    capital,
    clean,
    covered,
    shown_input,
    words,
)
from valor_cli.reports.digests.naming import Names
from valor_cli.reports.document import Block, Cell, Column, Item, Items, Note, Section, Table
from valor_cli.results import STATUSES, InputFile, RunInfo

OK = "ok"

COVERAGE = 200
INPUTS = 50
"""Lines listed; results.json has all of them."""


def coverage(d: Digest) -> Section | None:
    """Where samples have no value: metrics and models, the lowest coverage first."""
    rows = [row for row in d.result.coverage if row.slice is None]
    if not d.result.coverage:
        return None
    names = Names((row.metric, row.parameters) for row in rows)
    partial = [row for row in rows if any(name != OK and n for name, n in row.statuses.items())]
    partial.sort(key=lambda row: (row.coverage is None, row.coverage or 0.0))
    seen = {name for row in partial for name, count in row.statuses.items() if count}
    statuses = [name for name in STATUSES if name in seen or name == OK]
    blocks: list[Block] = []
    if partial:
        many = len(d.models) > 1
        columns = [
            Column("metric", "text"),
            *([Column("model", "text")] if many else []),
            Column("coverage"),
            *(Column("OK" if name == OK else capital(words(name))) for name in statuses),
        ]
        lines = [
            [
                Cell(names.title(row.metric, "", row.parameters)),
                *([Cell(clean(row.model, 60))] if many else []),
                Cell(NO_VALUE if row.coverage is None else covered(row.coverage)),
                *(Cell(_count(row.statuses.get(name, 0))) for name in statuses),
            ]
            for row in partial[:COVERAGE]
        ]
        left_out = len(partial) - len(lines)
        blocks.append(Table(columns, lines, "Coverage", page=40, left_out=left_out))
    blocks.append(Note(_whole(len(rows), len(partial))))
    return Section("Coverage", "coverage", blocks, folded=True)


def _count(samples: int) -> str:
    return f"{samples:,}" if samples else NO_VALUE


def _whole(rows: int, partial: int) -> str:
    """What the table omits: pairs of metric and model that have a value of every sample."""
    if not partial:
        return "Every metric has a value of every sample."
    if rows == partial:
        return "Coverage is the share of the samples that have a value."
    if rows == partial + 1:
        return "The other metric and model has a value of every sample."
    return f"The other {rows - partial:,} pairs of metric and model have a value of every sample."


def warnings(
    told: Sequence[str], missing: Sequence[str] = (), ignored: Sequence[str] = ()
) -> Section | None:
    """What may mislead a reader.

    Args:
        told: Warnings of the run.
        missing: Labels with ground truth and no prediction, by model.
        ignored: Labels with predictions and no ground truth, by model.
    """
    items = [
        *(Item(clean(one, 400)) for one in told),
        *(Item(f"Labels never predicted by {one}") for one in missing),
        *(Item(f"Labels without ground truth, predicted by {one}") for one in ignored),
    ]
    if not items:
        return None
    return Section("Warnings", "warnings", (Items(items, page=20, screen=(2, 5)),))


def run_record(d: Digest) -> Section:
    """What was run, when, on which inputs and with which versions."""
    facts = {**facts_of(d.result.run), **dict(d.settings)}
    blocks = (facts_table("", facts), inputs_table(d.result.run.inputs))
    packages = facts_table("", d.result.run.packages, folded="Packages")
    return Section("Run", "run", (*blocks, packages), folded=True)


def facts_of(run: RunInfo) -> dict[str, str]:
    """The record of a run, by name."""
    return {
        "valor": run.valor_version,
        "started": run.started_at,
        "duration": f"{run.duration_s:.2f} s",
        "command": run.command,
        "config": run.config,
        "config sha256": run.config_sha256,
        **({"models asked": ", ".join(run.models_used)} if run.models_used else {}),
    }


def facts_table(title: str, facts: Mapping[str, str], folded: str = "") -> Table:
    """Names and what they are."""
    columns = [Column("", "text"), Column("", "text")]
    rows = [[Cell(clean(name), "quiet"), Cell(clean(told, 400))] for name, told in facts.items()]
    return Table(columns, rows, title or folded or "Record", title, folded=folded)


def inputs_table(files: Sequence[InputFile], of: str = "") -> Table:
    """Files with their rows and hashes; `of` is the letter of a run that is compared."""
    # Of many files those that were left out are the ones to look at.
    ordered = sorted(files, key=lambda one: one.left_out is None)
    columns = [Column("input", "text"), *(Column(name) for name in ("rows", "skipped", "sha256"))]
    rows = [
        [Cell(path), Cell(rows), Cell(skipped), Cell(sha[:12], "quiet", title=sha)]
        for path, rows, skipped, sha in map(shown_input, ordered[:INPUTS])
    ]
    left_out = len(files) - len(rows)
    return Table(columns, rows, f"Inputs {of}".rstrip(), page=INPUTS, left_out=left_out)
