"""Show and clear the cache of converted models.

Models of GGUF files are cached there as safetensors (see gguf.py), about five times their size.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from valor_cli.models.files.gguf import FOLDER
from valor_cli.models.store_file import store_path

_DAY_S = 86_400


class Converted(Struct, frozen=True):
    """Number and size of cached models, including incomplete ones."""

    path: Path
    models: int = 0
    bytes: int = 0


def converted_models() -> Converted:
    """The cached models.

    Raises:
        ValorError: There is no home folder.
    """
    home = store_path().parent / FOLDER
    return _counted(home, _folders(home))


def clear_converted(
    older_than_days: float | None = None, *, clock: Callable[[], float] = time.time
) -> Converted:
    """Delete cached models and return what was deleted.

    Args:
        older_than_days: Only those that were made earlier; None: all.
        clock: Seconds since 1970.

    Raises:
        ValorError: There is no home folder.
    """
    home = store_path().parent / FOLDER
    before = None if older_than_days is None else clock() - older_than_days * _DAY_S
    old = [one for one in _folders(home) if before is None or one.stat().st_mtime < before]
    removed = _counted(home, old)
    for folder in old:
        shutil.rmtree(folder, ignore_errors=True)  # another process may just make or remove it
    return removed


def _folders(home: Path) -> list[Path]:
    return sorted(each for each in home.iterdir() if each.is_dir()) if home.is_dir() else []


def _counted(home: Path, folders: list[Path]) -> Converted:
    return Converted(home, len(folders), sum(size for each in folders for size in _sizes(each)))


def _sizes(folder: Path) -> Iterator[int]:
    for file in folder.iterdir():
        with suppress(FileNotFoundError):
            yield file.stat().st_size
