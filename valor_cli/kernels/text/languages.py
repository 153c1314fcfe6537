"""Detect the language of texts with py3langid."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

NO_LANGUAGE: Final = "zxx"
"""Of what is no natural language, in ISO 639-2."""

_CODES: Final = """
af am an ar as az ba be bg bn br bs ca cs cy da de dz el en eo es et eu fa fi fo fr fy ga gd gl
gu ha he hi hr ht hu hy id ig is it ja jv ka kk km kn ko ku ky la lb lg ln lo lt lv mg mk ml mn
mr ms mt my ne nl nn no oc om or pa pl ps pt qu ro ru rw sa se si sk sl sn so sq sr st sv sw ta
te tg th tk tl tr tt ug uk ur uz vi vo wa xh yo zh zu
"""

LANGUAGES: Final = frozenset(_CODES.split())
"""Two-letter codes (ISO 639-1) of the languages that can be detected; a few more have three
letters."""

_ONE: Final = {
    member: members[0]
    for members in (
        ("hr", "bs", "sr"),
        ("no", "nb", "nn"),
        ("id", "ms"),
        ("ar", "ary", "arz"),
        ("ku", "sdh"),
        ("lv", "ltg"),
        ("uz", "uzs"),
        ("zh", "wuu", "yue"),
    )
    for member in members
}
"""Languages that ISO 639-3 has as one macrolanguage; to tell their texts apart is a coin toss."""

_FENCE: Final = "```"
_PIECES: Final = 6
_PIECE: Final = 1_000

# Each alternative reads a character once: what ends one stretch starts the next.
_NO_PROSE: Final = re.compile(
    r"`[^`\n]*`"  # code in a line
    r"|(?:https?://|www\.)[!-~]+"  # an address; Japanese and Chinese go on without a space
    r"|</?[A-Za-z][^<>]*>"  # a tag
)
# Not compiled here: of so many characters that takes 2 ms.
_DENSE: Final = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]"


class Language(NamedTuple):
    """The most likely language of a text.

    Attributes:
        code: ISO 639-1, or 639-3 where that has none.
        confidence: Its probability among all languages, 0 … 1.
    """

    code: str
    confidence: float


def one_language(code: str) -> str:
    """The code shared by languages that are not distinguished: "hr" for "bs"."""
    return _ONE.get(code, code)


def prose(text: str) -> str:
    """The part of a text used to detect its language: up to 6,000 characters, in lower case.

    Code between backticks, addresses and tags are left out. Of longer texts six pieces of 1,000
    characters are taken, evenly spread from the first to the last.
    """
    bare = _NO_PROSE.sub(" ", " ".join(text.split(_FENCE)[::2]))
    if len(bare) > _PIECES * _PIECE:
        step = (len(bare) - _PIECE) / (_PIECES - 1)
        starts = [round(step * number) for number in range(_PIECES)]
        bare = " ".join(bare[start : start + _PIECE] for start in starts)
    # In capitals, the model takes Russian for Serbian: it has seen few of them.
    return bare.lower()


def letters(text: str) -> int:
    """Number of letters; a Han, kana or Hangul character counts as two."""
    return sum(map(str.isalpha, text)) + len(re.findall(_DENSE, text))


def language_of(prose: str) -> Language:
    """The most likely language of the result of `prose`."""
    code, confidence = _identifier().classify(prose)
    return Language(code, confidence)


def shares(prose: str) -> dict[str, float]:
    """Probability of each language by `one_language`; they sum to 1."""
    found: dict[str, float] = {}
    for code, share in _identifier().rank(prose):
        one = one_language(code)
        found[one] = found.get(one, 0.0) + share
    return found


@cache
def _identifier() -> LanguageIdentifier:
    """The model, 130 MB, loaded once in a process; that of the package itself stays untouched."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
