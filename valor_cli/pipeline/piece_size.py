"""The paths of a run's inputs, and how large a piece of them is that one of its processes reads.

It is separate from the code that reads pieces: small runs need only this.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from valor_cli.data.source.inputs import expanded
from valor_cli.errors import DataError, Problem, ValorError
from valor_cli.paths import is_url

PIECE_BYTES: Final = "VALOR_PIECE_BYTES"
"""The environment variable that says how large a piece of an input is."""

PIECE: Final = 16 << 20
"""Bytes of a piece: enough for reading to take longer than all around it, and many to share."""

LARGE: Final = 256 << 20
"""Bytes of inputs that one process reads in pieces: it is sooner done with less in one piece."""

UNPACKED: Final = 8
"""What compressed files grow by, about."""

_SIDES: Final = ("ground_truth", "predictions", "samples")


def piece_size(inputs: Any, processes: int) -> int | None:
    """The size of a piece in bytes; None if inputs are better read whole.

    Args:
        inputs: What the config says under `data:`.
        processes: How many read.

    Raises:
        ValorError: The environment says something else than a number.
    """
    said = piece_bytes()
    if said is not None:
        return said
    total = bytes_to_read(input_paths(inputs), PIECE)
    return None if processes == 1 and total < LARGE else piece_of(total, processes)


def piece_bytes() -> int | None:
    """The piece size set by the environment, in bytes, if any.

    Raises:
        ValorError: It says something else than a number.
    """
    said = os.environ.get(PIECE_BYTES)
    if said is None:
        return None
    if not said.isascii() or not said.isdecimal() or int(said) < 1:
        problem = Problem(PIECE_BYTES, f"expected a number of bytes, found {said!r}")
        raise ValorError(problem, hint="leave it out, or set it to 16777216, which is 16 MiB")
    return int(said)


def piece_of(total: int, processes: int) -> int:
    """The piece size in bytes with which all processes get equally many pieces.

    Args:
        total: Bytes of all inputs.
        processes: How many there are.
    """
    if total <= PIECE:
        return PIECE
    pieces = -(-total // (PIECE * processes)) * processes
    return -(-total // pieces)


def input_paths(inputs: Any) -> list[str]:
    """The paths of all inputs of a config."""
    paths: list[str] = []
    for one in (getattr(inputs, side, None) for side in _SIDES):
        if isinstance(one, str):
            paths.append(one)
        elif isinstance(one, Mapping):
            paths += [path for path in one.values() if isinstance(path, str)]
    return paths


def bytes_to_read(paths: Sequence[str], elsewhere: int) -> int:
    """Approximate size of the text in all files, in bytes.

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
