"""`valor metrics check`: the properties of own metrics, as a table."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.table import Table
from rich.text import Text

from valor_cli import catalogue
from valor_cli.cli.output import say, to_terminal
from valor_cli.errors import ConfigError, Problem
from valor_cli.evaluators.own.check import Check, checks_of, functions_in, task_of

FAILED = 1


def check_own(written: str, task: str | None) -> None:
    """Print which properties the functions of a file have; exit with 1 if one is missing.

    Args:
        written: "FILE.py", for all of its metrics, or "FILE.py:FUNCTION".
        task: Whose columns, or counts, they are tried on.

    Raises:
        ConfigError: A function cannot be loaded, or there is none.
    """
    file, colon, name = written.rpartition(":")
    folder, others = Path(), list[str]()
    names = [name]
    if not colon:
        file = written
        names, others = functions_in(file, folder)
        if not names:
            message = "no metric: none of its functions is declared, or reads sample, columns"
            raise ConfigError(Problem(file, f"{message} or evidence"))
    found: list[Check] = []
    for one in names:
        place = f"{file}:{one}"
        try:
            own = catalogue.task(task_of(place, folder, task))
            found += checks_of(place, folder, own)
        except ConfigError as error:
            (problem, *_) = error.problems
            if problem.place:
                raise
            found.append(Check(one, "loads", problem.message))
    to_terminal(_table(found))
    if others:
        say(f"not checked, for they are no metrics: {', '.join(others)}")
    if any(one.fault is not None for one in found):
        raise typer.Exit(FAILED)


def _table(found: list[Check]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("function", "property", "", "why"):
        table.add_column(heading, overflow="fold")
    for one in found:
        passed = one.fault is None
        mark = Text("✓ holds" if passed else "✗ fails", style="green" if passed else "red")
        table.add_row(Text(one.function), one.property, mark, Text(one.fault or ""))
    return table
