"""What GitHub Actions reads of the output: annotations, and no command that data would give."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from valor_cli.cli.output import say

if TYPE_CHECKING:
    from valor_cli.config import RunConfig
    from valor_cli.results import RunResult


def is_watching() -> bool:
    """Whether this runs in a step of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextmanager
def unheeded() -> Iterator[None]:
    """What is said inside is text: a label such as `::add-mask::x` is no command to GitHub.

    It obeys lines of the output until it is told to stop by a word that nobody can foresee.
    """
    if not is_watching():
        yield
        return
    word = os.urandom(16).hex()
    say(f"::stop-commands::{word}")
    try:
        yield
    finally:
        say(f"::{word}::")


def annotate(config: RunConfig, result: RunResult) -> None:
    """Tell what failed where its reviewers read it: beside the gate in the config."""
    if not is_watching():
        return
    from valor_cli.reports.annotations import workflow_commands

    # Files are named as the repository does, wherever in it the command was called.
    file = os.path.relpath(config.path, os.environ.get("GITHUB_WORKSPACE", os.curdir))

    def place(gate: int) -> tuple[str, int, int] | None:
        at = config.position("gates", gate)
        return None if at is None else (file, *at)

    for command in workflow_commands(result, place):
        say(command)
