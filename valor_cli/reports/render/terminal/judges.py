"""Judge usage and agreement in the terminal summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from valor_cli.reports.render.terminal.findings import MESSAGE
from valor_cli.reports.render.terminal.table_width import Fitting, table
from valor_cli.reports.sections.formatting import NO_VALUE, clean
from valor_cli.reports.sections.judge_agreement import AgreementLine
from valor_cli.reports.sections.judge_usage import UsageLine, UsageTable

_COLUMNS = {
    "calls": "calls",
    "cached": "cached",
    "failed": "failed",
    "tokens_in": "tokens in",
    "tokens_out": "tokens out",
    "cost": "cost",
    "saved": "saved",
}
"""By attribute of a line, the heading."""

FEW = 3
"""Lines of usage below which a table is not worth its headings."""

_NARROWER = (("tokens_in", "tokens_out"), ("saved",), ("cached",), ("failed",))
"""What is left out where there is no room for all, one after the other."""


def judge_lines(
    used: UsageTable | None, most: int, sentences: Sequence[str], told: int
) -> Iterator[RenderableType]:
    """Calls by metric or by judge, and agreement.

    Args:
        used: What they took.
        most: Lines of it that there is room for; where there are few, one tells all.
        sentences: How far they agree, from `agreement_sentences`.
        told: How many of these there is room for.
    """
    if used is None:
        if sentences:
            yield Text("Judges", style="bold")
    elif most < min(len(used.lines), FEW):
        yield Text.assemble(*_heading(used), f"  {_at_once(used.total or used.lines[0])}")
    else:
        yield Text.assemble(*_heading(used))
        lines = used.lines[:most]
        yield Fitting([_usage(used, lines, columns)] for columns in _forms(used))
        left_out = len(used.lines) - len(lines) + used.left_out
        if left_out:
            yield Text(f"  … {left_out:,} more, counted in the total", style="dim")
    yield from _agreements(sentences, told)


def _heading(used: UsageTable) -> tuple[Any, ...]:
    """The judge, or the number of judges."""
    if len(used.judges) == 1:
        return ("Judge", "bold"), f"  {used.judges[0]}"
    return ("Judges", "bold"), f"  {len(used.judges)}"


def _at_once(line: UsageLine) -> str:
    """All of it in few words: "960 calls, 72 cached, 3 failed · cost $0.1722, saved $0.0126"."""
    parts = [f"{line.calls} call{'' if line.calls == '1' else 's'}"]
    parts += [
        f"{getattr(line, name)} {name}"
        for name in ("cached", "failed")
        if getattr(line, name) != NO_VALUE
    ]
    saved = f", saved {line.saved}" if line.saved != NO_VALUE else ""
    return f"{', '.join(parts)} · cost {line.cost}{saved}"


def _forms(used: UsageTable) -> Iterator[Sequence[str]]:
    """The columns that say something; narrower and narrower."""
    whole = used.total or used.lines[0]
    columns = [name for name in _COLUMNS if getattr(whole, name) != NO_VALUE]
    yield columns
    for names in _NARROWER:
        columns = [name for name in columns if name not in names]
        yield columns


def _usage(used: UsageTable, lines: Sequence[UsageLine], columns: Sequence[str]) -> Table:
    made = table("", *(_COLUMNS[name] for name in columns), width=12)
    for line in (*lines, *([used.total] if used.total else [])):
        cells = (str(getattr(line, name)) for name in columns)
        style = "dim" if line is used.total else ""
        made.add_row(Text(line.metric or line.judge, style), *map(_cell, cells))
    return made


def _cell(text: str) -> Text:
    return Text(text, style="dim" if text == NO_VALUE else "")


def agreement_sentences(lines: Sequence[AgreementLine], *, many: bool) -> list[str]:
    """A sentence per metric, and per model if many; lowest agreement first."""
    return [
        f"{line.metric}{f', {line.model}' if many else ''}: {line.sentence}"
        for line in sorted(lines, key=lambda line: (line.part is None, line.part or 0.0))
    ]


def _agreements(sentences: Sequence[str], most: int) -> Iterator[RenderableType]:
    if not sentences:
        return
    made = Table.grid(padding=(0, 1, 0, 0))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for sentence in sentences[:most]:
        made.add_row(Text("  •"), Text(clean(sentence, 2 * MESSAGE)))
    yield made
    if len(sentences) > most:
        yield Text(f"  … and {len(sentences) - most:,} more in the report", style="dim")
