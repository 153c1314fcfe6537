"""Verify check digits: Luhn, MOD 97-10, Base58Check and Bech32."""

from __future__ import annotations

from hashlib import sha256

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_STEPS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_BECH32_ENDS = (1, 0x2BC830A3)
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def luhn(digits: str) -> bool:
    """Whether digits pass the Luhn check (ISO/IEC 7812-1, annex B)."""
    values = [int(digit) for digit in reversed(digits)]
    return (sum(values[::2]) + sum(_DOUBLED[value] for value in values[1::2])) % 10 == 0


def mod_97(letters_and_digits: str) -> bool:
    """Whether an IBAN, in capitals without spaces, passes the check (ISO 7064 MOD 97-10)."""
    turned = letters_and_digits[4:] + letters_and_digits[:4]
    return int("".join(str(int(each, 36)) for each in turned)) % 97 == 1


def base58check(address: str) -> bool:
    """Whether a Bitcoin address of 25 bytes passes the Base58Check."""
    number = 0
    for each in address:
        value = _BASE58.find(each)
        if value < 0:
            return False
        number = number * 58 + value
    if number.bit_length() > 200:
        return False
    raw = number.to_bytes(25, "big")
    return sha256(sha256(raw[:21]).digest()).digest()[:4] == raw[21:]


def bech32(address: str) -> bool:
    """Whether a SegWit address, in lower case, passes the Bech32 check (BIP 173, BIP 350)."""
    prefix, _, data = address.rpartition("1")
    values = [ord(each) >> 5 for each in prefix] + [0] + [ord(each) & 31 for each in prefix]
    values += [_BECH32.find(each) for each in data]
    if not prefix or min(values) < 0:
        return False
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, step in enumerate(_BECH32_STEPS):
            check ^= step if top >> bit & 1 else 0
    return check in _BECH32_ENDS
