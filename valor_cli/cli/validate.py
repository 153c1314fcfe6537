"""`valor validate`: check configs and their inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from valor_cli.cli.github import print_error
from valor_cli.cli.options import NoPlugins, Overrides
from valor_cli.cli.output import say, warn
from valor_cli.errors import ValorError, printable


def validate(
    configs: Annotated[list[str], typer.Argument(metavar="CONFIG", help="YAML configs to check.")],
    set_: Overrides = None,
    no_plugins: NoPlugins = False,
) -> None:
    """Check configs and their inputs, without evaluating.

    Own metrics are imported, which runs the code of their files, but called for no sample.

    \b
    Example:
      valor validate configs/object_detection.yaml
    """
    from valor_cli import catalogue, pipeline
    from valor_cli.config import load_config

    failed = False
    for path in configs:
        try:
            config = load_config(Path(path), catalogue, set_ or (), plugins=not no_plugins)
            for missing in pipeline.check(pipeline.make_plan(config)):
                warn(f"{path}: {printable(missing)}")
            loaded = ", ".join(one.name for one in config.own)
            say(f"{path}: ok" + (f"; loaded {loaded}" if loaded else ""))
        except ValorError as error:
            failed = True
            print_error(error)
    if failed:
        raise typer.Exit(ValorError.exit_code)
