"""Limits on the unpacked size of one compressed input.

A gzip file of a megabyte can hold a gigabyte, a zstd file of a megabyte thirty. Limits are checked
while an input is read, so nothing of that size is ever in memory. They are set by environment
variables, because every command and every process of a run reads inputs.
"""

from __future__ import annotations

import math
import os
from typing import Final

from valor_cli.errors import ConfigError, DataError, Problem

SIZE: Final = "VALOR_UNPACK_GIB"
"""The environment variable that says how many GiB one input may unpack to."""

RATIO: Final = "VALOR_UNPACK_RATIO"
"""The environment variable that says how many times its stored size that may be."""

GIB: Final = 64.0
TIMES: Final = 200.0
"""Text of numbers shrinks to a fifth or a tenth, logs that repeat themselves to a fiftieth."""

FREE: Final = 64 << 20
"""Bytes that any input may unpack to: the ratio of a small one does no harm."""


class UnpackLimit:
    """The bounds of one input."""

    __slots__ = ("_gib", "_path", "_times")

    def __init__(self, path: str) -> None:
        """Read the bounds.

        Raises:
            ConfigError: The environment says something else than a number above 0.
        """
        self._path = path
        self._gib, self._times = bound(SIZE, GIB), bound(RATIO, TIMES)

    def check(self, stored: int, unpacked: int) -> None:
        """Go on within the bounds.

        Args:
            stored: Bytes of the input that were read.
            unpacked: Bytes that these became.

        Raises:
            DataError: They are too many.
        """
        if unpacked > self._gib * 2**30:
            self._stop(f"more than {self._gib:g} GiB", SIZE)
        if unpacked > FREE and unpacked > self._times * stored:
            shown = f"{unpacked / 2**20:,.0f} MiB from {stored:,} bytes"
            self._stop(f"{shown}, more than {self._times:g} times as many", RATIO)

    def _stop(self, found: str, name: str) -> None:
        raise DataError(
            Problem(self._path, f"unpacks to {found}"),
            hint=f"If the file is sound, unpack it first, or set {name} to more.",
        )


def bound(name: str, usual: float) -> float:
    """A limit from an environment variable, or the default.

    Raises:
        ConfigError: It says something else than a number above 0.
    """
    said = os.environ.get(name)
    if said is None:
        return usual
    try:
        found = float(said)
    except ValueError:
        found = math.nan
    if not 0 < found < math.inf:
        raise ConfigError(
            Problem(name, f"expected a number above 0, found {said!r}"),
            hint=f"leave it out, or set it to {usual:g}",
        )
    return found
