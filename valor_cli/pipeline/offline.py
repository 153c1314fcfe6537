"""Reject remote inputs in offline runs."""

from __future__ import annotations

from valor_cli.config import RunConfig
from valor_cli.errors import LISTED, ConfigError, Problem
from valor_cli.paths import urls_in

_HINT = "Copy the files to this machine and name their paths, or run without --offline."


def refuse_urls(config: RunConfig) -> None:
    """Check that all inputs are on this machine.

    Raises:
        ConfigError: Some are URLs.
    """
    problems = [
        Problem(config.place("data", *keys), f"--offline does not read URLs: {url}")
        for keys, url in urls_in(config.data)
    ]
    if problems:
        raise ConfigError(problems[:LISTED], total=len(problems), hint=_HINT)
