"""A model in; refused, under `--offline`, where asking it leaves this machine."""

from __future__ import annotations

from typing import Protocol

from valor_cli.errors import ConfigError, Problem


class Placed(Protocol):
    """Anything that is asked somewhere."""

    @property
    def name(self) -> str:
        """As results call it."""

    @property
    def remote(self) -> bool:
        """Whether asking it leaves this machine."""


def refuse_remote(asked: Placed, what: str, *, offline: bool, hint: str) -> None:
    """Hold `--offline` against a model.

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
