"""A text in; the international bank account numbers (ISO 13616) in it out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from valor_cli.kernels.checksums import mod_97

# SWIFT's IBAN registry, release 99.
_LENGTHS = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH CR HR LI LV",
    22: "BG BH DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "HN JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
_LENGTH = {country: length for length, all_ in _LENGTHS.items() for country in all_.split()}

# At the check digits, which are rarer than letters.
_HEAD = re.compile(r"[0-9](?<=[A-Za-z]{2}[0-9])(?<![0-9A-Za-z_][A-Za-z]{2}[0-9])[0-9]")
_REST = {
    length: re.compile(rf"(?:[ \u00a0\-]?[0-9A-Za-z]){{{length - 4}}}(?![0-9A-Za-z_])")
    for length in _LENGTHS
}


def ibans(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each number with its country's length and its check digits.

    Spaces or dashes may part it, and letters may be small. Time grows with the length of the text
    alone.
    """
    for head in _HEAD.finditer(text):
        start = head.start() - 2
        length = _LENGTH.get(text[start : start + 2].upper())
        rest = _REST[length].match(text, head.end()) if length else None
        if rest is not None:
            number = "".join(each for each in text[start : rest.end()] if each.isalnum())
            if mod_97(number.upper()):
                yield start, rest.end()
