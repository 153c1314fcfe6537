"""A text in; its words out, as ROUGE takes words."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

_SPACE: Final = 32
_LINE_END: Final = 10
_SPACED: Final = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789\n" else _SPACE for byte in range(256)
)
_OTHER_LETTERS: Final = re.compile(r"[^\W_\x00-\x7f]+")
_LETTERS: Final = re.compile(r"[a-zA-Z0-9]+")

_ALONE: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts that put no space between words."""
_WORD: Final = rf"(?V1)[{_ALONE}]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--[{_ALONE}]]+"


def ascii_words(text: str) -> list[str]:
    """Runs of a-z and 0-9 of the text in lower case; all else only separates.

    These are the tokens of rouge-score's `tokenize` without a stemmer: of "naïve café" they are
    "na", "ve" and "caf", of a text in Arabic or Chinese there are none.
    """
    ascii_only = text.lower().encode("ascii", "replace")
    return ascii_only.translate(_SPACED).decode("ascii").split()


def ascii_words_of_lines(text: str) -> tuple[list[str], NDArray[np.int64]]:
    """The `ascii_words` of a text, and how many each of its lines has; lines end at "\\n"."""
    spaced = text.lower().encode("ascii", "replace").translate(_SPACED)
    characters = np.frombuffer(spaced, np.uint8)
    inside = characters > _SPACE
    lasts = np.flatnonzero(inside & ~np.append(inside[1:], False))
    ends = np.append(np.flatnonzero(characters == _LINE_END), len(characters))
    return spaced.decode("ascii").split(), np.diff(np.searchsorted(lasts, ends), prepend=0)


def unicode_words(text: str) -> list[str]:
    """Runs of letters, marks and digits of any script, of the text in lower case.

    A character of a script without spaces between words (Chinese, Japanese, Thai, Lao, Khmer,
    Burmese) is a word by itself. Of an ASCII text these are the `ascii_words`. Texts are composed
    (NFC), so that a letter with its accent is one thing however it was typed.
    """
    if text.isascii():
        return ascii_words(text)
    from unicodedata import normalize

    import regex

    found: list[str] = regex.findall(_WORD, normalize("NFC", text.lower()))
    return found


def is_mostly_lost(texts: list[str]) -> bool:
    """Whether `ascii_words` drops more letters and digits of the texts than it keeps."""
    others = [text for text in texts if not text.isascii()]
    if not others:
        return False
    lost = sum(len(run) for text in others for run in _OTHER_LETTERS.findall(text))
    kept = sum(len(run) for text in texts for run in _LETTERS.findall(text)) if lost else 0
    return lost > kept
