"""Find the parts of a text that must be masked in reports."""

from __future__ import annotations

import re

from valor_cli.kernels.secrets.spans import Span, disjoint

_LONG, _SHORT = 16, 10
"""Characters of a word in every text that has such a place, but for those of `_is_suspect`; and of
the shortest credential that has a digit."""

_DIGIT = re.compile("[0-9]")
_GAP = r"(?:[ :\-\n]|,[ ]?)"
_NUMBERS = re.compile(
    r"[0-9](?:[0-9 \u00a0\u202f\-\u2010-\u2013.]{7}"
    rf"|[0-9A-Fa-f]{_GAP}(?:[0-9][0-9A-Fa-f]{_GAP}){{3}})"
)
"""Every number of personal data begins so, and whatever is told in bytes of base 16 that stand
apart has four in a row of ASCII."""


def _is_suspect(text: str) -> bool:
    """Whether such a place can be in a text: it can in few, and to look takes ten times as long."""
    words = text.split()
    if max(map(len, words), default=0) >= _LONG:
        return True
    # Addresses, bytes, short keys of Artifactory, short JSON web tokens, and lines in front of
    # private keys; one after the other, which takes a fifth of the time of a pattern of all.
    if "@" in text or "0x" in text or "AK" in text or "AP" in text:
        return True
    if "eyJ" in text or "BEGIN " in text or "PuTTY-User" in text:
        return True
    if _DIGIT.search(text) is None:
        return False
    if _NUMBERS.search(text) is not None:
        return True
    return _DIGIT.search(" ".join([word for word in words if len(word) >= _SHORT])) is not None


def secret_spans(text: str) -> list[Span]:
    """Spans of personal data, credentials, and encoded runs with either; sorted and disjoint."""
    if not _is_suspect(text):
        return []
    # Their many patterns are made for texts that may need them.
    from valor_cli.kernels.secrets.credentials import find_credentials
    from valor_cli.kernels.secrets.encodings import encoded_runs
    from valor_cli.kernels.secrets.personal_data import find_personal_data

    found = [*find_personal_data(text), *find_credentials(text)]
    for run in encoded_runs(text):
        if find_personal_data(run.text) or find_credentials(run.text):
            found.append(Span(run.start, run.end, run.encodings[0]))
    return disjoint(found)
