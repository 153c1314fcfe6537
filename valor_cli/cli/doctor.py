"""`valor doctor`: what this installation has, lacks and runs on."""

from __future__ import annotations

import platform
import re
import sys

import typer

from valor_cli import __version__
from valor_cli.cli.output import say
from valor_cli.errors import Problem, ValorError


def doctor() -> None:
    """Show versions, what is missing, and the engine in use.

    \b
    Example:
      valor doctor
    """
    # Costs more than the rest of the program's start, for this command alone.
    import importlib.metadata

    say(f"valor {__version__}, Python {platform.python_version()}, {platform.platform()}")
    say(f"installed in {sys.prefix}")
    missing = []
    try:
        requirements = importlib.metadata.requires("valor-cli") or ()
    except importlib.metadata.PackageNotFoundError:
        problem = Problem("valor-cli", "is not installed, only found on the import path")
        raise ValorError(problem, hint="install it: pip install .") from None
    for requirement in requirements:
        if "extra ==" in requirement:
            continue
        name = re.match(r"[\w.-]+", requirement)
        if name is None:
            continue
        try:
            version = importlib.metadata.version(name[0])
        except importlib.metadata.PackageNotFoundError:
            missing.append(name[0])
            version = "missing"
        say(f"  {name[0]:<18} {version:<12} (needs {requirement.partition(';')[0].strip()})")
    say("engine: numpy")
    if missing:
        say(f"missing: {', '.join(missing)}; run: pip install --force-reinstall valor-cli")
        raise typer.Exit(ValorError.exit_code)
    say("everything needed is installed")
