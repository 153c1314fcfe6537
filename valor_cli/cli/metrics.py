"""`valor metrics`: list the metrics, explain one, or help to choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from valor_cli.cli.output import folded, say, to_terminal
from valor_cli.errors import ConfigError, Problem

if TYPE_CHECKING:
    from valor_cli.metric import Task

CHECK: Final = "check"


def metrics(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A metric, by name or alias; or the word check."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE.py[:FUNCTION]", help="With check: your own metrics, all or one."
        ),
    ] = None,
    task: Annotated[
        str | None, typer.Option(metavar="TASK", help="Only the metrics of one task.")
    ] = None,
    format_: Annotated[
        Literal["text", "json", "yaml"],
        typer.Option("--format", help="How to print; yaml is for --prompt."),
    ] = "text",
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Show the prompts that the metric sends to judges.")
    ] = False,
    guide: Annotated[
        bool, typer.Option("--guide", help="Show which metric answers which question.")
    ] = False,
) -> None:
    """List the metrics, explain one, help to choose, or check your own.

    \b
    Example:
      valor metrics average_precision
      valor metrics faithfulness --prompt
      valor metrics --guide --task classification
      valor metrics check metrics.py
    """
    from valor_cli import catalogue
    from valor_cli.cli.catalogue_text import as_json, explained, listing, shared
    from valor_cli.models.judge.prompt_files import names as prompt_names

    if name == CHECK and file is not None:
        from valor_cli.cli.own_checks import check_own

        check_own(file, task)
        return
    if file is not None or name == CHECK:
        message = "is FILE.py or FILE.py:FUNCTION, behind the word check"
        raise ConfigError(Problem("FILE", message), hint="valor metrics check metrics.py")
    if format_ == "yaml" and not prompt:
        raise ConfigError(Problem("--format yaml", "is for --prompt; here it is text or json"))
    if guide and prompt:
        raise ConfigError(Problem("--guide", "cannot be combined with --prompt"))
    tasks = [catalogue.task(one) for one in ([task] if task else catalogue.task_names())]
    if guide:
        _guide(name, tasks, whole=task is None, as_json=format_ == "json")
        return
    if prompt and name in prompt_names():
        # A prompt that several metrics share is called as no metric is.
        every = [(one, metric) for one in tasks for metric in one.metrics]
        found = [(one, metric) for one, metric in every if metric.name == name]
    elif name is not None:
        found = catalogue.find_metrics(name, tasks)
    else:
        found = [(one, metric) for one in tasks for metric in one.metrics]
    if prompt:
        from valor_cli.cli import prompt_text

        prompts = prompt_text.prompts_of(name, [metric for _, metric in found])
        shown = {"json": prompt_text.as_json, "yaml": prompt_text.as_yaml}
        say(shown.get(format_, prompt_text.as_text)(prompts))
    elif format_ == "json":
        say(as_json(found))
    elif name is not None:
        say(folded("\n\n".join(explained(tasks, metric) for metric, tasks in shared(found))))
    else:
        say(folded(listing(found)))


def _guide(name: str | None, tasks: Sequence[Task[Any]], *, whole: bool, as_json: bool) -> None:
    """Show which metric answers which question; for all tasks without the reasons."""
    from valor_cli import catalogue
    from valor_cli.cli.guide import render as shown
    from valor_cli.cli.guide.questions import narrowed, parts

    names = None
    if name is not None:
        entries = catalogue.find_metrics(name, tasks)
        tasks = [task for task, _ in entries]
        names = {metric.name for _, metric in entries}
    found = narrowed(parts(), tasks, names)
    if as_json:
        say(shown.as_json(found, tasks))
    elif whole and names is None:
        to_terminal(shown.overview(found, tasks))
    else:
        to_terminal(shown.in_full(found, tasks))
