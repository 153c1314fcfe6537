"""`valor estimate`: estimate judge calls and cost before a run."""

from __future__ import annotations

from valor_cli.cli.options import (
    Config,
    FirstSamples,
    NoPlugins,
    Overrides,
    TextOrJson,
    planned,
)
from valor_cli.cli.output import Messages, say, to_terminal, warn


def estimate(
    config: Config,
    set_: Overrides = None,
    limit: FirstSamples = None,
    no_plugins: NoPlugins = False,
    format_: TextOrJson = "text",
) -> None:
    """Estimate the calls, tokens and cost of the judges of a config.

    Nothing is sent. The prompts are the real ones; replies are assumed to have a typical length
    and never to need a retry, and a token to be four bytes. The cache and calls of embedders are
    not taken into account.

    \b
    Example:
      valor estimate configs/text_generation_judge.yaml
    """
    from valor_cli.pipeline.estimate import estimate as estimate_of
    from valor_cli.reports.render.terminal import in_full
    from valor_cli.reports.sections.judge_tables import estimated, estimated_json

    talk = Messages(quiet=False, verbose=False)
    plan = planned(config, set_, plugins=not no_plugins)
    with talk.progress() as progress:
        found = estimate_of(plan, limit=limit, progress=progress)
    for warning in dict.fromkeys(found.warnings):
        warn(warning)
    if format_ == "json":
        say(estimated_json(found.usage, found.samples))
    else:
        to_terminal(in_full(estimated(found.usage, found.samples)))
