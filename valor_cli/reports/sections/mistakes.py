"""Errors by kind and by pair of labels, and the worst images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from valor_cli.reports.charts.heat_map import heated
from valor_cli.reports.digests.confusion import (
    Confusion,
    Pair,
    cell_lists,
    confusions,
    lone_sides,
    top_pairs,
)
from valor_cli.reports.digests.digest import Digest
from valor_cli.reports.digests.formatting import clean, number, output_words, whole
from valor_cli.reports.digests.mistakes import (
    ERRORS,
    MISSED,
    Breakdown,
    Kind,
    Share,
    breakdowns,
    counted,
    told,
)
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
    explore,
    sample,
)
from valor_cli.results import ExampleResult, RunResult, Scalar

PAIRS = 10
"""Confused pairs listed of each model."""

WORST = 5
"""Worst images named of each model."""

OTHERS = 3
"""Further values told of an image."""

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
        other = "Other false negatives count as the error of the detection that would find them."
        blocks.append(Note(f"{MISSED.words.capitalize()}: {MISSED.meaning}. {other}"))
    return Section("Average precision lost", "errors", blocks, folded=True)


def _costs(found: Breakdown, d: Digest) -> Table:
    rows = (*found.kinds, *found.sides)
    most = max((share.cost or 0.0 for kind in rows for share in kind.shares), default=0.0)
    # All errors of one side, of which the kinds above are parts.
    sides = {kind.name: explore(outcome=kind.outcome, threshold=0) for kind in found.sides}
    columns = [Column("error", "text")]
    for model in d.models:
        over = model if len(d.models) > 1 else ""
        columns += [Column("AP lost", over=over, full=most), Column("errors", over=over)]
    lines = [
        [
            Cell(kind.name, title=kind.meaning, link=sides.get(kind.name, "")),
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
    # Errors are counted at every score.
    some = bool(share.count and kind.outcome)
    link = explore(model=model, outcome=kind.outcome, threshold=0) if some else ""
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
        chart = replace(drawing, title=f"Confusion{title and f', {title}'}", kind="matrix")
        drawn.append(Charts([chart], title))
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
    found: dict[str, list[ExampleResult]] = {model: [] for model in d.result.models}
    for one in d.result.examples:
        if one.kind == "worst_image" and one.slice is None and one.model in found:
            seen = found[one.model]
            # A metric asked at two settings may name an image twice.
            if len(seen) < WORST and all(other.sample_id != one.sample_id for other in seen):
                seen.append(one)
    if not any(found.values()):
        return None
    primary: dict[str, str] = {}
    for row in d.result.metrics:
        primary.setdefault(row.metric, row.output)  # a metric's first output is its primary one
    for samples in d.result.samples:
        primary.setdefault(samples.metric, next(iter(samples.columns), "value"))
    others = _others(d.result, [one for own in found.values() for one in own if not one.objects])
    blocks = [
        Items(
            [_image(one, primary.get(one.metric, "value"), others) for one in own],
            title=model if len(d.models) > 1 else "",
        )
        for model, own in zip(d.models, found.values(), strict=True)
        if own
    ]
    return Section("Worst images", "worst", blocks, folded=True)


def _others(
    result: RunResult, examples: Sequence[ExampleResult]
) -> dict[tuple[str, str, Scalar], str]:
    """Further values of images without objects to count, in words."""
    wanted = {(one.metric, one.model, one.sample_id) for one in examples}
    told: dict[tuple[str, str, Scalar], str] = {}
    for samples in result.samples if wanted else ():
        further = [pair for pair in list(samples.columns.items())[1:] if not whole(pair[1])]
        for at, name in enumerate(samples.sample_ids):
            key = (samples.metric, samples.model, name)
            if key in wanted and key not in told:
                values = [
                    f"{output_words(output)} {number(column[at])}"
                    for output, column in further
                    if column[at] is not None
                ]
                told[key] = ", ".join(values[:OTHERS])
    return told


def _image(one: ExampleResult, output: str, others: Mapping[tuple[str, str, Scalar], str]) -> Item:
    name = clean(str(one.sample_id), 60)
    file = clean(one.picture.file, 120) if one.picture and one.picture.file else name
    value = f"{output_words(output)} {number(one.value)}"
    parts = [
        value if file == name else f"{file} · {value}",
        others.get((one.metric, one.model, one.sample_id), ""),
        told(counted(one), [error.name for error in ERRORS]),
    ]
    return Item(" · ".join(filter(None, parts)), name, "strong", link=sample(one.sample_id))
