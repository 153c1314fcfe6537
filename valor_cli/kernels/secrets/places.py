"""Find the parts of texts that must be masked in reports."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.texts import text_blocks
from valor_cli.kernels.secrets.spans import Span, disjoint

_LONG, _SHORT = 16, 10
"""Characters of a word in every text that has such a place, but for those of `_suspects`; and of
the shortest credential that has a digit."""

_SIGNS: Final = (b"@", b"0x", b"AK", b"AP", b"eyJ", b"BEGIN ", b"PuTTY-User")
"""Of addresses, bytes, short keys of Artifactory, short JSON web tokens, and lines in front of
private keys."""

_GAP = r"(?:[ :\-\n]|,[ ]?)"
_NUMBERS = re.compile(
    r"[0-9](?:[0-9 \u00a0\u202f\-\u2010-\u2013.]{7}"
    rf"|[0-9A-Fa-f]{_GAP}(?:[0-9][0-9A-Fa-f]{_GAP}){{3}})"
)
"""Every number of personal data begins so, and whatever is told in bytes of base 16 that stand
apart has four in a row of ASCII."""

_SPACE, _DIGIT = 1, 2
_KINDS: Final = np.array(
    [_SPACE * (chr(one).isspace() and one < 128) + _DIGIT * (48 <= one < 58) for one in range(256)],
    np.uint8,
)
"""Of a byte of UTF-8. Other spaces count as letters, which makes words longer, and more suspect."""

_AT_ONCE: Final = 1 << 18
"""Characters of texts that are looked at together."""


def secret_spans(text: str) -> Sequence[Span]:
    """Spans of personal data, credentials, and encoded runs with either; sorted and disjoint."""
    return _spans(text) if _suspects([text])[0] else ()


def spans_of_all(texts: Iterable[str]) -> Iterator[Sequence[Span]]:
    """The `secret_spans` of each text."""
    for block in text_blocks(texts, _AT_ONCE):
        for text, suspect in zip(block, _suspects(block).tolist(), strict=True):
            yield _spans(text) if suspect else ()


def _suspects(texts: list[str]) -> NDArray[np.bool_]:
    """(n,) whether such a place can be in a text: it can in few, and to look takes long."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    content = b"\n".join(encoded)
    firsts = [0, *accumulate(len(one) + 1 for one in encoded)]
    starts = np.array(firsts)
    kinds = _KINDS[np.frombuffer(content, np.uint8)]
    # Words are between spaces, and a text ends with one.
    spaces = np.concatenate([[-1], np.flatnonzero(kinds == _SPACE), [len(content)]])
    lengths = np.diff(spaces) - 1
    digits = np.flatnonzero(kinds == _DIGIT)
    numbers = lengths[np.searchsorted(spaces, digits) - 1] >= _SHORT
    found = np.zeros(len(texts), np.bool_)

    def text_of(places: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(starts, places, "right") - 1

    found[text_of(spaces[:-1][lengths >= _LONG] + 1)] = True
    found[text_of(digits[numbers])] = True
    for sign in _SIGNS:
        at = content.find(sign)
        while at >= 0:
            text = bisect_right(firsts, at) - 1
            found[text] = True
            at = content.find(sign, firsts[text + 1])
    with_digits = np.zeros(len(texts), np.bool_)
    with_digits[text_of(digits)] = True
    for at in np.flatnonzero(with_digits & ~found).tolist():
        found[at] = _NUMBERS.search(texts[at]) is not None
    return found


# Many metrics show the same worst samples, and ten megabytes take seconds.
@lru_cache(maxsize=256)
def _spans(text: str) -> tuple[Span, ...]:
    # Their many patterns are made for texts that may need them.
    from valor_cli.kernels.secrets.credentials import find_credentials
    from valor_cli.kernels.secrets.encodings import encoded_runs
    from valor_cli.kernels.secrets.personal_data import find_personal_data

    found = [*find_personal_data(text), *find_credentials(text)]
    for run in encoded_runs(text):
        if find_personal_data(run.text) or find_credentials(run.text):
            found.append(Span(run.start, run.end, run.encodings[0]))
    return tuple(disjoint(found))
