"""`valor metrics`: the catalogue, as a table, one entry in full, or JSON."""

from __future__ import annotations

from typing import Annotated, Literal

import typer


def metrics(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A metric, by name or alias.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(metavar="TASK", help="Only the metrics of one task.")
    ] = None,
    format_: Annotated[
        Literal["text", "json"], typer.Option("--format", help="How to print.")
    ] = "text",
) -> None:
    """List the metrics, or explain one.

    \b
    Example:
      valor metrics average_precision
    """
    from valor_cli import catalogue
    from valor_cli.cli.catalogue_text import as_json, explained, listing

    if name is not None:
        found = [entry for entry in catalogue.metrics_named(name) if task in (None, entry[0].name)]
    else:
        tasks = [catalogue.task(task)] if task else list(map(catalogue.task, catalogue.TASKS))
        found = [(one, metric) for one in tasks for metric in one.metrics]
    if format_ == "json":
        typer.echo(as_json(found))
    elif name is not None:
        typer.echo("\n\n".join(explained(one, metric) for one, metric in found))
    else:
        typer.echo(listing(found))
