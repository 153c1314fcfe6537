"""Find e-mail addresses in text.

An address is a local part of RFC 5321's characters, including letters of European alphabets, and a
host name with a top-level domain of letters. "/", "=", "?" and "&", which the RFC allows too, are
treated as part of a URL around the address; quoted local parts and bracketed hosts are not
matched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
