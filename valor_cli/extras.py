"""The name of an optional package in; the package or its folder, or how to install it, out."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

from valor_cli.errors import MissingExtraError, Problem


def extra(package: str, name: str, what: str) -> ModuleType:
    """Import a package that an extra brings.

    Args:
        package: As it is imported.
        name: Of the extra.
        what: What needs it, for the message: "backend: litellm".

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        # A package that is there and lacks one of its own is another fault.
        if error.name != package.partition(".")[0]:
            raise
        raise _missing(package, name, what) from None


def extra_folder(package: str, name: str, what: str) -> Path:
    """The folder of a package that an extra brings; it is not imported.

    Raises:
        MissingExtraError: It is not installed.
    """
    folder = package_folder(package)
    if folder is None:
        raise _missing(package, name, what)
    return folder


def package_folder(package: str) -> Path | None:
    """The folder of an installed package, which is not imported; None: it is not installed."""
    found = importlib.util.find_spec(package)
    return None if found is None or found.origin is None else Path(found.origin).parent


def _missing(package: str, name: str, what: str) -> MissingExtraError:
    problem = Problem(what, f"needs the package {package}, which is not installed")
    return MissingExtraError(problem, hint=f"pip install 'valor-cli[{name}]'")
