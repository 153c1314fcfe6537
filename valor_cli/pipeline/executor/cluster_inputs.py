"""Check that the workers of a cluster can read the same inputs as the client."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from valor_cli.errors import DataError, Problem
from valor_cli.paths import is_url

TRIED: Final = 200
"""Files that each worker looks for; of more, as many spread over all of them."""

_HINT: Final = (
    "all workers must find the inputs under the same path: use a folder that they share,\n"
    "or URLs of an object store"
)


def local_sizes(paths: Sequence[str]) -> dict[str, int]:
    """Files and folders among inputs, with their size in bytes (0 for a folder).

    URLs are left out, as is what is not here either: whoever reads it says so. Of many paths it is
    `TRIED`, spread over all of them.
    """
    named = [path for path in dict.fromkeys(paths) if not is_url(path) and os.path.exists(path)]
    few = named[:: -(-len(named) // TRIED) or 1]
    return {path: 0 if os.path.isdir(path) else os.path.getsize(path) for path in few}


def input_differences(folder: str, sizes: Mapping[str, int]) -> list[tuple[str, str]]:
    """The paths that differ between this worker and the client, and why.

    Args:
        folder: Where relative paths begin.
        sizes: By path, its bytes for the client.
    """
    found = []
    for path, size in sizes.items():
        told = _unlike(os.path.join(folder, path), size)
        if told:
            found.append((path, told))
    return found


def _unlike(path: str, size: int) -> str:
    try:
        if os.path.isdir(path):
            os.listdir(path)
            return ""
        with open(path, "rb"):
            there = os.path.getsize(path)
    except OSError as error:
        return error.strerror or type(error).__name__
    return "" if there == size else f"it has {there:,} bytes there, {size:,} here"


def check_inputs(folder: str, nodes: Mapping[str, Any]) -> None:
    """Raise an error if the cluster does not have the inputs.

    Args:
        folder: Where relative paths begin.
        nodes: By worker, its `input_differences`, or the exception of the call.

    Raises:
        DataError: Workers cannot read inputs, or have others.
    """
    problems = []
    for node, found in nodes.items():
        if isinstance(found, BaseException):
            message = f"worker {node} cannot be queried: {type(found).__name__}: {found}"
            problems.append(Problem("", message))
            continue
        for path, why in found:
            where = "" if os.path.isabs(path) else f" (from {folder})"
            problems.append(Problem(path, f"worker {node} cannot read it{where}: {why}"))
    if problems:
        raise DataError(problems, hint=_HINT)
