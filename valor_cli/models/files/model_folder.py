"""Check the folder of a model and list the files that are read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from valor_cli.errors import ConfigError, Problem

_WHOLE = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_PICKLED = ("*.bin", "*.pt", "*.pkl", "*.pth", "*.ckpt", "*.h5", "*.msgpack")
_BESIDE = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
)
_PIECES = "*.model"
"""What sentencepiece made a tokenizer of."""


@contextmanager
def readable(model: str) -> Iterator[None]:
    """Report errors of the operating system as errors of the model.

    Raises:
        ConfigError: A file or folder cannot be looked at.
    """
    try:
        yield
    except OSError as error:
        problem = Problem(model, f"cannot be read: {error.strerror or error}")
        raise ConfigError(problem) from None


class Incomplete(Exception):  # noqa: N818  # what it says of the folder
    """Files of a model are missing."""


def files_read(folder: Path) -> list[Path]:
    """Its weights, config and tokenizer; other files do not affect its identity.

    Raises:
        Incomplete: There are no weights.
    """
    beside = [folder / name for name in _BESIDE if (folder / name).is_file()]
    return _weights(folder) + beside + sorted(folder.glob(_PIECES))


def has_tokenizer(folder: Path) -> bool:
    """Whether there is a vocabulary; without one transformers 5 creates an empty tokenizer."""
    names = ("tokenizer.json", "vocab.json", "vocab.txt")
    return any((folder / name).is_file() for name in names) or any(folder.glob(_PIECES))


def check_folder(model: str, folder: Path) -> None:
    """Reject files that are never loaded.

    Args:
        model: As the config says it, for messages.
        folder: Where it is.

    Raises:
        ConfigError: Weights that could only be unpickled, an adapter, another format.
        Incomplete: Something is not there.
    """
    if not (folder / "config.json").is_file():
        if (folder / "adapter_config.json").is_file():
            problem = Problem(model, "is an adapter, not a complete model")
            raise ConfigError(problem, hint="merge it into its model (peft: merge_and_unload)")
        raise Incomplete("config.json")
    _check_config(model, folder / "config.json")
    try:
        _weights(folder)
    except Incomplete:
        if not (folder / _INDEX).is_file():
            refuse_pickles(model, folder)
        raise


def refuse_pickles(model: str, folder: Path) -> None:
    """Refuse a folder whose weights could only be unpickled.

    Raises:
        ConfigError: It is one.
    """
    pickled = sorted(path.name for form in _PICKLED for path in folder.glob(form))
    if pickled and next(folder.glob("*.safetensors"), None) is None:
        message = f"has only {', '.join(pickled[:3])}; valor reads safetensors, never pickles"
        hint = "convert it once: https://huggingface.co/docs/safetensors/convert-weights"
        raise ConfigError(Problem(model, message), hint=hint) from None


def _check_config(model: str, path: Path) -> None:
    """Check the config early, since loaders report misleading errors for other formats.

    Raises:
        ConfigError: It is not a JSON object.
    """
    try:
        said = json.loads(path.read_bytes())
    except ValueError as error:
        problem = Problem(model, f"cannot be loaded: config.json is not JSON: {error}")
        raise ConfigError(problem) from None
    if not isinstance(said, dict):
        raise ConfigError(Problem(model, "cannot be loaded: config.json is not a JSON object"))


def _weights(folder: Path) -> list[Path]:
    """The weight files: one, or several listed in an index.

    Raises:
        Incomplete: One of them is not there.
    """
    if (folder / _WHOLE).is_file():
        return [folder / _WHOLE]
    index = folder / _INDEX
    if not index.is_file():
        raise Incomplete(_WHOLE)
    try:
        names = sorted(set(json.loads(index.read_bytes())["weight_map"].values()))
        parts = [folder / name for name in names]
    except (ValueError, LookupError, TypeError, AttributeError):
        raise Incomplete(f"a readable {_INDEX}") from None
    lacking = [part.name for part in parts if not part.is_file()]
    if lacking or not parts:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise Incomplete(f"{lacking[0] if lacking else _WHOLE}{more}")
    return [index, *parts]


def decoded(path: Path, kind: Any) -> Any:
    """The JSON of a file; None where it is not there.

    Raises:
        ConfigError: It cannot be read, or is something else.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise ConfigError(Problem(str(path), message)) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigError(Problem(str(path), f"cannot be used: {error}")) from None


def first_line(error: Exception) -> str:
    """The first line of a library's error, shortened for a message."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
