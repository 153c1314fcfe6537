"""The report of a comparison of two runs, or of the models of one, as a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.reports.charts.forest import forest
from valor_cli.reports.digests.compared_values import (
    EFFECTS,
    MARKS,
    UNADJUSTED,
    ComparedValue,
    Outcome,
    compared_values,
    counts_of,
    in_words,
    remarks,
    tested,
)
from valor_cli.reports.digests.formatting import clean, plural, words
from valor_cli.reports.document import (
    Block,
    Cards,
    Cell,
    Charts,
    Column,
    Document,
    Item,
    Items,
    Note,
    Samples,
    Section,
    Table,
    Tone,
)
from valor_cli.reports.sections.run_details import facts_of, facts_table, inputs_table, warnings
from valor_cli.reports.sections.samples import changed_cards, names_of
from valor_cli.reports.sections.tables import compared_table
from valor_cli.results import ChangeCount, ComparedRun, ComparedRuns

SHOWN = 3
"""Pairs with a table on a terminal."""

CLEAR = 8
"""Further values that are better or worse, on a terminal."""

PAIRS = 20
"""Pairs of models with tables of their own; the others get a line each."""

ROWS = 500
FURTHER = 60
"""Further values listed, and those of them in Markdown."""

SAMPLES = 12
"""Samples shown of each pair."""

DRAWN = 24
NAMES = 200
"""Differences drawn, and names listed of what only one run has."""

WHERE = "compared.json"

_VERDICTS: Mapping[Outcome, tuple[str, Tone]] = {
    "worse": ("WORSE", "bad"),
    "not tested": ("NOT TESTED", ""),
    "better": ("BETTER", "good"),
    "cannot tell": ("NO CLEAR DIFFERENCE", ""),
    "equal": ("EQUAL", ""),
}
"""What the whole comes to where any value is so, the bad news first, and its tone."""


class Pair(Struct, frozen=True):
    """A comparison of two models.

    Attributes:
        key: Candidate and baseline.
        title: Both names; empty where there is one pair of models of one name.
        other, model: Headings of their columns.
        headline, further: Values in words, those of the whole runs that lead first.
    """

    key: tuple[str, str]
    title: str
    other: str
    model: str
    headline: Sequence[ComparedValue]
    further: Sequence[ComparedValue]

    @property
    def counts(self) -> str:
        """The number of headline values by outcome, in words."""
        return in_words(counts_of(value.row for value in self.headline or self.further))


def compared_report(compared: ComparedRuns) -> Document:
    """All sections that the comparison has content for."""
    one_run = compared.first == compared.second and all(a != b for a, b in compared.pairs)
    pairs = pairs_of(compared, one_run=one_run)
    values = [one for pair in pairs for one in (*pair.headline, *pair.further)]
    told = notes_of(compared, values)
    word, symbol, detail, tone = _conclusion(compared)
    sections = [
        None if one_run else _sides(compared),
        warnings([clean(warning, 600) for warning in compared.warnings]),
        *(_pair(pair, at) for at, pair in enumerate(pairs[:PAIRS])),
        _other_pairs(pairs),
        Section("Notes", "notes", [Note(" ".join(told), screen=(1, 1))], plain=True)
        if told
        else None,
        *_changes(compared, pairs),
        _samples(compared, pairs),
        _only(compared),
        _runs(compared, one_run=one_run),
    ]
    first = compared.first
    return Document(
        word=word,
        symbol=symbol,
        detail=detail,
        tone=tone,
        title=f"{words(compared.task)}, compared",
        scope=[f"{clean(first.path, 200)} · {clean(_models(first), 200)}"] if one_run else (),
        alert="",
        badges=(),
        models=(),
        sections=[one for one in sections if one is not None],
    )


def _conclusion(compared: ComparedRuns) -> tuple[str, str, str, Tone]:
    """Whether the second run is worse, better, or neither can be concluded."""
    rows, what = compared.deciding, "headline value" if compared.headline else "value"
    counts = counts_of(rows)
    if not rows:
        return "NOTHING TO COMPARE", "?", "the runs have no value in common", "caution"
    # Of a value that neither run has there is nothing to test: it leads where nothing else is.
    leads: Mapping[Outcome, int] = {**counts, "not tested": len(compared.untested)}
    leading: Outcome = next((word for word in _VERDICTS if leads.get(word)), "not tested")
    word, tone = _VERDICTS[leading]
    rest = in_words(Counter({name: count for name, count in counts.items() if name != leading}))
    detail = f"{counts[leading]} of {len(rows)} {what}{'s' if len(rows) > 1 else ''}"
    if len(compared.pairs) > 1:
        detail += f" of {len(compared.pairs)} pairs of models"
    return word, MARKS[leading], f"{detail}, {rest}" if rest else detail, tone


def pairs_of(compared: ComparedRuns, *, one_run: bool) -> list[Pair]:
    """The pairs of models with their values in words."""
    leading = {id(row) for row in compared.headline}
    values: dict[tuple[str, str], tuple[list[ComparedValue], list[ComparedValue]]] = {}
    for model, other in compared.pairs:
        values[model, other] = [], []
    for one in compared_values(compared.comparisons):
        groups = values.setdefault((one.row.model, one.row.other), ([], []))
        groups[id(one.row) not in leading].append(one)
    return [
        Pair(key, *_headings(key, alone=len(values) == 1, one_run=one_run), *groups)
        for key, groups in values.items()
    ]


def _headings(key: tuple[str, str], *, alone: bool, one_run: bool) -> tuple[str, str, str]:
    """The title of a pair, and the headings of its baseline and its candidate."""
    model, other = (clean(name, 60) for name in key)
    title = f"{model} against {other}"
    model, other = (clean(name, 40) for name in key)
    if one_run:
        return title, other, model
    if key[0] == key[1]:
        # Of one name the title says whose values they are.
        return "" if alone else clean(key[0], 60), "A", "B"
    return title, f"A {other}", f"B {model}"


def _models(run: ComparedRun) -> str:
    return ", ".join(clean(model, 60) for model in run.models)


def _sides(compared: ComparedRuns) -> Section:
    """Which run is A, the baseline, and which is B, the candidate."""
    columns = [Column(name, "text") for name in ("", "run", "models", "", "started")]
    sides = (("A", "baseline", compared.first), ("B", "candidate", compared.second))
    rows = [
        [
            Cell(letter, "strong"),
            Cell(clean(run.path, 200)),
            Cell(clean(_models(run), 200)),
            Cell(role, "quiet"),
            Cell(clean(run.run.started_at)[:16].replace("T", " "), "quiet"),
        ]
        for letter, role, run in sides
    ]
    return Section("Sides", "sides", [Table(columns, rows, "Sides", screen=(2, 2))], plain=True)


def _pair(pair: Pair, at: int) -> Section:
    """The headline values, then the others, those that are better or worse first."""
    leading = pair.headline or pair.further[:ROWS]
    rest = pair.further if pair.headline else ()
    told = [one for one in rest if one.outcome in ("better", "worse")]
    shown = sorted(rest, key=lambda one: one.outcome not in ("better", "worse"))
    screen = (16, 19) if at < SHOWN else (0, 0)
    blocks: list[Block] = []
    if leading:
        blocks.append(_values(pair, leading, screen=screen, caption="Results"))
        shown_there = (1, 1) if at < SHOWN else (0, 0)
        blocks += [Note(remark, screen=shown_there) for remark in remarks(leading)[:8]]
        if told and at < SHOWN:
            blocks.append(_values(pair, told[:CLEAR], page=0, screen=(2, CLEAR)))
    else:
        blocks.append(Note("Nothing to compare.", screen=(1, 1)))
    if shown:
        of = f", {len(told):,} of them better or worse" if told else ""
        folded = f"{plural(len(rest), 'further value')}{of}"
        left_out = max(len(shown) - ROWS, 0)
        blocks.append(_values(pair, shown[:ROWS], folded=folded, page=FURTHER, left_out=left_out))
    drawn = [(one.name, one.row) for one in leading[:DRAWN] if one.row.difference is not None]
    if drawn:
        title = "Differences with their intervals"
        blocks.append(Charts([replace(forest(drawn), title=title, kind="forest")]))
    title = pair.title or "Results"
    anchor = "results" if not at else f"results-{at + 1}"
    return Section(title, anchor, blocks, pair.counts, plain=not pair.title)


def _values(pair: Pair, values: Sequence[ComparedValue], **more: Any) -> Table:
    return compared_table(values, pair.other, pair.model, where=WHERE, **more)


def _other_pairs(pairs: Sequence[Pair]) -> Section | None:
    """Those without a table: on a terminal more than on pages."""
    items = [Item(f"{pair.title}: {pair.counts or 'nothing to compare'}") for pair in pairs]
    if len(items) <= SHOWN:
        return None
    on_screen = Items(items[SHOWN:], page=0, screen=(18, 18), where=WHERE)
    blocks = [on_screen, *([Items(items[PAIRS:], where=WHERE)] if items[PAIRS:] else [])]
    return Section("Other pairs", "pairs", blocks)


def _changes(compared: ComparedRuns, pairs: Sequence[Pair]) -> Iterator[Section]:
    """On how many samples each metric is better, worse and equal, by pair."""
    names = names_of(compared)
    found: dict[tuple[str, str], list[ChangeCount]] = {}
    for one in compared.changes:
        found.setdefault((one.model, one.other), []).append(one)
    columns = [Column("metric", "text"), *map(Column, ("worse", "better", "equal"))]
    screen = (2, 10) if len(pairs) == 1 else (0, 0)
    for at, pair in enumerate(pairs[:PAIRS]):
        if pair.key not in found:
            continue
        rows = [
            [
                Cell(names.title(one.metric, one.output, one.parameters)),
                Cell(f"{one.worse:,}", "bad" if one.worse else ""),
                Cell(f"{one.better:,}", "good" if one.better else ""),
                Cell(f"{one.equal:,}", "quiet"),
            ]
            for one in sorted(found[pair.key], key=lambda one: not (one.better or one.worse))
        ]
        title = f"Samples that changed{f', {pair.title}' if pair.title else ''}"
        table = Table(columns, rows, title, page=60, screen=screen)
        yield Section(title, "changes" if not at else f"changes-{at + 1}", [table])


def _samples(compared: ComparedRuns, pairs: Sequence[Pair]) -> Section:
    """Both answers of the samples that changed most; pages have all samples."""
    headings = {pair.key: (pair.title, pair.other, pair.model) for pair in pairs}
    cards = changed_cards(compared, headings, SAMPLES)
    blocks: list[Block] = [Samples()]
    if cards:
        left_out = len(compared.changed) - len(cards)
        blocks.append(Cards("Both answers", cards, left_out, screen=(12, 12)))
    return Section("Changed most" if cards else "Samples", "samples", blocks)


def _only(compared: ComparedRuns) -> Section | None:
    """What only one of the runs has."""
    blocks = [
        Items([Item(clean(name, 120)) for name in names[:NAMES]], page=60, screen=(1, 4),
              title=f"Only {letter} has", left_out=max(len(names) - NAMES, 0), where=WHERE)
        for letter, names in (("A", compared.only_first), ("B", compared.only_second))
        if names
    ]  # fmt: skip
    return Section("In one run only", "only", blocks) if blocks else None


def _runs(compared: ComparedRuns, *, one_run: bool) -> Section:
    sides = (("", compared.first),) if one_run else (("A", compared.first), ("B", compared.second))
    blocks = []
    for letter, run in sides:
        facts = {"results": run.path, "models": _models(run), **facts_of(run.run)}
        blocks += [facts_table(letter, facts), inputs_table(run.run.inputs, letter)]
    return Section("Run" if one_run else "Runs", "run", blocks, folded=True)


def notes_of(compared: ComparedRuns, values: Sequence[ComparedValue]) -> tuple[str, ...]:
    """Notes on how to read the numbers that are present.

    Args:
        compared: The comparison.
        values: Those of it that are shown.
    """
    rows = [one.row for one in values]
    notes = [f"Tests: {tests}."] if (tests := tested(values)) else []
    if any(row.interval for row in rows):
        notes.append(f"Brackets: {compared.level * 100:g}% interval of each difference by itself.")
    if any(row.p_adjusted is not None for row in rows):
        of = " of a pair" if len(compared.pairs) > 1 else ""
        notes.append(f"p: two-sided, by Holm's method over the headline values{of}.")
    if any(one.p.endswith(UNADJUSTED) for one in values):
        notes.append(f"{UNADJUSTED} not adjusted: of many such values some are below by chance.")
    kinds = {row.effect_kind for row in rows if row.effect is not None}
    letters = [EFFECTS[kind] for kind in EFFECTS if kind in kinds]
    if letters:
        notes.append(f"{', '.join(letters)}: Cohen's effect size.")
    unpaired = max((row.unpaired for row in rows), default=0)
    if unpaired:
        what = "1 sample or image" if unpaired == 1 else f"{unpaired:,} samples or images"
        notes.append(f"Up to {what} that only one of the two has are left out of the tests.")
    return tuple(notes)
