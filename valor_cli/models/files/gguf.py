"""Cache GGUF models as safetensors, which load faster.

Transformers takes about twenty seconds to read a GGUF file, half a second for its safetensors. The
weights are those of the file in 32 bits, so the folder is about five times its size.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

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
