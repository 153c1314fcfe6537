"""The folder of converted models in; how much it holds, and what was removed from it, out.

Models of GGUF files lie there as safetensors (see gguf.py), some five times as large as the files.
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
    """Models in a folder, those whose making was cut short included: how many, how many bytes."""

    path: Path
    models: int = 0
    bytes: int = 0


def converted_models() -> Converted:
    """What is kept.

    Raises:
        ValorError: There is no home folder.
    """
    home = store_path().parent / FOLDER
    return _counted(home, _folders(home))


def clear_converted(
    older_than_days: float | None = None, *, clock: Callable[[], float] = time.time
) -> Converted:
    """Remove models, and tell which.

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
