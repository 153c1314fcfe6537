"""Sort and look up columns of byte strings; cut texts into blocks.

A text of a column is bytes without NUL: of kind `S`, which numpy pads with NULs, or an object that
holds bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Texts: TypeAlias = NDArray[Any]

_WORD: Final = 8
_WORDS: Final = 2
"""Texts of up to so many words are ordered as numbers, several times faster than as texts."""


def order_of(texts: Texts) -> Ints:
    """Positions of the texts in ascending order of their bytes; the sort is stable."""
    if is_ascending(texts):
        return np.arange(len(texts))
    words = _words(texts)
    if len(words) == 1:
        return np.argsort(words[0], kind="stable")
    if words:
        return np.lexsort(words[::-1])
    return np.argsort(texts, kind="stable")


def is_ascending(texts: Texts) -> bool:
    """Whether the texts are sorted."""
    return bool((texts[1:] >= texts[:-1]).all())


def positions(texts: Texts, keys: Texts) -> Ints:
    """Position of each text in sorted, distinct keys; -1 if absent.

    Args:
        texts: (n,) what to find.
        keys: (k,) where; perhaps of another width or kind.
    """
    if not len(keys) or not len(texts):
        return np.full(len(texts), -1)
    if len(texts) == len(keys) and bool((texts == keys).all()):
        return np.arange(len(keys))
    if max(_width(texts), _width(keys)) <= _WORD:
        (texts,), (keys,) = _words(texts), _words(keys)
    found = np.searchsorted(keys, texts)
    found[found == len(keys)] = 0
    return np.where(keys[found] == texts, found, -1)


def _width(texts: Texts) -> int:
    """Bytes of the widest text; more than any number of words where texts are objects."""
    return texts.dtype.itemsize if texts.dtype.kind == "S" else _WORD * _WORDS + 1


def _words(texts: Texts) -> list[NDArray[np.uint64]]:
    """Texts as whole numbers of the same order, first word first; nothing for wide texts."""
    width = _width(texts)
    if width > _WORD * _WORDS:
        return []
    count = -(-width // _WORD)
    words = texts.astype(f"S{count * _WORD}").view(">u8").reshape(len(texts), count)
    return [words[:, word].astype(np.uint64) for word in range(count)]


def text_blocks(texts: Iterable[str], characters: int) -> Iterator[list[str]]:
    """Texts, about so many characters at a time."""
    block: list[str] = []
    size = 0
    for text in texts:
        block.append(text)
        size += len(text) + 1
        if size >= characters:
            yield block
            block, size = [], 0
    if block:
        yield block
