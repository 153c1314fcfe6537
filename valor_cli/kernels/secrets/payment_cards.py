"""Find payment card numbers in text.

A number must have the prefix and length of a scheme (ISO/IEC 7812-1; the schemes' published
ranges) and a valid check digit. Groups may be separated by one space or dash, as printed on cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from valor_cli.kernels.secrets.checksums import luhn

_GAP = "[ \u00a0\u202f\\-\u2010-\u2013]"
_END = r"(?![0-9A-Za-z_]|\.[0-9])"

# At a digit that no number, word or fraction runs into. What is found is looked at without
# stepping over it, so that "1234 4111 1111 1111 1111" is read from its second group too.
_CANDIDATE = re.compile(
    rf"[0-9](?<![0-9A-Za-z_][0-9])(?<![0-9]\.[0-9])(?=("
    rf"[0-9]{{11,18}}{_END}"
    rf"|[0-9]{{3}}{_GAP}(?:"
    rf"[0-9]{{4}}{_GAP}[0-9]{{4}}{_GAP}[0-9]{{4}}{_END}"
    rf"|[0-9]{{6}}{_GAP}[0-9]{{4,5}}{_END}"
    rf"|[0-9]{{3}}{_GAP}[0-9]{{3}}{_GAP}[0-9]{{3}}{_END}"
    rf"))({_GAP}[0-9]{{3}}{_END})?)"
)
# Numbers of 64 bits have up to 19 digits too.
_COMMON = 16
_WORD_BEFORE = re.compile(r"(?i:card|visa|maestro|unionpay|discover|jcb)[^\n]{0,30}\Z")
_BEFORE = 40
_NOT_DIGITS = re.compile("[^0-9]")

# (first and last prefix, shortest and longest number)
_SCHEMES = (
    ("4", "4", (13, 16, 19)),  # Visa
    ("51", "55", (16,)),  # Mastercard
    ("2221", "2720", (16,)),
    ("34", "34", (15,)),  # American Express
    ("37", "37", (15,)),
    ("300", "305", (14, 16, 17, 18, 19)),  # Diners Club
    ("3095", "3095", (14, 16, 17, 18, 19)),
    ("36", "36", (14, 15, 16, 17, 18, 19)),
    ("38", "39", (14, 16, 17, 18, 19)),
    ("6011", "6011", (16, 17, 18, 19)),  # Discover
    ("644", "659", (16, 17, 18, 19)),
    ("3528", "3589", (16, 17, 18, 19)),  # JCB
    ("1800", "1800", (15,)),
    ("2131", "2131", (15,)),
    ("62", "62", (16, 17, 18, 19)),  # UnionPay
    ("2200", "2204", (16, 17, 18, 19)),  # Mir
    ("60", "60", (16,)),  # RuPay
    ("81", "82", (16,)),
    ("508", "508", (16,)),
    ("9792", "9792", (16,)),  # Troy
    ("5018", "5018", (12, 13, 14, 15, 16, 17, 18, 19)),  # Maestro
    ("5020", "5020", (12, 13, 14, 15, 16, 17, 18, 19)),
    ("5038", "5038", (12, 13, 14, 15, 16, 17, 18, 19)),
    ("5893", "5893", (12, 13, 14, 15, 16, 17, 18, 19)),
    ("6304", "6304", (12, 13, 14, 15, 16, 17, 18, 19)),
    ("6390", "6390", (12, 13, 14, 15, 16, 17, 18, 19)),
    ("6759", "6759", (12, 13, 14, 15, 16, 17, 18, 19)),
    ("6761", "6763", (12, 13, 14, 15, 16, 17, 18, 19)),
    ("56", "58", (16, 18, 19)),
)


def is_payment_card(digits: str) -> bool:
    """Whether digits are a card number: a scheme's prefix and length, and a valid check digit."""
    return luhn(digits) and any(
        len(digits) in lengths and first <= digits[: len(first)] <= last
        for first, last, lengths in _SCHEMES
    )


def _is_printed_card(text: str, start: int, end: int) -> bool:
    """Whether a number is a card's where it stands."""
    digits = _NOT_DIGITS.sub("", text[start:end])
    if not is_payment_card(digits):
        return False
    grouped = len(digits) < end - start
    return (
        grouped
        or len(digits) <= _COMMON
        or _WORD_BEFORE.search(text, max(0, start - _BEFORE), start) is not None
    )


def payment_cards(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each card number, in linear time."""
    for found in _CANDIDATE.finditer(text):
        start = found.start()
        # Three more digits are the rest of a number of 19, or stand behind one of 16.
        for end in (found.end(2), found.end(1)):
            if end > start and _is_printed_card(text, start, end):
                yield start, end
                break
