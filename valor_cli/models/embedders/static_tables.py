"""Load static token vectors and their tokenizer.

Two folder layouts are supported: that of the package wordllama (`weights/*.safetensors` with
`tokenizers/*.json`) and that of model2vec (`model.safetensors`, `tokenizer.json`, `config.json`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.extras import extra, extra_folder
from valor_cli.models.files.model_folder import readable
from valor_cli.models.protocols.identity import Unavailable, sha256_of_files
from valor_cli.models.settings.models import WORDLLAMA

_WHAT = "backend: static"
_TOLD = 5
"""Names of arrays in a message, at most."""
_LONGEST = 512
"""Tokens that model2vec sees where the folder does not say; wordllama sees all."""


class Table(Struct, frozen=True):
    """Token vectors, and how they are pooled.

    Attributes:
        tokenizer: Of the package tokenizers; it neither pads nor cuts.
        vectors: (rows, dimensions).
        rows: (tokens,) the row of each token; None: its own number.
        weights: (tokens,) how much each token counts; None: all alike.
        unknown: The token in place of those that the vocabulary lacks, which counts nothing; None:
            there is none, or it counts as all do.
        unit: Whether vectors of texts have length 1.
        longest: Tokens of a text that are seen; None: all.
        sha256: Of all files that were read.
    """

    tokenizer: Any
    vectors: NDArray[np.float32]
    rows: NDArray[np.int64] | None
    weights: NDArray[np.float64] | None
    unknown: int | None
    unit: bool
    longest: int | None
    sha256: str


def loaded_table(model: str) -> Table:
    """Load the table of a model.

    Args:
        model: wordllama, or a folder.

    Raises:
        Unavailable: It is not on this machine.
        ConfigError: The folder holds none, or one that cannot be used.
        MissingExtraError: The packages that read it are not installed.
    """
    with readable(model):
        files = _located(model)
    tokenizer = _tokenizer(files.tokenizer)
    config = _config(files.config)
    found = _read(files.weights)
    _checked(files, tokenizer.get_vocab_size(with_added_tokens=True), found)
    rows, weights = found.get("mapping"), found.get("weights")
    return Table(
        tokenizer,
        found[files.tensor].astype(np.float32),
        None if rows is None else rows.astype(np.int64),
        None if weights is None else weights.astype(np.float64),
        None if files.whole else _unknown(tokenizer),
        config.normalize,
        None if files.whole else config.max_length,
        sha256_of_files(files.all),
    )


class _Files(Struct, frozen=True):
    """Where a table of vectors is, and what it is like.

    Attributes:
        weights: Holds the vectors, under `tensor`.
        tokenizer: Makes the tokens.
        config: Says more of how they are used; None: the form has none.
        whole: Whether unknown tokens count, too.
    """

    weights: Path
    tokenizer: Path
    config: Path | None
    tensor: str
    whole: bool

    @property
    def all(self) -> tuple[Path, ...]:
        """Every file that is read."""
        return (self.weights, self.tokenizer, *(() if self.config is None else (self.config,)))


class _Config(msgspec.Struct):
    normalize: bool = False
    max_length: int | None = _LONGEST


def _located(model: str) -> _Files:
    """The files of a model.

    Raises:
        Unavailable, ConfigError, MissingExtraError: As `loaded_table`.
    """
    if model == WORDLLAMA:
        # Its import takes long, and sets up logging for all of the program.
        return _in_folder(model, extra_folder("wordllama", "static", _WHAT))
    if not Path(model).is_dir():
        fetch = f"hf download {model} --local-dir FOLDER, and name that folder"
        raise Unavailable(f"the model {model} is not on this machine; fetch it: {fetch}")
    return _in_folder(model, Path(model))


def _in_folder(model: str, folder: Path) -> _Files:
    weights, tokenizer = folder / "model.safetensors", folder / "tokenizer.json"
    config = folder / "config.json"
    if weights.is_file() and tokenizer.is_file():
        known = config if config.is_file() else None
        return _Files(weights, tokenizer, known, "embeddings", whole=False)
    tables = sorted((folder / "weights").glob("*.safetensors"))
    # Releases of wordllama differ in the name of this folder.
    tokenizers = sorted(path for path in folder.glob("tokenizer*/*.json") if path.is_file())
    if len(tables) == 1 and len(tokenizers) == 1:
        return _Files(tables[0], tokenizers[0], None, "embedding.weight", whole=True)
    message = "holds no vectors of tokens"
    if len(tables) > 1 or len(tokenizers) > 1:
        names = ", ".join(path.name for path in (*tables, *tokenizers))
        message = f"holds several tables of vectors or tokenizers: {names}"
    hint = "name a folder with model.safetensors, tokenizer.json and config.json (model2vec)"
    raise ConfigError(Problem(model, message), hint=hint)


def _tokenizer(path: Path) -> Any:
    tokenizers = extra("tokenizers", "static", _WHAT)
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # all that it raises is of this class
        raise ConfigError(Problem(str(path), f"is not a readable tokenizer: {error}")) from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _config(path: Path | None) -> _Config:
    if path is None:
        return _Config()
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Config)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigError(Problem(str(path), f"cannot be used: {error}")) from None


def _unknown(tokenizer: Any) -> int | None:
    """The token for unknown words; None if the tokenizer knows everything."""
    model = tokenizer.model
    if hasattr(model, "unk_token"):
        token = model.unk_token
        return None if token is None else tokenizer.token_to_id(token)
    # A Unigram model tells it in its file alone.
    said: dict[str, Any] = msgspec.json.decode(tokenizer.to_str())["model"]
    return said.get("unk_id")


def _checked(files: _Files, tokens: int, found: Mapping[str, Any]) -> None:
    """Reject a file without the vector of a token.

    Raises:
        ConfigError: It does.
    """
    table, rows, weights = (found.get(name) for name in (files.tensor, "mapping", "weights"))
    place = str(files.weights)
    if table is None or table.ndim != 2:
        names = sorted(found)
        more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
        there = ", ".join(names[:_TOLD]) + more or "nothing"
        message = f"has no table `{files.tensor}` of vectors by token; it has {there}"
        raise ConfigError(Problem(place, message))
    by_token = {"vectors": table} if rows is None else {"rows": rows}
    if weights is not None:
        by_token["weights"] = weights
    short = [f"{name} of {len(each):,}" for name, each in by_token.items() if len(each) < tokens]
    if short:
        message = f"has {', '.join(short)}, and its tokenizer has {tokens:,} tokens"
        raise ConfigError(Problem(place, message))
    if rows is not None and not ((rows >= 0) & (rows < len(table))).all():
        raise ConfigError(Problem(place, f"has rows over the {len(table):,} of its table"))


def _read(path: Path) -> Mapping[str, Any]:
    safetensors = extra("safetensors", "static", _WHAT)
    numpy_form = extra("safetensors.numpy", "static", _WHAT)
    try:
        found: Mapping[str, Any] = numpy_form.load_file(path)
    except (safetensors.SafetensorError, OSError, TypeError) as error:  # numpy has no bfloat16
        raise ConfigError(Problem(str(path), f"cannot be read: {error}")) from None
    return found
