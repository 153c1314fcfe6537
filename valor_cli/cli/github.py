"""Write GitHub Actions annotations, and keep data from being read as workflow commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from valor_cli.cli.output import folded, say

if TYPE_CHECKING:
    from valor_cli.config import RunConfig
    from valor_cli.errors import ValorError
    from valor_cli.results import RunResult


def is_watching() -> bool:
    """Whether this runs in a GitHub Actions step."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextmanager
def escaped_output(tell: Callable[[str], None] = say) -> Iterator[None]:
    """Keep GitHub from reading the output inside as workflow commands.

    It obeys lines of either output, indented ones too, until it is stopped by a token that
    cannot be predicted.

    Args:
        tell: Writes a line to the output used inside.
    """
    if not is_watching():
        yield
        return
    word = os.urandom(16).hex()
    tell(f"::stop-commands::{word}")
    try:
        yield
    finally:
        tell(f"::{word}::")


def print_error(error: ValorError) -> None:
    """Print an error to stderr, protected from being read as workflow commands."""
    with escaped_output(_to_stderr):
        _to_stderr(f"error: {error}")


def _to_stderr(line: str) -> None:
    try:
        typer.echo(folded(line, sys.stderr), err=True)
    except OSError:
        # Nobody reads it, or the disk is full: the exit code says what there is to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def annotate(config: RunConfig, result: RunResult) -> None:
    """Annotate failed gates at their place in the config."""
    if not is_watching():
        return
    from valor_cli.reports.files.annotations import workflow_commands

    # Files are named as the repository does, wherever in it the command was called.
    file = os.path.relpath(config.path, os.environ.get("GITHUB_WORKSPACE", os.curdir))

    def place(gate: int) -> tuple[str, int, int] | None:
        at = config.position("gates", gate)
        return None if at is None else (file, *at)

    for command in workflow_commands(result, place):
        say(command)
