"""`valor estimate`: estimate judge calls and cost before a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from valor_cli.cli.output import Messages, say, to_terminal, warn


def estimate(
    config: Annotated[str, typer.Argument(metavar="CONFIG", help="A YAML config.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Override a value of the config."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Use the first N samples only.")
    ] = None,
    no_plugins: Annotated[
        bool,
        typer.Option("--no-plugins", help="Refuse configs that name code to run (own metrics)."),
    ] = False,
    format_: Annotated[
        Literal["text", "json"], typer.Option("--format", help="How to print.")
    ] = "text",
) -> None:
    """Estimate the calls, tokens and cost of the judges of a config.

    Nothing is sent. The prompts are the real ones; replies are assumed to have a typical length
    and never to need a retry, and a token to be four bytes. The cache and calls of embedders are
    not taken into account.

    \b
    Example:
      valor estimate configs/text_generation_judge.yaml
    """
    from valor_cli import catalogue, pipeline
    from valor_cli.config import load_config
    from valor_cli.pipeline.estimate import estimate as estimate_of
    from valor_cli.reports.render.terminal import in_full
    from valor_cli.reports.sections.judge_tables import estimated, estimated_json

    talk = Messages(quiet=False, verbose=False)
    plan = pipeline.make_plan(
        load_config(Path(config), catalogue, set_ or (), plugins=not no_plugins)
    )
    with talk.progress() as progress:
        found = estimate_of(plan, limit=limit, progress=progress)
    for warning in dict.fromkeys(found.warnings):
        warn(warning)
    if format_ == "json":
        say(estimated_json(found.usage, found.samples))
    else:
        to_terminal(in_full(estimated(found.usage, found.samples)))
