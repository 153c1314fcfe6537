"""`valor doctor`: show installed and missing packages, models and kernels."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterable

import typer

from valor_cli import __version__
from valor_cli.cli.output import say
from valor_cli.errors import Problem, ValorError


def doctor() -> None:
    """Show versions, models, missing packages and the kernel in use.

    \b
    Example:
      valor doctor
    """
    # Costs more than the rest of the program's start, for this command alone.
    import importlib.metadata

    from valor_cli.kernels.engine import ENGINE
    from valor_cli.models.litellm.client import MALICIOUS

    say(f"valor {__version__}, Python {platform.python_version()}, {platform.platform()}")
    say(f"installed in {sys.prefix}")
    try:
        requirements = importlib.metadata.requires("valor-cli") or ()
    except importlib.metadata.PackageNotFoundError:
        problem = Problem("valor-cli", "is not installed, only importable from the current path")
        raise ValorError(problem, hint="install it: pip install .") from None
    missing = _tell_packages(requirements)
    # What knows the models needs the packages.
    broken = [] if missing else _tell_models()
    say(f"kernels: {'numpy' if ENGINE.kernel is None else 'compiled'} ({ENGINE.reason})")
    if (version := _version("litellm")) in MALICIOUS:
        say(f"litellm {version} is a malicious release: uninstall it, and change the keys it saw")
        raise typer.Exit(ValorError.exit_code)
    if missing:
        say(f"missing: {', '.join(missing)}; run: pip install --force-reinstall valor-cli")
        raise typer.Exit(ValorError.exit_code)
    if broken:
        say(f"unusable: {', '.join(broken)}")
        raise typer.Exit(ValorError.exit_code)
    say("everything needed is installed")


def _tell_packages(requirements: Iterable[str]) -> list[str]:
    """Report installed and missing packages, including those of extras."""
    missing = []
    extras: dict[str, list[str]] = {}
    for requirement in requirements:
        name = re.match(r"[\w.-]+", requirement)
        if name is None:
            continue
        needed, _, marker = requirement.partition(";")
        extra = re.search(r"extra == ['\"]([\w-]+)", marker)
        version = _version(name[0])
        if extra is not None:
            extras.setdefault(extra[1], []).append(f"{name[0]} {version or 'missing'}")
            continue
        if version is None:
            missing.append(name[0])
        say(f"  {name[0]:<18} {version or 'missing':<12} (needs {needed.strip()})")
    # Of all extras together nothing is to be said that is not said of each.
    extras.pop("all", None)
    for extra_name, packages in sorted(extras.items()):
        lacks = any(package.endswith(" missing") for package in packages)
        more = f"; install: pip install 'valor-cli[{extra_name}]'" if lacks else ""
        say(f"extra {extra_name}: {', '.join(packages)}{more}")
    return missing


def _tell_models() -> list[str]:
    """Report installed model packages and unexpected models."""
    from valor_cli.models.files.packaged import packaged_models

    models = list(packaged_models())
    for model in models:
        say(f"model {model.name}: {model.state}")
    return [model.name for model in models if model.broken]


def _version(package: str) -> str | None:
    """The version that is installed; None: none."""
    import importlib.metadata

    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
