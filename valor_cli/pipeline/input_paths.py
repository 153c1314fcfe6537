"""The inputs that a config names in; their paths, and about how much there is to read, out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from valor_cli.errors import DataError
from valor_cli.paths import is_url
from valor_cli.readers.inputs import expanded

UNPACKED: Final = 8
"""What compressed files grow by, about."""

_SIDES: Final = ("ground_truth", "predictions", "samples")


def input_paths(inputs: Any) -> list[str]:
    """The paths of all inputs, as the config names them."""
    paths: list[str] = []
    for one in (getattr(inputs, side, None) for side in _SIDES):
        if isinstance(one, str):
            paths.append(one)
        elif isinstance(one, Mapping):
            paths += [path for path in one.values() if isinstance(path, str)]
    return paths


def bytes_to_read(paths: Sequence[str], elsewhere: int) -> int:
    """About the bytes of the text in all files of some paths.

    Args:
        paths: As the config names them; what is not there has none, and is for readers to tell.
        elsewhere: Bytes that a URL is taken to have.
    """
    total = 0
    for path in paths:
        if is_url(path):
            total += elsewhere
            continue
        try:
            files = expanded(path)
        except DataError:
            continue
        total += sum(_stored(file) for file in files)
    return total


def _stored(path: str) -> int:
    try:
        stored = os.path.getsize(path) if os.path.isfile(path) else 0
    except (OSError, ValueError):
        return 0
    return stored * (UNPACKED if path.endswith((".gz", ".zst")) else 1)
