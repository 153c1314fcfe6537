"""The report of a comparison of two runs, or of the models of one, as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from valor_cli.reports.charts.forest import forest
from valor_cli.reports.digests.comparison.digest import (
    ComparedDigest,
    ShownPair,
    compared_digest,
)
from valor_cli.reports.digests.comparison.rows import ComparedValue, remarks
from valor_cli.reports.digests.comparison.samples import (
    ShownSample,
    ShownSide,
    change_texts,
    shown_samples,
)
from valor_cli.reports.document import (
    Block,
    Card,
    Cards,
    Cell,
    Charts,
    Column,
    Document,
    Item,
    Items,
    Note,
    Part,
    Samples,
    Section,
    Table,
    Tone,
)
from valor_cli.reports.sections.run_details import facts_table, warnings
from valor_cli.reports.sections.tables import compared_table
from valor_cli.results import ComparedRuns, ShownText

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

_TONES: dict[str, Tone] = {"worse": "bad", "better": "good", "none": "caution"}


def compared_report(compared: ComparedRuns) -> Document:
    """All sections that the comparison has content for."""
    d = compared_digest(compared)
    alone = len(d.pairs) == 1
    sections = [
        _sides(d),
        warnings(d.warnings),
        *(_pair(pair, at, d) for at, pair in enumerate(d.pairs[:PAIRS])),
        _other_pairs(d.pairs),
        Section("Notes", "notes", [Note(" ".join(d.notes), screen=(1, 1))], plain=True)
        if d.notes
        else None,
        *(_changes(pair, at, screen=alone) for at, pair in enumerate(d.pairs[:PAIRS])),
        _samples(compared, d),
        _only(d),
        _runs(d),
    ]
    return Document(
        word=d.verdict.word,
        symbol=d.verdict.symbol,
        detail=d.verdict.detail,
        tone=_TONES.get(d.verdict.kind, ""),
        title=f"{d.task}, compared",
        scope=[f"{side.path} · {side.models}" for side in d.sides] if d.one_run else (),
        alert="",
        badges=(),
        models=(),
        sections=[one for one in sections if one is not None],
    )


def _sides(d: ComparedDigest) -> Section | None:
    """Which run is A, the baseline, and which is B, the candidate."""
    if d.one_run:
        return None
    columns = [Column(name, "text") for name in ("", "run", "models", "", "started")]
    rows = [
        [
            Cell(side.letter, "strong"),
            Cell(side.path),
            Cell(side.models),
            Cell("candidate" if side.letter == "B" else "baseline", "quiet"),
            Cell(side.started[:16].replace("T", " "), "quiet"),
        ]
        for side in d.sides
    ]
    return Section("Sides", "sides", [Table(columns, rows, "Sides", screen=(2, 2))], plain=True)


def _pair(pair: ShownPair, at: int, d: ComparedDigest) -> Section:
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
        folded = f"{len(rest):,} further value{'' if len(rest) == 1 else 's'}{of}"
        left_out = max(len(shown) - ROWS, 0)
        blocks.append(_values(pair, shown[:ROWS], folded=folded, page=FURTHER, left_out=left_out))
    drawn = [(one.name, one.row) for one in leading[:DRAWN] if one.row.difference is not None]
    if drawn:
        blocks.append(Charts([forest(drawn).chart("Differences with their intervals", "forest")]))
    title = pair.title or "Results"
    anchor = "results" if not at else f"results-{at + 1}"
    return Section(title, anchor, blocks, pair.counts, plain=not pair.title)


def _values(pair: ShownPair, values: Sequence[ComparedValue], **more: Any) -> Table:
    return compared_table(values, pair.other, pair.model, where=WHERE, **more)


def _other_pairs(pairs: Sequence[ShownPair]) -> Section | None:
    """Those without a table: on a terminal more than on pages."""
    items = [Item(f"{pair.title}: {pair.counts or 'nothing to compare'}") for pair in pairs]
    if len(items) <= SHOWN:
        return None
    on_screen = Items(items[SHOWN:], page=0, screen=(18, 18), where=WHERE)
    blocks = [on_screen, *([Items(items[PAIRS:], where=WHERE)] if items[PAIRS:] else [])]
    return Section("Other pairs", "pairs", blocks)


def _changes(pair: ShownPair, at: int, *, screen: bool) -> Section | None:
    """On how many samples each metric is better, worse and equal."""
    if not pair.changes:
        return None
    columns = [Column("metric", "text"), *map(Column, ("worse", "better", "equal"))]
    rows = [
        [
            Cell(one.name),
            Cell(f"{one.worse:,}", "bad" if one.worse else ""),
            Cell(f"{one.better:,}", "good" if one.better else ""),
            Cell(f"{one.equal:,}", "quiet"),
        ]
        for one in sorted(pair.changes, key=lambda one: not (one.better or one.worse))
    ]
    title = f"Samples that changed{f', {pair.title}' if pair.title else ''}"
    table = Table(columns, rows, title, page=60, screen=(2, 10) if screen else (0, 0))
    return Section(title, "changes" if not at else f"changes-{at + 1}", [table])


def _samples(compared: ComparedRuns, d: ComparedDigest) -> Section | None:
    """Both answers of the samples that changed most; pages have all samples."""
    shown = shown_samples(compared, SAMPLES)
    pairs = {pair.key: pair for pair in d.pairs}
    cards = [_card(one, pairs[one.source.model, one.source.other]) for one in shown]
    blocks: list[Block] = [Samples()]
    if cards:
        left_out = len(compared.changed) - len(cards)
        blocks.append(Cards("Both answers", cards, left_out, screen=(12, 12)))
    return Section("Changed most" if cards else "Samples", "samples", blocks)


def _card(one: ShownSample, pair: ShownPair) -> Card:
    changes = "; ".join(f"{word} {told}" for word, told in change_texts(one.changes[:4]))
    told = " · ".join(filter(None, (pair.title, changes)))
    parts = [Part(title, ShownText("", text)) for title, text, _ in one.shared]
    parts += [
        Part(f"{heading} · {text.title}", _marked(side), apart=True)
        for text in one.texts
        for heading, side in ((pair.other, text.other), (pair.model, text.own))
    ]
    return Card(one.name, told, parts)


def _marked(side: ShownSide) -> ShownText | None:
    """A text with the words that differ marked."""
    if side.missing:
        return None
    marks: list[tuple[int, int, str]] = []
    at = 0
    for text, differs in side.parts:
        if differs:
            marks.append((at, at + len(text), "differs"))
        at += len(text)
    return ShownText("", "".join(text for text, _ in side.parts), marks, int(bool(side.left_out)))


def _only(d: ComparedDigest) -> Section | None:
    """What only one of the runs has."""
    blocks = [
        Items([Item(name) for name in names[:NAMES]], page=60, screen=(1, 4), title=title,
              left_out=max(len(names) - NAMES, 0), where=WHERE)
        for title, names in d.only
    ]  # fmt: skip
    return Section("In one run only", "only", blocks) if blocks else None


def _runs(d: ComparedDigest) -> Section:
    blocks = [block for side in d.sides for block in _run(side.letter, side.facts, side.inputs)]
    return Section("Run" if d.one_run else "Runs", "run", blocks, folded=True)


def _run(
    letter: str, facts: Iterable[tuple[str, str]], inputs: Iterable[tuple[str, str, str]]
) -> Iterator[Block]:
    yield facts_table(letter, dict(facts))
    columns = [Column("input", "text"), Column("rows"), Column("sha256")]
    rows = [[Cell(path), Cell(count), Cell(sha, "quiet")] for path, count, sha in inputs]
    yield Table(columns, rows, f"Inputs {letter}".rstrip())
