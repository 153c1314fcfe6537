"""Parse decimal numbers at given positions of a text, rounded as by Python."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.fields import FieldText, Ints, Words

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_EXACT_POWER: Final = 22
"""10 to that is the largest power of ten that a float holds exactly."""
_EXACT_WHOLE: Final = np.uint64(2**53)
_SMALLEST_POWER: Final = 200
"""Beyond that, parts of a quotient come near the smallest floats."""
_DIGITS: Final = 18
_DOUBT: Final = 2.0**-95
"""More than the relative error of a quotient in two floats, which is about 2**-103."""

_POWER: Final = np.array([10**k for k in range(_DIGITS + 1)], np.uint64)
_TENS: Final = np.array([float(10**k) for k in range(_SMALLEST_POWER + 1)])
_TENS_REST: Final = np.array(
    [float(Fraction(10**k) - Fraction(float(10**k))) for k in range(_SMALLEST_POWER + 1)]
)


def _repeated(byte: int) -> np.uint64:
    return np.uint64(byte * 0x0101010101010101)


_ONES, _TOPS, _ZEROS, _POINTS = (_repeated(byte) for byte in (0x01, 0x80, 0x30, 0x2E))
_LOWER, _EXPONENTS, _OVER_NINE = (_repeated(byte) for byte in (0x20, 0x65, 0x76))
_PAIRS, _FOURS, _EIGHTS = (
    np.uint64(mask) for mask in (0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF, 0x00000000FFFFFFFF)
)
_STEPS: Final = tuple(map(np.uint64, (10, 8, 100, 16, 10_000, 32)))
_HUNDRED_MILLION: Final = np.uint64(10**8)
_BYTE, _TWO, _ZERO_DIGIT = (np.uint64(mask) for mask in (0xFF, 0xF0FF, 0x3030))
_MINUS, _PLUS = ord("-"), ord("+")


class _Decimals(NamedTuple):
    """Numbers as whole / 10**places.

    Attributes:
        whole: (n,) below 2**63.
        places: (n,) digits after the point.
        read: (n,) which are digits, with or without a point between them; others are 0.
    """

    whole: Words
    places: Ints
    read: Bools


def decimal_numbers(text: FieldText, start: Ints, end: Ints) -> tuple[Floats, Bools]:
    """Parse numbers of the form [-]digits[.digits][e[±]digits], correctly rounded.

    Args:
        text: The text.
        start, end: (n,) where each number begins and ends.

    Returns:
        value: (n,) the numbers.
        read: (n,) which could be read. Others are of another form, or are written with so many
            digits (about 18, or more than 8 before the point) that they need a longer way.
    """
    value, read = _plain(text, start, end)
    if not read.all():
        rest = np.flatnonzero(~read)
        value[rest], read[rest] = _signed(text, start[rest], end[rest])
    return value, read


def leading_zeros(text: FieldText, start: Ints, end: Ints) -> Bools:
    """Whether a number has a leading zero, which JSON does not allow."""
    word = text.eight(start)
    negative = (word & _BYTE) == _MINUS
    if negative.any():
        word = np.where(negative, word >> np.uint64(8), word)
    # A digit is 0x30 to 0x39, and nothing else in a number is 0x3a to 0x3f.
    found: Bools = ((word & _TWO) == _ZERO_DIGIT) & (end - start > 1 + negative)
    return found


def _plain(text: FieldText, start: Ints, end: Ints) -> tuple[Floats, Bools]:
    """Numbers without sign and exponent."""
    decimals = _decimals(text, start, end)
    return _quotients(decimals.whole, decimals.places), decimals.read


def _signed(text: FieldText, start: Ints, end: Ints) -> tuple[Floats, Bools]:
    """Numbers with a sign or an exponent. Fields must lie in the text."""
    bytes_at = text.bytes.take
    negative = (bytes_at(start, mode="clip") == _MINUS) & (start < end)
    start = start + negative
    exponent, mark = _exponents(text, start, end)
    decimals = _decimals(text, start, mark)
    places = decimals.places - exponent
    read = decimals.read & (places >= 0) & (places <= _SMALLEST_POWER)
    value = _quotients(decimals.whole, np.where(read, places, 0))
    # 1e2 is 1 / 10**-2, which is exact by multiplication.
    large = np.flatnonzero(decimals.read & (places < 0) & (places >= -_EXACT_POWER))
    large = large[decimals.whole[large] <= _EXACT_WHOLE]
    value[large] = decimals.whole[large].astype(np.float64) * _TENS[-places[large]]
    read[large] = True
    return np.where(negative, -value, value), read


def _exponents(text: FieldText, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """The exponent of each number, and where it begins: 0 and the end if there is none."""
    own = (64 - (np.clip(end - start, 0, 8) << 3)).view(np.uint64)
    last = (text.eight(end - 8) >> own) << own
    found = _first_zero((last | _LOWER) ^ _EXPONENTS)
    mark = end - 8 + found
    there = (found < 8) & (mark > start)
    sign = text.bytes.take(mark + 1, mode="clip")
    signed = (sign == _MINUS) | (sign == _PLUS)
    width = np.where(there, 7 - found - signed, 0)
    size, digits = _eight_digits(_last_bytes(last, width))
    there &= digits & (width > 0)
    size = np.where(there, size, 0).astype(np.int64)
    return np.where(sign == _MINUS, -size, size), np.where(there, mark, end)


def _decimals(text: FieldText, start: Ints, end: Ints) -> _Decimals:
    length = end - start
    word = text.eight(start)
    first = _first_zero(word ^ _POINTS)
    before = np.minimum(first, length)
    after = np.maximum(length - before - 1, 0)
    # Shifted to the top, what stands before the point has zeros in front of it.
    top = (word ^ _ZEROS) << (64 - (before << 3)).view(np.uint64)
    whole, read = _eight_digits(top)
    read &= (before > 0) & ((after > 0) | (before == length))
    most = int(after.max(initial=0))
    if int(length.max(initial=0)) > 8:
        read &= (first < 8) | (length <= 8)
    if most > _DIGITS - 8:
        read &= (after + before <= _DIGITS) | ((whole == 0) & (after <= _EXACT_POWER))
    whole *= _POWER.take(after, mode="clip")
    for place, behind in enumerate(range(0, min(most, 24), 8)):
        part = _last_bytes(text.eight(end - 8 - behind), np.clip(after - behind, 0, 8))
        digits, fine = _eight_digits(part)
        read &= fine
        if place == 2:
            # Of 24 digits, the first 8 may be no more than fit into 63 bits.
            read &= digits < 922
        whole += digits * _HUNDRED_MILLION ** np.uint64(place)
    return _Decimals(whole if read.all() else whole * read, after, read)


def _first_zero(word: Words) -> Ints:
    """The first byte of each word that is 0, from 0 to 7; 8 if there is none."""
    marks = (word - _ONES) & ~word & _TOPS
    # Only the lowest mark is sure: borrowing spoils those above.
    below = ((marks & (~marks + np.uint64(1))) >> np.uint64(7)) - np.uint64(1)
    found: Ints = np.bitwise_count(below).astype(np.int64) >> 3
    return found


def _last_bytes(word: Words, count: Ints) -> Words:
    """The last bytes of each word as digits, with zeros in front of them."""
    shift = (64 - (count << 3)).view(np.uint64)
    return ((word ^ _ZEROS) >> shift) << shift


def _eight_digits(digits: Words) -> tuple[Words, Bools]:
    """The value of eight digits, little-endian, and whether all are digits."""
    read = (((digits + _OVER_NINE) | digits) & _TOPS) == 0
    ten, eight, hundred, sixteen, ten_thousand, half = _STEPS
    digits = (digits * ten + (digits >> eight)) & _PAIRS
    digits = (digits * hundred + (digits >> sixteen)) & _FOURS
    return (digits * ten_thousand + (digits >> half)) & _EIGHTS, read


def _quotients(whole: Words, places: Ints) -> Floats:
    """whole / 10**places, rounded once.

    Where both are exact as floats, so is the rule of their quotient (Clinger, How to Read
    Floating Point Numbers Accurately, 1990).
    """
    value = whole.astype(np.float64)
    value /= _TENS.take(places, mode="clip")
    hard = np.flatnonzero((whole > _EXACT_WHOLE) | (places > _EXACT_POWER))
    if len(hard):
        value[hard] = _long_quotients(whole[hard], places[hard])
    return value


def _long_quotients(whole: Words, places: Ints) -> Floats:
    """The same for up to 19 digits and any power, by quotients in two floats (Dekker, 1971)."""
    top = whole.astype(np.float64)
    rest = (whole - top.astype(np.uint64)).view(np.int64).astype(np.float64)
    # What is longer than the table is no number, or one that is read elsewhere.
    tens, tens_rest = (table.take(places, mode="clip") for table in (_TENS, _TENS_REST))
    near = top / tens
    product, error = _product(near, tens)
    more = (((top - product) - error) + rest - near * tens_rest) / tens
    value: Floats = near + (more - near * _DOUBT)
    doubtful = np.flatnonzero(value != near + (more + near * _DOUBT))
    for at in doubtful.tolist():
        # Near the middle between two floats; Python divides whole numbers exactly.
        value[at] = int(whole[at]) / 10 ** int(places[at])
    return value


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a * b as a float, and its rounding error."""
    product = a * b
    a_high, b_high = _upper_half(a), _upper_half(b)
    a_low, b_low = a - a_high, b - b_high
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, error


def _upper_half(value: Floats) -> Floats:
    """The upper 26 bits of each mantissa (Veltkamp)."""
    spread: Floats = value * 134217729.0
    spread -= spread - value
    return spread
