"""`valor init`: a config and a little data that run at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from valor_cli.cli.output import say
from valor_cli.errors import ConfigError, DataError, Problem

SHOWN = 3
"""Files that are in the way, listed by name; more are counted."""


def init(
    task: Annotated[str, typer.Argument(metavar="TASK", help="Kind of evaluation.")] = (
        "object_detection"
    ),
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Where to write.")] = ".",
) -> None:
    """Write a commented config and sample data that run at once.

    \b
    Example:
      valor init object_detection demo
    """
    from valor_cli import catalogue

    name = catalogue.task(task).name
    config = Path(folder) / "configs" / f"{name}.yaml"
    # Beside the task's own config, those that show more of it.
    configs = sorted(_starter("configs").glob(f"{name}*.yaml"))
    copies = {config.parent / source.name: source for source in configs}
    sample = _starter("sample_data") / name
    for source in sorted(path for path in sample.rglob("*") if path.is_file()):
        copies[Path(folder) / "sample_data" / name / source.relative_to(sample)] = source
    present = [path for path in copies if os.path.exists(path)]
    if present:
        problems = [Problem(str(path), "exists already") for path in present[:SHOWN]]
        hint = "nothing was written; choose another folder"
        raise ConfigError(problems, total=len(present), hint=hint)
    for target, source in copies.items():
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
        except OSError as error:
            reason = error.strerror or str(error)
            raise DataError(Problem(str(target), f"cannot be written: {reason}")) from None
    more = "".join(f" and {path}" for path in copies if path.suffix == ".yaml" and path != config)
    say(f"wrote {config}{more} with their data; next: valor evaluate {config}")


def _starter(folder: str) -> Path:
    """A folder of starter files: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "starter" / folder
    return installed if installed.is_dir() else package.parent / folder
