"""Embed texts as the mean of static token vectors.

Vectors equal those of `WordLlama.embed` and of model2vec's `StaticModel.encode`. They differ from
the latter for texts over its token limit, which it also cuts at a number of characters, and for
16-bit tables, for which it rounds means to 16 bits again. Two folder layouts are supported: that of
the package wordllama (`weights/*.safetensors` with `tokenizers/*.json`) and that of model2vec
(`model.safetensors`, `tokenizer.json`, `config.json`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.extras import extra, extra_folder
from valor_cli.kernels.columns.surrogates import whole_characters
from valor_cli.models.files.model_folder import decoded, readable
from valor_cli.models.protocols import Embedder, ModelIdentity, Unavailable, sha256_of_files
from valor_cli.models.settings import WORDLLAMA, EmbedderSettings
from valor_cli.models.text.tokens import parts_of, read_tokenizer

Floats = NDArray[np.float32]


class StaticEmbedder(Embedder):
    """Static token vectors from a table; to look them up in the cache would take longer."""

    def __init__(self, settings: EmbedderSettings) -> None:
        """Read the table.

        Raises:
            Unavailable: It is not on this machine.
            ConfigError: The folder holds none, or one that cannot be used.
            MissingExtraError: The packages that read it are not installed.
        """
        self._table = loaded_table(settings.model or WORDLLAMA)
        self.name = settings.called
        self.identity = ModelIdentity(self.name, self._table.sha256)
        self.longest = settings.max_tokens or self._table.longest
        self._prompt = settings.prompt

    async def embed(self, texts: Sequence[str]) -> Floats:
        """(texts, dimensions) vectors; zeros for a text without known tokens."""
        found = np.zeros((len(texts), self._table.vectors.shape[1]), np.float32)
        for at, tokens in enumerate(self._tokens(texts)):
            known = tokens[: self.longest]
            known = known[known != self._table.unknown]
            if len(known):
                found[at] = self._mean(known)
        return found

    def _mean(self, tokens: NDArray[np.int64]) -> Floats:
        # By distinct token: memory is bounded by the vocabulary, whatever the text's length.
        table = self._table
        distinct, counts = np.unique(tokens, return_counts=True)
        shares = counts / len(tokens)
        if table.weights is not None:
            shares *= table.weights[distinct]
        rows = distinct if table.rows is None else table.rows[distinct]
        mean: Floats = shares.astype(np.float32) @ table.vectors[rows]
        length = float(np.linalg.norm(mean)) if table.unit else 1.0
        return mean / np.float32(length) if length else mean

    def _tokens(self, texts: Sequence[str]) -> Iterator[NDArray[np.int64]]:
        """The tokens of each text, all of them."""
        for part in parts_of([self._prompt + text for text in texts]):
            for one in self._table.tokenizer.encode_batch_fast(part, add_special_tokens=False):
                yield np.array(one.ids, np.int64)

    def cut(self, texts: Sequence[str]) -> int:
        """Number of texts that are truncated."""
        longest = self.longest
        if longest is None:
            return 0
        # No token of a text that is written out has less than a byte.
        long = [
            text for text in texts if len(whole_characters(self._prompt + text).encode()) > longest
        ]
        return sum(len(tokens) > longest for tokens in self._tokens(long))


_WHAT = "backend: static"
_TOLD = 5
"""Names of arrays in a message, at most."""
_USUAL_LONGEST = 512
"""Tokens that model2vec sees where the folder does not say; wordllama sees all."""


class Table(Struct, frozen=True):
    """Token vectors, and how they are pooled.

    Attributes:
        tokenizer: Of the package tokenizers; it neither pads nor cuts.
        vectors: (rows, dimensions).
        rows: (tokens,) the row of each token; None: its own number.
        weights: (tokens,) how much each token counts; None: all alike.
        unknown: The token for words that are not in the vocabulary, which is not counted; None:
            there is none, or it is counted as all others are.
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
    tokenizer = read_tokenizer(files.tokenizer, "static", _WHAT)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    config = (files.config and decoded(files.config, _Config)) or _Config()
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
    max_length: int | None = _USUAL_LONGEST


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
