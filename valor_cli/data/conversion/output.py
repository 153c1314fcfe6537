"""Write output files atomically.

Everything is written under a temporary name in the target's folder and renamed at the end.
"""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from valor_cli.atomic_files import clear, put, temporary
from valor_cli.errors import DataError, Problem

_LISTED = 3


def check_place(out: str, *, suffixes: tuple[str, ...], force: bool) -> None:
    """Check early that an output path can be written.

    Args:
        out: The file or the folder.
        suffixes: How the names of the files in a folder end; empty for a single file.
        force: Whether an existing output may be replaced.

    Raises:
        DataError: Its folder is missing; an output exists and may not be replaced; or it
            is a folder that also holds other files.
    """
    path = Path(out)
    if path.name in ("", ".."):
        raise DataError(Problem(out or "OUT", "name a file or a folder to be made"))
    if path.suffix == ".zst":
        raise DataError(Problem(out, "zstd is not written"), hint="end the name in .gz, or neither")
    if not os.path.isdir(path.parent):
        raise DataError(Problem(out, f"there is no folder '{path.parent}'; make it first"))
    if not os.path.lexists(path):
        return
    if not force:
        raise DataError(Problem(out, "exists already"), hint="replace it with --force")
    if not suffixes:
        if not os.path.isfile(path):
            raise DataError(Problem(out, "this is not a file, so a file cannot replace it"))
        return
    if not os.path.isdir(path) or os.path.islink(path):
        raise DataError(
            Problem(out, "this is not a folder; --force replaces only a folder by a folder")
        )
    # A folder is replaced whole: nothing may be deleted that a conversion would not have written.
    with os.scandir(path) as entries:
        others = sorted(
            entry.name
            for entry in entries
            if not (entry.is_file(follow_symlinks=False) and entry.name.endswith(suffixes))
        )
    if others:
        shown = ", ".join(others[:_LISTED]) + (", …" if len(others) > _LISTED else "")
        message = (
            f"is not replaced: it also holds files that are not {' and '.join(suffixes)}: {shown}"
        )
        raise DataError(Problem(out, message), hint="name another folder")


def write_file(out: str, content: bytes) -> None:
    """Write one file, compressed where its name ends in .gz.

    Raises:
        DataError: It cannot be written; no half-written file is left.
    """
    path = Path(out)
    if path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    with _waiting(path, out) as waiting:
        waiting.write_bytes(content)
        put(waiting, path)


def write_folder(out: str, files: Mapping[str, bytes]) -> None:
    """Write a folder of files, replacing an existing one.

    Raises:
        DataError: It cannot be written; an existing folder is kept.
    """
    path = Path(out)
    before = temporary(path, "old")
    with _waiting(path, out) as waiting:
        waiting.mkdir()
        for name, content in files.items():
            (waiting / name).write_bytes(content)
        if os.path.lexists(path):
            os.rename(path, before)
        try:
            os.rename(waiting, path)
        except OSError:
            if os.path.lexists(before):
                os.rename(before, path)
            raise
    shutil.rmtree(before, ignore_errors=True)


@contextmanager
def _waiting(path: Path, out: str) -> Iterator[Path]:
    """The temporary place of an output, where nothing is left in the end.

    Raises:
        DataError: It cannot be written.
    """
    waiting = temporary(path)
    clear(path.parent, path.name.__eq__)
    try:
        yield waiting
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(Problem(out, f"cannot be written: {reason}")) from error
    finally:
        shutil.rmtree(waiting, ignore_errors=True)
        with suppress(OSError):  # renamed, or never written
            waiting.unlink()
