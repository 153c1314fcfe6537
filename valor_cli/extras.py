"""Import optional packages, or say how to install them."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

from valor_cli.errors import MissingExtraError, Problem


def extra(package: str, name: str, what: str) -> ModuleType:
    """Import a package of an extra.

    Args:
        package: Import name of the package.
        name: Of the extra.
        what: What needs it, for the message: "backend: litellm".

    Raises:
        MissingExtraError: It is not installed or cannot be imported.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == package.partition(".")[0]:
            raise _missing(package, name, what) from None
        # It is there, and lacks a package of its own or a library of the system.
        problem = Problem(
            what, f"the package {package} is installed but cannot be imported: {error}"
        )
        hint = f"pip install --upgrade --force-reinstall 'valor-cli[{name}]'"
        raise MissingExtraError(problem, hint=hint) from error


def extra_folder(package: str, name: str, what: str) -> Path:
    """The folder of a package of an extra, without importing it.

    Raises:
        MissingExtraError: It is not installed.
    """
    folder = package_folder(package)
    if folder is None:
        raise _missing(package, name, what)
    return folder


def package_folder(package: str) -> Path | None:
    """The folder of an installed package, without importing it; None if not installed."""
    found = importlib.util.find_spec(package)
    return None if found is None or found.origin is None else Path(found.origin).parent


def _missing(package: str, name: str, what: str) -> MissingExtraError:
    problem = Problem(what, f"needs the package {package}, which is not installed")
    return MissingExtraError(problem, hint=f"pip install 'valor-cli[{name}]'")
