"""Cache GGUF models as safetensors, which load faster; show and clear that cache.

Transformers takes about twenty seconds to read a GGUF file, half a second for its safetensors. The
weights are those of the file in 32 bits, so the folder is about five times its size.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from valor_cli.errors import ValorError
from valor_cli.models.files.hugging_face import Located
from valor_cli.models.files.model_folder import Incomplete, check_folder
from valor_cli.models.store_file import store_path

FOLDER = "models"


def converted(found: Located, sha256: str) -> Located | None:
    """The cached conversion of a model; None if there is none.

    Args:
        found: A GGUF file.
        sha256: Of its bytes.
    """
    try:
        folder = store_path().parent / FOLDER / sha256
        check_folder(found.model, folder)
    except (ValorError, Incomplete, OSError):
        return None
    return Located(found.model, folder)


def keep_converted(model: Any, tokenizer: Any, sha256: str) -> None:
    """Cache a converted model, if the cache folder is writable.

    Args:
        model: As it was loaded from a GGUF file; written as such no more.
        tokenizer: Of the same file.
        sha256: Of the file.
    """
    with suppress(ValorError, OSError):
        home = store_path().parent / FOLDER
        home.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".making-", dir=home))
        try:
            _write(model, tokenizer, made)
            folder = home / sha256
            shutil.rmtree(folder, ignore_errors=True)  # of what could not be loaded
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)


def _write(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write both in the form of the hub.

    Raises:
        OSError: The folder does not take them.
    """
    from safetensors import SafetensorError

    # transformers 5 keeps how the file was quantized, and then refuses to write what no longer is.
    if getattr(model, "hf_quantizer", None) is not None:
        model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    try:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    except SafetensorError as error:
        raise OSError(str(error)) from error


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
