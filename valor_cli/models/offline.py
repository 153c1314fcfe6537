"""Reject remote models under `--offline`."""

from __future__ import annotations

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.protocols.embedder import Embedder
from valor_cli.models.protocols.judge import Judge


def refuse_remote(asked: Judge | Embedder, what: str, *, offline: bool, hint: str) -> None:
    """Raise an error for a remote model under `--offline`.

    Args:
        asked: The model.
        what: Its block in the config.
        offline: Whether nothing may leave this machine.
        hint: What else could be asked.

    Raises:
        ConfigError: Asking it leaves this machine.
    """
    if offline and asked.remote:
        problem = Problem(what, f"{asked.name} is not on this machine, and --offline forbids that")
        raise ConfigError(problem, hint=hint)
