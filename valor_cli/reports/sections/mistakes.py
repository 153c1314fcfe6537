"""Errors by kind and by pair of labels, and the worst images."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from valor_cli.reports.charts.heat_map import heated
from valor_cli.reports.digests.digest import Digest
from valor_cli.reports.digests.errors.breakdown import Breakdown, Kind, Share, breakdowns
from valor_cli.reports.digests.errors.cell_lists import cell_lists
from valor_cli.reports.digests.errors.confusion import (
    Confusion,
    Pair,
    confusions,
    lone_sides,
    top_pairs,
)
from valor_cli.reports.digests.errors.outcomes import MISSED
from valor_cli.reports.digests.errors.worst_images import WorstImage, worst_images
from valor_cli.reports.digests.formatting import clean, number
from valor_cli.reports.document import (
    EMPTY,
    Block,
    Cell,
    Charts,
    Column,
    Item,
    Items,
    Note,
    Section,
    Table,
)
from valor_cli.reports.sections.links import explore, sample

PAIRS = 10
"""Confused pairs listed of each model."""

WORST = 5
"""Worst images named of each model."""

DRAWN = 12
CELLS = 12_000
"""Matrices drawn, and cells of them."""


def breakdown(d: Digest) -> Section | None:
    """The average precision that each kind of error costs, costliest first."""
    found = breakdowns(d.result)
    if not found:
        return None
    blocks: list[Block] = [_costs(one, d) for one in found]
    if any(kind.name == MISSED.words for one in found for kind in one.kinds):
        blocks.append(Note(f"{MISSED.words.capitalize()}: {MISSED.meaning}."))
    return Section("Average precision lost", "errors", blocks, folded=True)


def _costs(found: Breakdown, d: Digest) -> Table:
    rows = (*found.kinds, *found.sides)
    most = max((share.cost or 0.0 for kind in rows for share in kind.shares), default=0.0)
    columns = [Column("error", "text")]
    for model in d.models:
        over = model if len(d.models) > 1 else ""
        columns += [Column("AP lost", over=over, full=most), Column("errors", over=over)]
    lines = [
        [
            Cell(kind.name, title=kind.meaning),
            *(
                cell
                for at, share in enumerate(kind.shares)
                for cell in _share(kind, share, d.result.models[at])
            ),
        ]
        for kind in rows
    ]
    return Table(columns, lines, "Average precision lost", found.detail)


def _share(kind: Kind, share: Share, model: str) -> list[Cell]:
    cost = Cell(number(share.cost), value=share.cost, title=share.undefined or "")
    if share.count is None:
        return [cost, EMPTY]
    link = explore(model=model, outcome=kind.outcome) if share.count else ""
    return [cost, Cell(number(share.count, "count"), link=link)]


def confusion(d: Digest) -> Section | None:
    """The most confused labels, and on pages the matrices."""
    found = confusions(d.result)
    pairs = [(one, top_pairs(one, PAIRS)) for one in found]
    pairs = [(one, top) for one, top in pairs if top]
    missed, alone = lone_sides(found)
    drawn: list[Block] = []
    cells = 0
    for one in found[:DRAWN]:
        cells += len(one.table.labels) ** 2
        if cells > CELLS and drawn:
            break
        title = _title(one, d)
        drawing = heated(one, missed=missed, alone=alone, link=_linked(one, d))
        drawn.append(Charts([drawing.chart(f"Confusion{title and f', {title}'}", "matrix")], title))
    if not pairs and not drawn:
        return None
    blocks = [*drawn, *(_pairs(one, top, d) for one, top in pairs)]
    if len(found) > len(drawn):
        blocks.append(Note(f"{len(found) - len(drawn)} more matrices stand in results.json."))
    return Section("Confusion", "confusion", blocks, folded=True)


def _linked(one: Confusion, d: Digest) -> Callable[[str | None, str | None], str]:
    """From the labels of a cell to the list that it counts, else to one of its samples."""
    labels = {clean(label, 60): at for at, label in enumerate(one.table.labels)}
    lists = cell_lists(one, d.result)

    def link(truth: str | None, predicted: str | None) -> str:
        if not {truth, predicted} <= {None, *labels}:  # those that are summed up
            return ""
        row, column = (None if name is None else labels[name] for name in (truth, predicted))
        names = [None if at is None else one.table.labels[at] for at in (row, column)]
        filters = lists(*names)
        if filters is not None:
            return explore(model=one.table.model, **filters)
        examples = one.examples.get((row, column), ())
        return sample(examples[0].sample_id) if examples else ""

    return link


def _title(one: Confusion, d: Digest) -> str:
    parts = [d.models[one.model] if len(d.models) > 1 else "", one.detail]
    return ", ".join(filter(None, parts))


def _pairs(one: Confusion, pairs: Sequence[Pair], d: Digest) -> Table:
    named, link = any(pair.sample_id for pair in pairs), _linked(one, d)
    of = "pixels" if one.pixels else "ground truths" if d.n_name == "n" else d.n_name
    columns = [
        Column("ground truth", "text"),
        Column("predicted", "text"),
        Column("pixels" if one.pixels else "count"),
        Column(f"of its {of}"),
        *([Column(f"example {d.unit}", "text")] if named else []),
    ]
    rows = [
        [
            Cell(pair.ground_truth),
            Cell(pair.prediction),
            Cell(
                number(pair.count, "count"),
                link=link(pair.ground_truth, pair.prediction),
            ),
            Cell(f"{pair.share:.1%}"),
            *([Cell(pair.sample_id or "")] if named else []),
        ]
        for pair in pairs
    ]
    parts = [d.models[one.model] if len(d.models) > 1 else "", one.settings]
    title = " at ".join(filter(None, parts))
    return Table(columns, rows, "Most confused labels", title)


def images(d: Digest) -> Section | None:
    """The worst images of each model, by name; pages show them in the explorer."""
    found = worst_images(d.result, WORST)
    if not any(found):
        return None
    many = len(d.models) > 1
    blocks = [
        Items([_image(one) for one in own], title=model if many else "")
        for model, own in zip(d.models, found, strict=True)
        if own
    ]
    return Section("Worst images", "worst", blocks, folded=True)


def _image(image: WorstImage) -> Item:
    file = f"{image.file} · " if image.file not in ("", image.name) else ""
    parts = [f"{file}{image.measure} {image.value}", image.others, image.errors]
    link = sample(image.example.sample_id)
    return Item(" · ".join(filter(None, parts)), image.name, "strong", link=link)
