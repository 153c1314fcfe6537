"""Compare installed versions between the client and the nodes of a cluster."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import valor_cli
from valor_cli.errors import MissingExtraError, Problem, ValorError

PACKAGE: Final = "valor-cli"
SOURCES: Final = "sources of valor-cli"

COMPARED: Final = (
    *("numpy", "msgspec", "orjson", "pillow", "pycocotools", "shapely"),
    *("py3langid", "rapidfuzz", "regex", "sacrebleu", "sentencex"),
    *("cloudpickle", "dask", "distributed"),
)
"""Packages that numbers come from, or that carry values between machines."""

WHERE_BOTH_HAVE_IT: Final = ("pyarrow",)
"""The same, of those that only some inputs need."""

_ABSENT: Final = f"No module named '{valor_cli.__name__}'"
_NONE: Final = "none"
_SAME: Final = "install the same versions everywhere, best by the same image"
_SHIPPED: Final = ("*.py", "models/**/*.yaml", "models/**/*.json")


@cache
def installed() -> Mapping[str, str]:
    """Versions of Python, this package, and the packages that affect values."""
    found = {name: _version(name) for name in (*COMPARED, *WHERE_BOTH_HAVE_IT)}
    found["python"] = "{}.{}".format(*sys.version_info)
    found[PACKAGE] = valor_cli.__version__
    found[SOURCES] = fingerprint()
    return found


@cache
def fingerprint() -> str:
    """A hash of this package's sources, 12 hex digits."""
    root = Path(valor_cli.__file__).parent
    found = {path for pattern in _SHIPPED for path in root.rglob(pattern)}
    whole = hashlib.sha256()
    for path in sorted(found, key=lambda one: one.relative_to(root).as_posix()):
        # A checkout on Windows may have other line ends.
        content = path.read_bytes().replace(b"\r\n", b"\n")
        whole.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()[:12]


def check_versions(nodes: Mapping[str, Any]) -> None:
    """Compare the versions installed on cluster nodes with those of the client.

    Args:
        nodes: By name ("worker tcp://…"), what `installed` gave there, or the exception that the
            call ended with.

    Raises:
        MissingExtraError: A node does not have the package.
        ValorError: Versions differ so that numbers may, or cannot be told.
    """
    missing = [
        Problem(node, f"the package {PACKAGE} is not installed on it")
        for node, found in nodes.items()
        if is_missing_package(found)
    ]
    if missing:
        raise MissingExtraError(missing, hint=_install("dask"))
    here = installed()
    problems = [
        problem for node, found in nodes.items() for problem in _differences(node, here, found)
    ]
    if problems:
        raise ValorError(problems, hint=_SAME)


def check_same_version(client: Mapping[str, str]) -> None:
    """Compare the versions of this process, a late worker, with those of the client.

    Args:
        client: What `installed` gave there; empty: it is the same installation.

    Raises:
        ValorError: This one differs.
    """
    problems = _differences("a worker that joined later", client, installed())
    if problems:
        raise ValorError(problems, hint=_SAME)


def is_missing_package(found: Any) -> bool:
    """Whether an exception says that this package is missing."""
    # Of what a worker cannot unpack, Dask brings the words alone.
    return isinstance(found, Exception) and _ABSENT in str(found)


def _differences(node: str, here: Mapping[str, str], there: Any) -> list[Problem]:
    if not isinstance(there, Mapping):
        message = f"its installed packages cannot be listed: {type(there).__name__}: {there}"
        return [Problem(node, message)]
    problems = []
    for name, own in here.items():
        other = there.get(name, _NONE)
        incompatible = own != other
        if name in WHERE_BOTH_HAVE_IT:
            incompatible = incompatible and _NONE not in (own, other)
        if incompatible and name != SOURCES:
            problems.append(Problem(node, f"{name} is {own} here, {other} there"))
    ours, theirs = here.get(SOURCES), there.get(SOURCES)
    if not problems and here and ours != theirs:
        # Two checkouts of one version.
        message = (
            f"{PACKAGE} {here[PACKAGE]} has different sources there ({theirs}) and here ({ours})"
        )
        problems.append(Problem(node, message))
    return problems


def _install(name: str) -> str:
    return f"pip install '{PACKAGE}[{name}]=={valor_cli.__version__}'"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return _NONE
