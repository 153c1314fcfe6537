"""Tokenize plain texts, with the special tokens that a model needs around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.extras import extra
from valor_cli.kernels.columns.surrogates import whole_characters
from valor_cli.kernels.vectors.batching import runs
from valor_cli.models.files.model_folder import first_line

_CHARACTERS_AT_ONCE = 1 << 20
"""What a tokenizer tells of a text takes far more memory than its tokens."""


def parts_of(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, in groups whose tokens need little memory."""
    for run in runs(map(len, texts), _CHARACTERS_AT_ONCE):
        yield [whole_characters(text) for text in texts[run]]


Ids = NDArray[np.int64]

_SANE = 1_000_000
"""What a tokenizer without a limit says lies far above."""
_USUAL = 512
_LEAST = 8


class Frame(Struct, frozen=True):
    """Special tokens before, between and after texts.

    Attributes:
        fixed: One more than there are texts: the tokens before, between and after them.
        fixed_kinds: Their token types.
        kinds: The token type of each text.
    """

    fixed: tuple[tuple[int, ...], ...]
    fixed_kinds: tuple[tuple[int, ...], ...]
    kinds: tuple[int, ...]

    @property
    def tokens(self) -> int:
        """Number of special tokens."""
        return sum(map(len, self.fixed))

    def around(self, texts: Sequence[Ids]) -> tuple[Ids, Ids]:
        """(tokens,) texts with special tokens; (tokens,) their types."""
        ids: list[Sequence[int] | Ids] = [self.fixed[0]]
        kinds: list[Sequence[int] | Ids] = [self.fixed_kinds[0]]
        for at, text in enumerate(texts):
            ids += [text, self.fixed[at + 1]]
            kinds += [np.full(len(text), self.kinds[at]), self.fixed_kinds[at + 1]]
        return _joined(ids), _joined(kinds)


class TextTokens:
    """A tokenizer that treats special tokens in texts as plain text.

    "</s>" or "[SEP]" in a text says nothing to the model: it is spelled, or where a tokenizer
    cannot spell it, unknown. An answer could else end itself early, or forge a second text.
    """

    def __init__(self, backend: Any, unknown: int | None, special: Sequence[int] = ()) -> None:
        """Take over a tokenizer, whose settings are changed.

        Args:
            backend: A `tokenizers.Tokenizer`.
            unknown: Stands for what cannot be spelled; None: nothing does.
            special: Further ids that no text may have.
        """
        backend.no_truncation()
        backend.no_padding()
        added = backend.get_added_tokens_decoder()
        self._backend = backend
        self._unknown = unknown
        self._special = np.array(
            sorted({*special, *(at for at, one in added.items() if one.special)} - {unknown}),
            np.int64,
        )

    def of(self, texts: Sequence[str]) -> list[Ids]:
        """(tokens,) of each text, without special ones."""
        self._backend.encode_special_tokens = True
        found: list[Ids] = []
        for part in parts_of(texts):
            encodings = self._backend.encode_batch_fast(part, add_special_tokens=False)
            found += [self._plain(np.array(one.ids, np.int64)) for one in encodings]
        return found

    def _plain(self, ids: Ids) -> Ids:
        special = np.isin(ids, self._special)
        if not special.any():
            return ids
        return ids[~special] if self._unknown is None else np.where(special, self._unknown, ids)

    def written(self, text: str) -> tuple[int, ...]:
        """Tokenize a text of the model's own, with special tokens."""
        self._backend.encode_special_tokens = False
        return tuple(self._backend.encode(text, add_special_tokens=False).ids)

    def frame(self, texts: int) -> Frame:
        """The special tokens around one or two texts."""
        word = self._word()
        encoding = self._backend.encode(word, *[word] * (texts - 1))
        fixed: list[list[int]] = [[] for _ in range(texts + 1)]
        fixed_kinds: list[list[int]] = [[] for _ in range(texts + 1)]
        kinds = [0] * texts
        at = 0
        tokens = zip(encoding.ids, encoding.type_ids, encoding.sequence_ids, strict=True)
        for token, kind, text in tokens:
            if text is None:
                fixed[at].append(token)
                fixed_kinds[at].append(kind)
            else:
                at = text + 1
                kinds[text] = kind
        return Frame(tuple(map(tuple, fixed)), tuple(map(tuple, fixed_kinds)), tuple(kinds))

    def _word(self) -> str:
        """A text of at least one token."""
        self._backend.encode_special_tokens = True
        ids = range(self._backend.get_vocab_size())
        words: list[str] = ["a", *(self._backend.decode([token]) for token in ids)]
        for word in words:
            if self._backend.encode(word, add_special_tokens=False).ids:
                break
        return word


def _joined(parts: Sequence[Sequence[int] | Ids]) -> Ids:
    # An array of nothing has floats in it, unless told.
    return np.concatenate([np.asarray(part, np.int64) for part in parts])


def read_tokenizer(path: Path, extra_name: str, what: str) -> Any:
    """A `tokenizers.Tokenizer` from tokenizer.json.

    Args:
        path: Of the file.
        extra_name: The extra that brings the package.
        what: What needs it, for messages.

    Raises:
        ConfigError: It is none.
        MissingExtraError: The package is not installed.
    """
    tokenizers = extra("tokenizers", extra_name, what)
    try:
        return tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # all that it raises is of this class
        message = f"is not a readable tokenizer: {first_line(error)}"
        raise ConfigError(Problem(str(path), message)) from None


def plain(tokenizer: Any) -> TextTokens:
    """The tokenizer of transformers for plain text."""
    roles = ("bos", "eos", "sep", "cls", "pad", "mask")
    structure = {getattr(tokenizer, f"{role}_token_id", None) for role in roles}
    unknown = tokenizer.unk_token_id
    # GPT-2 has one token for all: it would end the text.
    unknown = None if unknown in structure else unknown
    return TextTokens(tokenizer.backend_tokenizer, unknown, tokenizer.all_special_ids)


def window_of(model: Any, tokenizer: Any) -> int:
    """Maximum sequence length: the lower of the model's and the tokenizer's."""
    allowed = (positions_of(model) or 0, tokenizer.model_max_length)
    return int(min((tokens for tokens in allowed if 0 < tokens < _SANE), default=_USUAL))


def positions_of(model: Any) -> int | None:
    """The maximum sequence length of a model; None if unlimited or unknown."""
    positions = getattr(model.config, "max_position_embeddings", None)
    return None if positions is None else int(positions) - _unused_positions(model)


def _unused_positions(model: Any) -> int:
    """Positions that no token uses: RoBERTa and related models count from after the padding's."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None):
            return int(module.padding_idx) + 1
    return 0


def check_window(model: str, window: int, frame: Frame) -> None:
    """Raise an error if a model has no room for texts.

    Raises:
        ConfigError: It sees too few tokens.
    """
    if window - frame.tokens < _LEAST:
        told = f"sees {window} tokens at once, of which {frame.tokens} are its own"
        raise ConfigError(Problem(model, told), hint="name another model")
