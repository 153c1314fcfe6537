"""Print a list of objects or samples of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from valor_cli.cli.github import escaped_output
from valor_cli.cli.output import say, to_terminal
from valor_cli.errors import ConfigError, Problem, UnknownNameError, did_you_mean
from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.lists import objects, samples
from valor_cli.reports.lists.listing import Listing, Query
from valor_cli.reports.run_files import read_run
from valor_cli.reports.writer import OBJECTS, SAMPLES, SLICES
from valor_cli.results import Scalar

FORMATS: Final = ("table", "json", "csv")

MOST: Final = 50
"""Rows of a table, unless a number is asked for."""

_LONGEST: Final = 60
"""Characters of a name, or of a reason, in a table."""

_SIDES: Final = ("x", "y", "width", "height")

_HEADINGS: Final = {
    "image_id": "image",
    "sample_id": "sample",
    "ground_truth_id": "truth",
    "ground_truth_label": "truth label",
}
"""What columns are called in a table, where that is shorter."""

_OF_OBJECTS: Final = ("label", "min_score", "max_score", "min_size", "max_size")


def print_list(run: str, query: Query, form: str | None) -> None:
    """Print the objects or samples that a query asks for.

    Args:
        run: The results, or their folder.
        query: Which; a table without a limit has 50 rows.
        form: "table", "json" or "csv"; None: a table.

    Raises:
        UnknownNameError: There is no such kind or format, or the run has no such name.
        ConfigError: An option is not for what is listed.
        DataError: The run cannot be read, or has nothing of that kind.
    """
    form = form or FORMATS[0]
    _check("--format", "list format", form, FORMATS)
    _check("--list", "kind", query.kind, (*objects.KINDS, *samples.KINDS))
    if form == "table" and query.limit is None:
        query = replace(query, limit=MOST)
    if query.kind in objects.KINDS:
        if query.metric is not None:
            raise ConfigError(Problem("--metric", f"is for samples, not for --list {query.kind}"))
        found = objects.object_list(read_run(run, beside=(OBJECTS, SLICES)), query)
    else:
        given = [name for name in _OF_OBJECTS if getattr(query, name) is not None]
        if given:
            option = "--" + given[0].replace("_", "-")
            raise ConfigError(Problem(option, f"is for objects, not for --list {query.kind}"))
        found = samples.sample_list(read_run(run, beside=(SAMPLES, SLICES)), query)
    if form == "table":
        with escaped_output():
            to_terminal(_table(found))
    else:
        say(found.as_json() + b"\n" if form == "json" else found.as_csv())


def _check(option: str, what: str, name: str, known: Iterable[str]) -> None:
    """Check a name that the command has a list of.

    Raises:
        UnknownNameError: There is no such name.
    """
    if name not in known:
        message = f"there is no {what} '{name}'{did_you_mean(name, known)}"
        raise UnknownNameError(Problem(option, message), hint=f"{what}s: {', '.join(known)}")


def _table(found: Listing) -> Group:
    """A list as a table, with a line that says what it is and how many there are."""
    settings = ", ".join(
        f"{name.replace('_', ' ')} {_cell(value)}"
        for name, value in found.settings.items()
        if value is not None
    )
    shown = "" if len(found.rows) == found.total else f", the first {len(found.rows):,} shown"
    title = f"{found.kind}: {found.total:,}{shown}" + (f" ({settings})" if settings else "")
    if not found.rows:
        return Group(title)
    columns = _columns(found)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, values in columns.items():
        numeric = any(isinstance(value, int | float) for value in values)
        # No number and no name is cut off to make a table fit.
        width = max(cell_len(_cell(value)) for value in (name, *values))
        table.add_column(name, justify="right" if numeric else "left", min_width=width)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(Text(_cell(value)) for value in row))
    return Group(title, table)


def _columns(found: Listing) -> dict[str, Sequence[Scalar]]:
    """The columns of a table: a box in one, and no model where there is only one."""
    columns = dict(zip(found.columns, zip(*found.rows, strict=True), strict=True))
    if len(set(columns["model"])) == 1:
        del columns["model"]
    shown: dict[str, Sequence[Scalar]] = {}
    for name, values in columns.items():
        if name == _SIDES[0]:
            sides = zip(*(columns[side] for side in _SIDES), strict=True)
            shown["box"] = [", ".join(f"{side:.0f}" for side in box) for box in sides]
        elif name not in _SIDES:
            shown[_HEADINGS.get(name, name.replace("_", " "))] = values
    return shown


def _cell(value: Scalar) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else clean(str(value), _LONGEST)
