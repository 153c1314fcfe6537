"""`valor metrics`: the catalogue, as a table, one entry in full, or JSON."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from valor_cli.cli.output import say


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
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Show what the metric tells and asks judges.")
    ] = False,
) -> None:
    """List the metrics, or explain one.

    \b
    Example:
      valor metrics average_precision
    """
    from valor_cli import catalogue
    from valor_cli.cli.catalogue_text import as_json, explained, listing, shared

    tasks = [catalogue.task(one) for one in ([task] if task else catalogue.task_names())]
    if name is not None:
        found = catalogue.metrics_named(name, tasks)
    else:
        found = [(one, metric) for one in tasks for metric in one.metrics]
    if prompt:
        from valor_cli.cli import prompt_text

        prompts = prompt_text.prompts_of(name, [metric for _, metric in found])
        say(prompt_text.as_json(prompts) if format_ == "json" else prompt_text.as_text(prompts))
    elif format_ == "json":
        say(as_json(found))
    elif name is not None:
        say("\n\n".join(explained(tasks, metric) for metric, tasks in shared(found)))
    else:
        say(listing(found))
