"""Split text into words for ROUGE."""

from __future__ import annotations

import re
from typing import Final

SPACE: Final = 32
_SPACED: Final = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789\n" else SPACE for byte in range(256)
)
_OTHER_LETTERS: Final = re.compile(r"[^\W_\x00-\x7f]+")
_LETTERS: Final = re.compile(r"[a-zA-Z0-9]+")

_ALONE: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts that put no space between words."""
_WORD: Final = rf"(?V1)[{_ALONE}]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--[{_ALONE}]]+"


def spaced(text: str) -> bytes:
    """The text in lower case, with spaces for all but a-z, 0-9 and line ends."""
    return text.lower().encode("ascii", "replace").translate(_SPACED)


def ascii_words(text: str) -> list[str]:
    """Runs of a-z and 0-9 in lower case; all other characters separate.

    These are the tokens of rouge-score's `tokenize` without a stemmer: of "naïve café" they are
    "na", "ve" and "caf", of a text in Arabic or Chinese there are none.
    """
    return spaced(text).decode("ascii").split()


def unicode_words(text: str) -> list[str]:
    """Runs of letters, marks and digits of any script, in lower case.

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
