"""Problems and insights in the terminal summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from valor_cli.reports.sections.formatting import clean
from valor_cli.reports.sections.problems import ShownProblem, counted

MESSAGE = 150
"""Characters of a problem or an insight."""

_WIDTH = 64
_STYLES = {"high": "red", "medium": "yellow"}


def problem_lines(problems: Sequence[ShownProblem], most: int) -> Iterator[RenderableType]:
    """The number of problems, and the most severe ones."""
    if not problems:
        return
    yield Text.assemble(("Problems", "bold"), f"  {counted(problems)}")
    shown = problems[:most]
    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for problem in shown:
        severity = Text(f"  {problem.severity}", style=_STYLES.get(problem.severity, "dim"))
        made.add_row(severity, Text(clean(problem.message, MESSAGE)))
    yield made
    if len(problems) > most:
        yield Text(f"  … and {len(problems) - most:,} more in the report", style="dim")


def insight_lines(insights: Sequence[str], most: int) -> Iterator[RenderableType]:
    """The first few insights, one of each kind first."""
    if not insights:
        return
    yield Text("Insights", style="bold")
    made = Table.grid(padding=(0, 1, 0, 0))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for insight in insights[:most]:
        made.add_row(Text("  •"), Text(clean(insight, MESSAGE)))
    yield made


def folded(messages: Sequence[str]) -> int:
    """Extra lines that messages take on a screen of 80 columns."""
    return sum((min(len(message), MESSAGE) - 1) // _WIDTH for message in messages if message)
