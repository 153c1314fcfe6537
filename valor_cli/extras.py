"""The name of an optional package in; the package, or how to install it, out."""

from __future__ import annotations

import importlib
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
        problem = Problem(what, f"needs the package {package}, which is not installed")
        raise MissingExtraError(problem, hint=f"pip install 'valor-cli[{name}]'") from None
