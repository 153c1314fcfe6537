"""A calibration as a terminal, a document and programs are shown it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.reports.digests.formatting import NO_VALUE, clean, number, plural, signed, span
from valor_cli.reports.digests.naming import Names
from valor_cli.reports.document import (
    Block,
    Cell,
    Column,
    Document,
    Item,
    Items,
    Note,
    Section,
    Table,
)
from valor_cli.reports.sections.judge_tables import LISTED, name_of, of_metric, overview, wholes
from valor_cli.reports.sections.run_details import facts_table, warnings
from valor_cli.results import FEW, CalibrationResult, Scalar
from valor_cli.results.calibration import (
    Agreement,
    AnnotatorsResult,
    Calibrated,
    DifferenceResult,
    ThresholdResult,
)
from valor_cli.results.document import dumps
from valor_cli.results.identity import frozen

WHERE = "calibration.json"

PEOPLE = 30
"""Annotators of a table, those with most labels; in one of pairs, a third of them."""

NAMED = 6
"""Annotators with a column of their own among the samples that differ."""

ROWS = 2000
"""Samples that differ in a page."""

REASON = 400
"""Characters of what a judge said."""


class _Metric(Struct, frozen=True):
    """What there is of a metric, of all models and judges together.

    Attributes:
        row: The judge compared with people.
        name: Of the metric.
        people: Of several annotators.
        threshold: Where the judge gives a number.
        differences: The samples on which the judge differs from people, by model.
    """

    row: CalibrationResult
    name: str
    people: AnnotatorsResult | None
    threshold: ThresholdResult | None
    differences: Sequence[DifferenceResult]


def _metrics(found: Calibrated) -> list[_Metric]:
    names = Names((row.metric, row.parameters) for row in found.rows)
    # Of each metric what is of all models and judges together comes first.
    people = {_key(one): one for one in reversed(found.annotators)}
    thresholds = {_key(one): one for one in reversed(found.thresholds)}
    together = [one for one in found.differences if one.judge is None]
    return [
        _Metric(
            row,
            name_of(row, names),
            people.get(_key(row)),
            thresholds.get(_key(row)),
            [one for one in together if _key(one) == _key(row)],
        )
        for row in wholes(found.rows)
    ]


def _key(
    row: CalibrationResult | AnnotatorsResult | ThresholdResult | DifferenceResult,
) -> tuple[object, ...]:
    return row.metric, frozen(row.parameters)


def calibrated(found: Calibrated) -> list[Block]:
    """What a terminal shows: a table of all metrics, then of each what it has."""
    blocks: list[Block] = [overview(found.rows)]
    for one in _metrics(found):
        heading = f"{one.name} against {clean(one.row.column)}"
        blocks += [Note(""), Note(heading, "strong")]
        if one.people is None:
            blocks += of_metric(one.row)
        else:
            blocks += [*_of_people(one, one.people), *_differing(one.differences)]
    return blocks


def _of_people(one: _Metric, people: AnnotatorsResult) -> list[Block]:
    """Judge and people, the annotators one by one, and the judge against their majority."""
    items = [*_people(people), *_threshold(one.threshold)]
    facts, *matrix = of_metric(replace(one.row, disagreements=()))
    if isinstance(facts, Items):
        facts = replace(facts, title="Against the majority")
    return [
        Items([Item(told, name) for name, told in items]),
        *(Note(""), _side_by_side(people)),
        *(Note(""), *_tables(people)),
        *(Note(""), facts, *matrix),
    ]


def _side_by_side(row: AnnotatorsResult) -> Table:
    """How far the judge, and people, agree with the majority of the other annotators."""
    rated = row.people.weighted_kappa is not None
    columns = [Column("with the majority of the others", "text"), Column("labels")]
    columns += map(Column, ("agreement", "kappa", *(("weighted kappa",) if rated else ())))
    lines = [
        [
            Cell(name),
            Cell(f"{one.n:,}"),
            Cell(number(one.agreement), small=span(one.agreement_interval)),
            Cell(number(one.kappa), small=span(one.kappa_interval), title=one.undefined or ""),
            *([Cell(number(one.weighted_kappa))] if rated else []),
        ]
        for name, one in (("judge", row.judge_among_people), ("people", row.people))
    ]
    return Table(columns, lines, "Judge and people")


def _differing(own: Sequence[DifferenceResult]) -> Iterator[Block]:
    """The first of the samples that differ, by their whole ids, and where all of them are."""
    if not own:
        return
    several = len({one.model for one in own}) > 1
    items = [
        Item(clean(f"{one.sample_id} of {one.model}" if several else str(one.sample_id), 300))
        for one in own[:LISTED]
    ]
    many = f"{len(own):,} samples" if len(own) > 1 else "1 sample"
    yield Note("")
    yield Items(items, title=f"The judge differs from the majority on {many}")
    more = f"… {len(own) - LISTED:,} more. " if len(own) > LISTED else ""
    yield Note(f"  {more}--format json and --out DIR have all of them, with what each one said.")


def _people(row: AnnotatorsResult) -> Iterator[tuple[str, str]]:
    count = len(row.annotators)
    left = f"{row.ties:,} without a majority {'is' if row.ties == 1 else 'are'} left out"
    ties = f"; {left}" if row.ties else ""
    yield "annotators", f"{count} with labels of {row.samples:,} samples{ties}"
    if row.shared < row.samples:
        yield "labelled twice", f"{row.shared:,} samples have labels of two annotators or more"
    if row.difference is not None:
        difference = f"{signed(row.difference)} {span(row.difference_interval)}".rstrip()
        yield "judge − people", f"{difference} of agreement, {_verdict(row)}"
    yield "pairs that agree", f"{number(row.agreement)} {span(row.agreement_interval)}".rstrip()
    alpha = f"{number(row.alpha)} {span(row.alpha_interval)}".rstrip()
    yield "Krippendorff's alpha", f"{alpha}, {row.undefined or f'{row.alpha_level} scale'}"


def _verdict(row: AnnotatorsResult) -> str:
    interval = row.difference_interval
    if interval is None or row.shared < FEW:
        return "too few samples to tell"
    if interval[0] <= 0 <= interval[1]:
        return "which chance alone may explain"
    return "the judge agrees less" if interval[1] < 0 else "the judge agrees more"


def _threshold(row: ThresholdResult | None) -> Iterator[tuple[str, str]]:
    if row is None:
        return
    if row.best is None:
        yield "best threshold", f"{NO_VALUE} ({row.undefined})"
        return
    now = ""
    if row.threshold is not None and row.threshold != row.best:
        now = f", in place of {number(row.kappa)} at {row.threshold:g}"
    best = f"{number(row.best)} {span(row.best_interval)}".rstrip()
    what = f"{row.output}, " if row.output != "value" else ""
    yield (
        "best threshold",
        (
            f"{what}{best}: kappa {number(row.best_kappa)}{now}; chosen on these samples, so "
            "that on others it is lower"
        ),
    )


def _tables(row: AnnotatorsResult) -> list[Block]:
    """A table of annotators, and one of their pairs."""
    columns = [Column("annotator", "text"), Column("labels"), Column("judge")]
    columns += map(Column, ("judge kappa", "others", "others kappa"))
    most = sorted(row.annotators, key=lambda one: -one.labels)[:PEOPLE]
    kept = [one for one in row.annotators if any(one is other for other in most)]
    lines = [
        [
            Cell(clean(one.annotator, 40)),
            Cell(f"{one.labels:,}"),
            *_cells(one.judge),
            *_cells(one.others),
        ]
        for one in kept
    ]
    left_out = len(row.annotators) - len(kept)
    blocks: list[Block] = [
        Table(columns, lines, "Annotators", left_out=left_out, where=WHERE),
        Note(
            "judge: the judge compared with the annotator. others: the annotator compared with the "
            "majority of the others."
        ),
    ]
    if len(row.annotators) > 2:
        headings = [Column("pair", "text"), *map(Column, ("n", "agreement", "kappa"))]
        names = {one.annotator for one in sorted(kept, key=lambda x: -x.labels)[: PEOPLE // 3]}
        pairs = [one for one in row.pairs if {one.first, one.second} <= names]
        cells = [
            [
                Cell(f"{clean(one.first, 30)} – {clean(one.second, 30)}"),
                Cell(f"{one.agreement.n:,}"),
                *_cells(one.agreement),
            ]
            for one in pairs
        ]
        rest = len(row.pairs) - len(pairs)
        blocks += [Note(""), Table(headings, cells, "Pairs", left_out=rest, where=WHERE)]
    return blocks


def _cells(one: Agreement) -> list[Cell]:
    return [
        Cell(number(one.agreement), title=one.undefined or ""),
        Cell(number(one.kappa), small=span(one.kappa_interval), title=one.undefined or ""),
    ]


def calibration_json(found: Calibrated, *, whole: bool) -> bytes:
    """The calibration for programs.

    `{"calibrations": […], "usage": […]}`: a `CalibrationResult` each, in the order of the table,
    with all its fields by their names (`model` null: all models together; `judge` null: all judges
    together); and a `UsageResult` for each metric, model and judge.

    Args:
        found: The calibration.
        whole: Whether also `annotators`, `thresholds` and `differences`, where one column alone
            has human labels; of several annotators they always are.
    """
    told: dict[str, Sequence[object]] = {"calibrations": found.rows, "usage": found.usage}
    if whole or found.annotators:
        told["annotators"] = found.annotators
        told["thresholds"] = found.thresholds
        told["differences"] = found.differences
    return dumps(told)


def calibration_report(found: Calibrated, facts: Mapping[str, str]) -> Document:
    """The calibration as a document.

    Args:
        found: The calibration.
        facts: How it was made: of the config and the files.
    """
    metrics = _metrics(found)
    models = list(dict.fromkeys(row.model for row in found.rows if row.model is not None))
    sections = [
        Section("Agreement", "agreement", [_filled(overview(found.rows)), Note(_READ)]),
        *(_section(one, at) for at, one in enumerate(metrics)),
        warnings([clean(one, 600) for one in dict.fromkeys(found.warnings)]),
        *(_differences(one, at) for at, one in enumerate(metrics)),
        Section("Run", "run", [facts_table("", facts)], folded=True),
    ]
    return Document(
        word="CALIBRATION",
        symbol="·",
        detail=_conclusion(metrics[0]),
        tone="",
        title="judge and people, compared",
        scope=[plural(len(metrics), "metric")],
        alert="" if found.stopped is None else clean(found.stopped[1], 300),
        badges=(),
        models=models,
        sections=[one for one in sections if one is not None],
    )


_READ = (
    "Brackets: 95 % interval by bootstrap over samples. Kappa corrects for agreement by chance. Of "
    "several annotators it is their majority that the judge is compared with."
)


def _filled(table: Table) -> Table:
    """A table without the columns in which no row has a value."""
    kept = [
        at
        for at in range(len(table.columns))
        if any(row[at].text != NO_VALUE for row in table.rows)
    ]
    rows = [[row[at] for at in kept] for row in table.rows]
    return replace(table, columns=[table.columns[at] for at in kept], rows=rows)


def _conclusion(one: _Metric) -> str:
    """The first metric in a line."""
    if one.people is None:
        kappa = f"kappa {number(one.row.kappa)} {span(one.row.kappa_interval)}".rstrip()
        return f"{one.name}: {kappa}"
    judge, people = one.people.judge_among_people, one.people.people
    return (
        f"{one.name}: judge {number(judge.agreement)}, people among themselves "
        f"{number(people.agreement)}"
    )


def _section(one: _Metric, at: int) -> Section:
    if one.people is not None:
        blocks = _of_people(one, one.people)
    else:
        items = [Item(told, label) for label, told in _threshold(one.threshold)]
        blocks = [*of_metric(one.row), *([Items(items)] if items else [])]
    blocks = [block for block in blocks if block != Note("")]
    return Section(one.name, f"metric-{at}", blocks, told=f"against {clean(one.row.column)}")


def _differences(metric: _Metric, at: int) -> Section | None:
    """The samples on which judges together differ from people."""
    own, people = metric.differences, metric.people
    if not own:
        return None
    annotators = [one.annotator for one in people.annotators] if people is not None else []
    models = len({one.model for one in own}) > 1
    columns = [Column("sample", "text")]
    columns += [Column("model", "text")] if models else []
    labels = ("majority" if annotators else "human", "judge", *annotators[:NAMED])
    # Never folded: labels are short.
    columns += [Column(clean(one, 30)) for one in labels]
    columns += [Column("why, as the judge says", "text")]
    lines = [
        [
            Cell(clean(str(one.sample_id), 200)),
            *([Cell(clean(one.model))] if models else []),
            _label(one.human),
            _label(one.verdict),
            *(_label(one.labels.get(annotator)) for annotator in annotators[:NAMED]),
            Cell(clean(" · ".join(one.reasons), REASON) if one.reasons else NO_VALUE),
        ]
        for one in own[:ROWS]
    ]
    table = Table(
        columns,
        lines,
        "Samples that differ",
        left_out=len(own) - len(lines),
        where=WHERE,
        sortable=True,
    )
    told = f"{len(own):,} of {metric.row.n:,}, {metric.name}"
    return Section("Samples that differ", f"differ-{at}", [table], told=told)


def _label(value: Scalar) -> Cell:
    if value is None:
        return Cell(NO_VALUE)
    return Cell(number(value) if isinstance(value, float) else clean(str(value), 60))
