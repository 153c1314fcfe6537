"""Find personal data in text by its form and check digits.

Names and postal addresses are not detected. Every match has a form that can be verified: the
ranges and check digits of an issuer or, for telephone numbers, a customary grouping or a nearby
keyword. Kinds have the names of Microsoft Presidio. Every search runs in linear time for any text.

An e-mail address is a local part of RFC 5321's characters, including letters of European
alphabets, and a host name with a top-level domain of letters. "/", "=", "?" and "&", which the RFC
allows too, are treated as part of a URL around the address; quoted local parts and bracketed hosts
are not matched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ipaddress import ip_address

from valor_cli.kernels.secrets.checksums import base58check, bech32, mod_97
from valor_cli.kernels.secrets.payment_cards import payment_cards
from valor_cli.kernels.secrets.personal_entities import DEFAULT_ENTITIES, Entity
from valor_cli.kernels.secrets.spans import Span, disjoint, without_escapes

_LETTERS = "A-Za-z\u00aa-\u024f\u0370-\u052f"
_LABEL = rf"[{_LETTERS}0-9][{_LETTERS}0-9-]{{0,62}}+"
_HOST = re.compile(rf"@({_LABEL}(?:\.{_LABEL}){{0,8}}+)")
_TOP = re.compile(rf"(?:(?i:xn--)[A-Za-z0-9-]{{2,59}}|[{_LETTERS}]{{2,24}})(?![{_LETTERS}0-9])")
# Read from the "@" backwards.
_LOCAL = re.compile(rf"[{_LETTERS}0-9!#$%'*+^_`{{|}}~.-]{{1,64}}+")
# "https://name:secret@host" is a login, not an address.
_LOGIN = re.compile(r"[^\s/?#@]{0,255}+//:")
_PICTURES = frozenset(("avif", "bmp", "css", "gif", "jpeg", "jpg", "js", "png", "svg", "webp"))
"""Ends of file names like "logo@2x.png"; none is a top-level domain."""


def email_addresses(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each address, in linear time."""
    at = text.find("@")
    while at >= 0:
        found = _address(text, at)
        if found is not None:
            yield found
        at = text.find("@", at + 1 if found is None else found[1])


def _address(text: str, at: int) -> tuple[int, int] | None:
    """The address around an "@"."""
    host = _HOST.match(text, at)
    if host is None:
        return None
    before = text[max(0, at - 320) : at][::-1]
    local = _LOCAL.match(before)
    if local is None:
        return None
    end = _host_end(host)
    # Quotes and dots around an address are not its own.
    length = len(local[0].rstrip(".'`*{|"))
    if end is None or not length or local[0][0] == ".":
        return None
    if _LOGIN.match(before) or (local[0] == "tig" and text[end : end + 1] == ":"):
        return None
    return at - length, end


def _host_end(host: re.Match[str]) -> int | None:
    """Where the host name ends: behind the last of its labels that can be a top-level domain."""
    labels = host[1].split(".")
    end = host.start(1) + len(host[1])
    while len(labels) > 1:
        last = labels.pop()
        end -= len(last)
        # "a@b.com-office" goes on behind its host, "a@b.com.2" with a number.
        top = _TOP.match(last)
        if top is not None:
            return None if top[0].lower() in _PICTURES else end + top.end()
        end -= 1
    return None


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


_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_VERSION_4 = re.compile(
    rf"[0-9](?<![0-9A-Za-z_.][0-9])(?=([0-9]{{0,2}}\.{_OCTET}\.{_OCTET}\.{_OCTET}))"
    r"[0-9.]{6,14}+(?![0-9A-Za-z_]|\.[0-9])"
)
_COLONS = re.compile(r":[0-9A-Fa-f]{0,4}:")
_VERSION_6 = re.compile(
    r"(?<![0-9A-Za-z_:.])(?:[0-9A-Fa-f]{0,4}:){2,8}"
    r"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]{0,4})(?![0-9A-Za-z_:])"
)


def ip_addresses(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each address that can be assigned.

    Loopback, unspecified and reserved addresses, among them masks such as 255.255.255.0, are not.
    Time grows with the length of the text alone.
    """
    for found in _VERSION_4.finditer(text):
        address = found[0].rstrip(".")
        if _somebodys(address):
            yield found.start(), found.start() + len(address)
    if _COLONS.search(text) is None:
        return
    for found in _VERSION_6.finditer(text):
        address = found[0]
        if address.endswith(":") and not address.endswith("::"):
            address = address[:-1]
        # "a::b" is more often a name in a program.
        if any(each.isdecimal() for each in address) and _somebodys(address):
            yield found.start(), found.start() + len(address)


def _somebodys(text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if address.version == 4:
        return not (address.is_loopback or address.is_unspecified or address.is_reserved)
    return not (address.is_loopback or address.is_unspecified)


Places = Iterator[tuple[int, int]]

_DASH = "[\\-\u2010-\u2013]"
_SSN = re.compile(
    rf"[0-9](?<![0-9A-Za-z_][0-9])(?<!{_DASH}[0-9])[0-9]{{2}}{_DASH}[0-9]{{2}}{_DASH}[0-9]{{4}}"
    rf"(?![0-9A-Za-z_]|{_DASH}[0-9])"
)
# Without dashes nine digits are anything; the words in front of them say what they are.
_NAMED_SSN = re.compile(
    r"(?:\b(?i:ssn)|\b(?i:social[ ]security))(?i:[ ](?:number|no\.?))?[^0-9\n]{0,12}?"
    r"\b([0-9]{3}([ .]?)[0-9]{2}\2[0-9]{4})(?![0-9A-Za-z_]|[.,][0-9])"
)
_NEVER_ISSUED = ("078051120", "219099999")
"""Numbers printed in advertisements, which the Social Security Administration took back."""

_NINO = re.compile(
    r"(?<![0-9A-Za-z_])(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]"
    r"([ ]?)[0-9]{2}\1[0-9]{2}\1[0-9]{2}\1[A-D](?![0-9A-Za-z_])"
)
_BITCOIN = re.compile(
    r"(?<![0-9A-Za-z])(?:([13][1-9A-HJ-NP-Za-km-z]{25,34})|((?:bc1|BC1)[0-9A-Za-z]{11,71}))"
    r"(?![0-9A-Za-z])"
)
_LONG_NUMBER = re.compile(r"[0-9][0-9 \u00a0\u202f\-\u2010-\u2013.]{7}")


def _digits(text: str) -> str:
    return "".join(each for each in text if each.isdecimal())


def _issued_ssn(digits: str) -> bool:
    """Whether a social security number can have been issued (SSA POMS RM 10201.035)."""
    return (
        digits[:3] not in ("000", "666")
        and digits[0] != "9"
        and digits[3:5] != "00"
        and digits[5:] != "0000"
        and digits not in _NEVER_ISSUED
    )


def _issued_itin(digits: str) -> bool:
    """Whether a taxpayer number can have been issued (IRS Publication 4757)."""
    group = int(digits[3:5])
    return digits[0] == "9" and (
        50 <= group <= 65 or 70 <= group <= 88 or 90 <= group <= 92 or 94 <= group <= 99
    )


def _us_ssns(text: str) -> Places:
    if _LONG_NUMBER.search(text) is None:
        return
    for found in _SSN.finditer(text):
        if _issued_ssn(_digits(found[0])):
            yield found.span()
    for found in _NAMED_SSN.finditer(text):
        if _issued_ssn(_digits(found[1])):
            yield found.span(1)


def _us_itins(text: str) -> Places:
    return (found.span() for found in _SSN.finditer(text) if _issued_itin(_digits(found[0])))


def _uk_ninos(text: str) -> Places:
    return (found.span() for found in _NINO.finditer(text))


def _credit_cards(text: str) -> Places:
    return iter(()) if _LONG_NUMBER.search(text) is None else payment_cards(text)


def _bitcoin_addresses(text: str) -> Places:
    for found in _BITCOIN.finditer(text):
        if base58check(found[1]) if found[1] else bech32(found[2].lower()):
            yield found.span()


def _phone_numbers(text: str) -> Places:
    # Its patterns are made when they are needed.
    from valor_cli.kernels.secrets.phone_numbers import phone_numbers

    return phone_numbers(text)


_FINDERS: dict[Entity, tuple[str, Callable[[str], Places]]] = {
    "credit_card": ("CREDIT_CARD", _credit_cards),
    "us_ssn": ("US_SSN", _us_ssns),
    "email": ("EMAIL_ADDRESS", email_addresses),
    "iban": ("IBAN_CODE", ibans),
    "ip": ("IP_ADDRESS", ip_addresses),
    "us_itin": ("US_ITIN", _us_itins),
    "uk_nino": ("UK_NINO", _uk_ninos),
    "crypto": ("CRYPTO", _bitcoin_addresses),
    "phone": ("PHONE_NUMBER", _phone_numbers),
}
"""By entity its kind, and who finds it; telephone numbers, which have no check digit, last."""


def find_personal_data(text: str, entities: tuple[Entity, ...] = DEFAULT_ENTITIES) -> list[Span]:
    """Spans of personal data in a text.

    Args:
        text: Any text.
        entities: What to look for. Card numbers, e-mail addresses and US social security numbers
            are those that can hardly be mistaken.

    Returns:
        Spans in order, none reaching into another.
    """
    text = without_escapes(text)
    spans: list[Span] = []
    for entity, (kind, finder) in _FINDERS.items():
        if entity not in entities:
            continue
        found = [Span(start, end, kind) for start, end in finder(text)]
        if entity == "phone" and spans:
            found = _not_overlapping(found, disjoint(spans))
        spans += found
    return disjoint(spans) if spans else spans


def _not_overlapping(spans: list[Span], taken: list[Span]) -> list[Span]:
    """The spans that overlap none of `taken`; both are sorted."""
    kept = []
    at = 0
    for span in spans:
        while at < len(taken) and taken[at].end <= span.start:
            at += 1
        if at == len(taken) or taken[at].start >= span.end:
            kept.append(span)
    return kept
