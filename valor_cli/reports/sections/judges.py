"""Judges: what they took, how far they agree, and what they were asked."""

from __future__ import annotations

from collections.abc import Sequence

from valor_cli.reports.digests.digest import Digest
from valor_cli.reports.digests.formatting import NO_VALUE
from valor_cli.reports.digests.judge_agreement import (
    FEW,
    AgreementLine,
    agreement_lines,
    prompt_lines,
)
from valor_cli.reports.digests.judge_usage import UsageLine, UsageTable, usage_table
from valor_cli.reports.document import Block, Cell, Column, Item, Items, Section, Table, sample

USAGE = 120
AGREEMENTS = 100
PROMPTS = 100
"""Lines listed; results.json has all of them."""

_COLUMNS = (
    ("calls", "calls", 0),
    ("cached", "cached", 3),
    ("failed", "failed", 4),
    ("tokens_in", "tokens in", 1),
    ("tokens_out", "tokens out", 1),
    ("cost", "cost", 0),
    ("saved", "saved", 2),
)
"""By attribute of a line the heading, and the order in which columns are left out."""


def judges(d: Digest) -> Section | None:
    """Usage by judge, metric and model; agreement, lowest first; and prompts."""
    used = usage_table(d.result, USAGE)
    agreed = agreement_lines(d.result)
    prompts = prompt_lines(d.result)
    blocks: list[Block] = []
    if used:
        blocks.append(_usage(used))
    if agreed:
        ordered = sorted(agreed, key=lambda line: (line.part is None, line.part or 0.0))
        many = len(d.models) > 1
        blocks += [_sentences(ordered, d, many=many), _agreements(ordered, many=many)]
    if prompts:
        columns = [Column(name, "text") for name in ("prompt", "version", "sha256", "from")]
        rows = [
            [Cell(one.name), Cell(one.version), Cell(one.sha256, "quiet"), Cell(one.source)]
            for one in prompts[:PROMPTS]
        ]
        blocks.append(Table(columns, rows, "Prompts", page=30, left_out=len(prompts) - len(rows)))
    if not blocks:
        return None
    told = _at_once(used) if used else ""
    return Section("Judges", "judges", blocks, told=told, folded=True)


def _at_once(used: UsageTable) -> str:
    """All of it: "scripted · 960 calls, 72 cached · cost $0.1722, saved $0.0126"."""
    line = used.total or used.lines[0]
    parts = [f"{line.calls} call{'' if line.calls == '1' else 's'}"]
    parts += [
        f"{getattr(line, name)} {name}"
        for name in ("cached", "failed")
        if getattr(line, name) != NO_VALUE
    ]
    saved = f", saved {line.saved}" if line.saved != NO_VALUE else ""
    who = used.judges[0] if len(used.judges) == 1 else f"{len(used.judges)} judges"
    return f"{who} · {', '.join(parts)} · cost {line.cost}{saved}"


def _usage(used: UsageTable) -> Table:
    whole = used.total or used.lines[0]
    shown = [one for one in _COLUMNS if getattr(whole, one[0]) != NO_VALUE]
    columns = [
        Column("judge", "text"),
        *([Column("metric", "text")] if used.by_metric else []),
        *([Column("model", "text")] if used.by_model else []),
        *(Column(name, drop=drop) for _, name, drop in shown),
    ]
    lines = [*used.lines, *([used.total] if used.total else [])]
    rows = [
        [
            Cell(line.judge or "total", "strong" if line is used.total else ""),
            *([Cell("" if line is used.total else line.metric)] if used.by_metric else []),
            *([Cell(line.model)] if used.by_model else []),
            *(_count(line, name) for name, _, _ in shown),
        ]
        for line in lines
    ]
    return Table(columns, rows, "Usage", page=17, screen=(0, 6), left_out=used.left_out)


def _count(line: UsageLine, name: str) -> Cell:
    told = str(getattr(line, name))
    return Cell(told, "quiet" if told == NO_VALUE else "")


def _sentences(lines: Sequence[AgreementLine], d: Digest, *, many: bool) -> Items:
    items = [
        Item(f"{line.metric}{f', {line.model}' if many else ''}: {line.sentence}") for line in lines
    ]
    return Items(items, page=0, screen=(1, 4))


def _agreements(lines: Sequence[AgreementLine], *, many: bool) -> Table:
    columns = [
        Column("metric", "text"),
        *([Column("model", "text")] if many else []),
        *(Column(name, "text") for name in ("who", "means", "widest apart")),
        *(Column(name) for name in ("samples", "agree on", "coefficient", "apart by")),
    ]
    rows = [
        [
            Cell(line.metric),
            *([Cell(line.model)] if many else []),
            Cell(line.raters),
            Cell(line.means),
            Cell(", ".join(line.apart[:FEW]), link=sample(line.apart[0]) if line.apart else ""),
            Cell(line.samples),
            Cell(line.share, value=line.part),
            Cell(line.coefficient),
            Cell(line.spread),
        ]
        for line in lines[:AGREEMENTS]
    ]
    left_out = len(lines) - len(rows)
    return Table(columns, rows, "Agreement", page=30, left_out=left_out)
