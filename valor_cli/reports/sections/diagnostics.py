"""How far confidence can be trusted, and how the values of single samples spread."""

from __future__ import annotations

from msgspec.structs import replace

from valor_cli.reports.charts.distributions import MARKS, distributions, spread, spreads
from valor_cli.reports.charts.reliability import (
    Calibration,
    Reliability,
    calibrations,
    error_of,
    reliability,
    span,
)
from valor_cli.reports.digests.digest import SIDE_BY_SIDE, Digest
from valor_cli.reports.digests.formatting import capital, number, signed, words
from valor_cli.reports.document import Block, Cell, Charts, Column, Note, Section, Table

SETTINGS = 12
"""Settings shown; results.json has all of them."""

CHARTS = 24
MODELS = 6
"""Metrics drawn, and models in one chart."""

MEANING = "Of the samples that a model is 80% sure of, 80% should be right: on the diagonal."


def calibration(d: Digest) -> Section | None:
    """A line for each model, its diagram, and the bins."""
    found = calibrations(d.result)
    if not found:
        return None
    titled = any(part.title for part in found)
    columns = [
        Column("model", "text"),
        *([Column("setting", "text")] if titled else []),
        Column(words(found[0].metric)),
        Column("bins", "text"),
    ]
    rows = [
        [
            Cell(d.models[one.model]),
            *([Cell(part.title)] if titled else []),
            Cell(number(one.error), value=one.error),
            Cell(one.leaning),
        ]
        for part in found[:SETTINGS]
        for one in part.models
    ]
    blocks: list[Block] = [Table(columns, rows, "Calibration", left_out=len(found[SETTINGS:]))]
    for part in found[:SETTINGS]:
        charts = [
            replace(
                reliability(one, part.metric),
                title=f"Reliability of {d.models[one.model]}: {one.leaning}",
                kind="reliability",
                heading=f"{d.models[one.model]} {error_of(one, part.metric)}",
                model=one.model,
            )
            for one in part.models[:SIDE_BY_SIDE]
        ]
        blocks.append(Charts(charts, part.title))
    blocks.append(Note(MEANING))
    blocks += [_bins(part, one, d) for part in found[:4] for one in part.models[:SIDE_BY_SIDE]]
    return Section("Calibration", "calibration", blocks, folded=True)


def _bins(part: Calibration, one: Reliability, d: Digest) -> Table:
    columns = [
        Column("confidence", "text"),
        *(Column(name) for name in ("samples", "mean confidence", "accuracy", "gap")),
    ]
    rows = [
        [
            Cell(span(bin_)),
            Cell(f"{bin_.n:,}"),
            Cell(number(bin_.confidence)),
            Cell(number(bin_.accuracy)),
            Cell(signed(bin_.gap)),
        ]
        for bin_ in one.bins
        if bin_.n
    ]
    name = " · ".join(filter(None, (d.models[one.model], part.title)))
    return Table(columns, rows, name, page=50, folded=f"Reliability table, {name}")


def spread_of_values(d: Digest) -> Section | None:
    """Distributions of the values of images, and histograms of those of samples."""
    images = distributions(d.result)
    judged = [one for one in d.result.samples if one.statuses is not None]
    samples = [
        one
        for one in spreads(replace(d.result, samples=judged))
        if not all(value in (0, 1) for part in one.values for value in part.values)
    ]
    if not images and not samples:
        return None
    blocks: list[Block] = []
    if images:
        columns = [Column("", "text"), Column("model", "text")]
        columns += [Column(name) for _, name in MARKS]
        rows = [
            [
                Cell(f"{part.title} ({part.detail})" if part.detail else part.title),
                Cell(d.models[one.model]),
                *(Cell(mark) for mark in one.marks),
            ]
            for part in images[:SETTINGS]
            for one in part.spreads
        ]
        blocks.append(Table(columns, rows, f"Values of the {d.unit}s"))
    charts = [
        replace(
            spread(part, d.models, d.unit),
            title=f"{capital(part.title)} of the {d.unit}s",
            kind="spread",
            heading=capital(part.title),
        )
        for part in images[:SETTINGS]
    ]
    for one in samples[:CHARTS]:
        name = f"{one.name} ({one.detail})" if one.detail else one.name
        drawn = replace(one, values=one.values[:MODELS]).drawn(list(d.models))
        charts.append(replace(drawn, title=f"Samples by {name}", kind="histogram", heading=name))
    blocks.append(Charts(charts))
    if len(samples) > CHARTS:
        blocks.append(Note(f"{len(samples) - CHARTS} more metrics are left out."))
    return Section(f"Values of the {d.unit}s", "spread", blocks, folded=True)
