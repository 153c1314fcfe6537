"""A text in; the IP addresses in it, versions 4 and 6, out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address

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
    """(start, end) of each address that can be somebody's.

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
