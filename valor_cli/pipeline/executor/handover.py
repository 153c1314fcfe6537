"""Pass values between processes of this machine through memory-mapped files, and estimate sizes.

A value is pickled with its arrays out of band (pickle protocol 5), so that a reader maps the pages
of the file and loads only those it uses.
"""

from __future__ import annotations

import mmap
import os
import pickle
import struct
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from msgspec import Struct

from valor_cli.errors import Problem, ValorError

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

K = TypeVar("K")

_ALIGNED: Final = 64
"""Bytes that arrays are laid out by, as numpy does itself."""


_SMALL: Final = 1 << 16
"""Bytes below which an array is copied out of its file."""

LARGE: Final = 1 << 20
"""Bytes from which a value does not travel with the call that takes or gives it."""

_LOOKED_AT: Final = 16
"""Elements of a list sampled to estimate the size of all."""

_DEPTH: Final = 8
"""How deep in a value sizes are looked for; deeper lies little."""


class Parcel(Struct, Generic[K], frozen=True):
    """A value in a file.

    Attributes:
        path: The file.
        size: Its bytes.
    """

    path: str
    size: int

    def open(self) -> K:
        """Load the value. Its arrays are writable; the file is unchanged.

        The file may go while the value is in use, where the system lets it.
        """
        with open(self.path, "rb") as file:
            view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
        count = struct.unpack_from("<q", view)[0]
        lengths = struct.unpack_from(f"<{count}q", view, 8)
        parts: list[memoryview | bytearray] = []
        at = _padded(8 + 8 * count)
        for length in lengths:
            part = view[at : at + length]
            # What is small is often all that stays of a value: it must not hold the file.
            parts.append(bytearray(part) if length < _SMALL else part)
            at = _padded(at + length)
        value: K = pickle.loads(parts[0], buffers=parts[1:])  # noqa: S301 - a file of this run
        return value

    def drop(self) -> None:
        """Remove the file, if it is still there."""
        try:
            os.unlink(self.path)
        except OSError:
            # Gone already, or still mapped where that holds it: its folder goes with the run.
            return


def parcel(value: K, folder: str) -> Parcel[K]:
    """Store a value in a new file of a folder.

    Raises:
        ValorError: The folder does not take it.
    """
    from tempfile import mkstemp

    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    parts: list[Any] = [head, *(one.raw() for one in buffers)]
    lengths = [len(part) for part in parts]
    try:
        handle, path = mkstemp(dir=folder, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(struct.pack(f"<{1 + len(lengths)}q", len(lengths), *lengths))
            for part in parts:
                file.write(b"\0" * (_padded(file.tell()) - file.tell()))
                file.write(part)
            return Parcel(path, file.tell())
    except OSError as error:
        raise _refused(folder, error) from error


def _padded(at: int) -> int:
    return -(-at // _ALIGNED) * _ALIGNED


def temporary_folder() -> TemporaryDirectory[str]:
    """A temporary folder for parcels, deleted at the end of the run (a context manager).

    Raises:
        ValorError: None can be made.
    """
    # Its import takes some milliseconds, which most runs can save.
    from tempfile import TemporaryDirectory

    try:
        return TemporaryDirectory(prefix="valor-", ignore_cleanup_errors=True)
    except OSError as error:
        raise _refused(os.environ.get("TMPDIR", "temporary folder"), error) from error


def _refused(folder: str, error: OSError) -> ValorError:
    """Files cannot be written where rows wait."""
    message = f"temporary data cannot be written: {error.strerror or error}"
    hint = "free disk space, or set TMPDIR to a disk with about as much free space as the inputs"
    return ValorError(Problem(folder, message), hint=hint)


def size_of(value: Any, depth: int = _DEPTH) -> int:
    """Approximate size of a value in bytes: arrays are counted, long lists estimated."""
    size = getattr(value, "nbytes", None)
    if isinstance(size, int) and not isinstance(value, type):
        return size
    own = sys.getsizeof(value)
    if depth == 0 or isinstance(value, str | bytes | bytearray | int | float | type | None):
        return own
    parts = _parts(value)
    if len(parts) <= _LOOKED_AT:
        return own + sum(size_of(part, depth - 1) for part in parts)
    few = parts[:: len(parts) // _LOOKED_AT]
    return own + sum(size_of(part, depth - 1) for part in few) * len(parts) // len(few)


def _parts(value: Any) -> Sequence[Any]:
    """The parts of a value, by its type."""
    names = getattr(type(value), "__match_args__", None)
    if names is not None:
        return [getattr(value, name) for name in names]
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, tuple | list):
        return value
    if isinstance(value, Collection):
        return list(value)
    return ()
