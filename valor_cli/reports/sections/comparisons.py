"""Comparisons within a run: its models with each other, and with a baseline."""

from __future__ import annotations

from itertools import combinations

from valor_cli.reports.digests.compared_values import (
    MARKS,
    TONES,
    ComparedValue,
    compared_values,
    counts_of,
    headline_of,
    in_words,
    tested,
)
from valor_cli.reports.digests.digest import Digest, ranking
from valor_cli.reports.digests.formatting import clean, plural
from valor_cli.reports.document import Block, Cell, Column, Item, Items, Note, Section, Table
from valor_cli.reports.sections.headline import forward, why
from valor_cli.reports.sections.tables import compared_table
from valor_cli.results import ComparisonResult

PAIRS = 66
"""Pairs of models with a row of their own: those of twelve models."""

ACROSS = 6
"""Headline values beside each pair."""

FURTHER = 100
"""Further values listed of a baseline."""

LINES = 8
"""Pairs told in a sentence."""


def models(d: Digest) -> Section | None:
    """More than two models with each other: who is ahead, a matrix, and all pairs."""
    names = d.result.models
    rows = [row for row in d.result.comparisons if not row.baseline and row.other in names]
    leading, others = headline_of(rows, d.result.primary)
    rows = leading or [row for row in others if row.label is None and row.slice is None]
    if len(names) < 3 or not rows:
        return None
    what = "headline values" if leading else "values"
    score = _Score(rows)
    blocks: list[Block] = [
        Items(_sentences(d, score, what), screen=(2, 4), where="the matrix"),
        _matrix(d, score),
        _pairs(d, rows),
        Note(f"Cells: on how many of {score.most} {what} the model of the row is better (✓) and "
             f"worse (✗) than that of the column; the others have no clear difference."),
    ]  # fmt: skip
    values = compared_values(rows)
    notes = [tested(values), *why(values)]
    notes = [one for one in notes if one]
    blocks += [Note("; ".join(notes) + ".")] if notes else []
    return Section("Compared", "compared", blocks)


class _Score:
    """By pair, on how many values the first is better than the second."""

    def __init__(self, rows: list[ComparisonResult]) -> None:
        self.wins: dict[tuple[str, str], int] = {}
        self.of: dict[tuple[str, str], int] = {}
        for row in rows:
            pair, turned = (row.model, row.other), (row.other, row.model)
            for one in (pair, turned):
                self.of[one] = self.of.get(one, 0) + 1
            if row.verdict in ("better", "worse"):
                ahead = pair if row.verdict == "better" else turned
                self.wins[ahead] = self.wins.get(ahead, 0) + 1
        self.most = max(self.of.values(), default=0)

    def __call__(self, model: str, other: str) -> tuple[int, int, int]:
        """Better, worse, and of how many."""
        ahead, behind = self.wins.get((model, other), 0), self.wins.get((other, model), 0)
        return ahead, behind, self.of.get((model, other), 0)


def _sentences(d: Digest, score: _Score, what: str) -> list[Item]:
    """Who is better than all others; else pair by pair, the clearest first."""
    names = d.result.models
    for model in names:
        others = [score(model, other) for other in names if other != model]
        if all(wins and not losses for wins, losses, _ in others):
            least = min(wins for wins, _, _ in others)
            all_others = "both others" if len(others) == 2 else f"all {len(others)} others"
            told = f"{clean(model, 40)} is better than {all_others}"
            more = f"on at least {least} of {score.most} {what}, and worse on none"
            return [Item(f"{told}, {more}", tone="good")]
    found, unclear = [], []
    for first, second in combinations(names, 2):
        wins, losses, of = score(first, second)
        if not of:
            continue
        ahead, behind = (first, second) if wins >= losses else (second, first)
        pair = clean(ahead, 24), clean(behind, 24)
        if not wins and not losses:
            unclear.append(" – ".join(pair))
            continue
        worse = f", worse on {min(wins, losses)}" if min(wins, losses) else ""
        told = f"{pair[0]} better than {pair[1]} on {max(wins, losses)} of {of} {what}{worse}"
        found.append((min(wins, losses) - max(wins, losses), told))
    lines = [told for _, told in sorted(found, key=lambda one: one[0])]
    lines += [f"no clear difference: {', '.join(unclear)}"] if unclear else []
    return [Item(line) for line in lines[:LINES]]


def _matrix(d: Digest, score: _Score) -> Table:
    """Each model against each other, best first."""
    order = ranking(d.headline, len(d.models))
    columns = [Column("better or worse than", "text")]
    columns += [Column(d.models[at]) for at in order]
    rows = []
    for model in order:
        cells = [Cell(d.models[model])]
        for other in order:
            wins, losses, of = score(d.result.models[model], d.result.models[other])
            told = " ".join([*([f"✓{wins}"] if wins else []), *([f"✗{losses}"] if losses else [])])
            tone = TONES["better" if wins > losses else "worse" if losses > wins else "equal"]
            said = f"better on {wins}, worse on {losses} of {of}"
            cells.append(Cell("") if model == other else Cell(told or "~", tone, title=said))
        rows.append(cells)
    return Table(columns, rows, caption="Models against each other")


def _pairs(d: Digest, rows: list[ComparisonResult]) -> Table:
    """A row for each pair with the difference of the first values."""
    turned = [forward(row, d.result.models) for row in rows]
    told = compared_values(turned)
    measures = list(dict.fromkeys(one.name for one in told))
    cells: dict[tuple[str, str], dict[str, ComparedValue]] = {}
    for one in told:
        cells.setdefault((one.row.model, one.row.other), {})[one.name] = one
    columns = [Column("", "text"), *(Column(name) for name in measures[:ACROSS])]
    lines = [
        [
            Cell(f"{clean(model, 40)} against {clean(other, 40)}"),
            *(_cell(of.get(name)) for name in measures[:ACROSS]),
        ]
        for (model, other), of in list(cells.items())[:PAIRS]
    ]
    left_out = len(cells) - len(lines)
    folded = f"{len(cells)} pairs of models"
    return Table(columns, lines, caption=folded, folded=folded, left_out=left_out)


def _cell(one: ComparedValue | None) -> Cell:
    if one is None:
        return Cell("–", "quiet")
    small = "" if one.row.p is None else f"p {one.p}"
    return Cell(one.difference, TONES[one.outcome], small, MARKS[one.outcome], title=one.reason)


def baseline(d: Digest) -> Section | None:
    """The models against those of an earlier run, worst first."""
    # Labels have a table of their own.
    rows = [row for row in d.result.comparisons if row.baseline and row.label is None]
    if not rows:
        return None
    leading, others = headline_of(rows, d.result.primary)
    whole = [row for row in others if row.label is None and row.slice is None]
    shown = leading or whole or rows
    order = list(MARKS)
    values = sorted(compared_values(shown), key=lambda one: order.index(one.outcome))
    many = len(d.models) > 1
    blocks: list[Block] = [
        compared_table(
            *(values, "baseline", "now"), verdict="now it is", named=many,
            # Of one model the table of results has the changes already.
            screen=(3, 8) if many else (0, 0), caption="Against the baseline",
        ),
        *_baseline_notes(values),
    ]  # fmt: skip
    taken = {id(row) for row in shown}
    rest = [row for row in others if id(row) not in taken]
    if rest:
        told = sorted(compared_values(rest), key=lambda one: order.index(one.outcome))
        folded = f"{plural(len(rest), 'further value')} against the baseline"
        left_out = max(len(rest) - FURTHER, 0)
        further = (told[:FURTHER], "baseline", "now")
        blocks.append(
            compared_table(
                *further, verdict="now it is", named=many, folded=folded, left_out=left_out, page=40
            )
        )
    return Section("Against the baseline", "baseline", blocks, told=in_words(counts_of(shown)))


def _baseline_notes(values: list[ComparedValue]) -> list[Note]:
    level = f"{1 - values[0].row.level:.2g}"
    tests = tested(values)
    told = [f"p: {tests}, adjusted by Holm's method over the headline values"] if tests else []
    told += [f"better or worse below {level}", *why(values)]
    return [Note("; ".join(told) + ".")]
