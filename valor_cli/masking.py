"""Mask secrets of URLs and of config variables in all output."""

from __future__ import annotations

import re
from functools import cache

_MASK = "…"
_URL = re.compile(r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]*)://[^\s<>\"`]+")

_LOGIN = re.compile(r"(?<=://)(?:[^/@]*@)+|(?<=://)[^/:@]*:(?!\d+(?:[/?#]|\Z)).*@")
"""Name and password before the host. With a slash in the password, the "port" is no number."""

_SAID = re.compile(r"(?<=[?&;#])([^?&;#=]+)(=?)([^&;#]*?)(?=(?::\d+)*[:,.;)\]}']*(?:[&;#]|\Z))")
"""A name in a query or a fragment, and its value; less the line that a message says after it."""

_PLAIN = frozenset(
    {"version", "versionid", "generation", "revision", "rev", "ref", "format", "raw", "download"}
    | {"file", "filename", "name", "path", "part", "shard", "split", "page"}
    | {"x-amz-algorithm", "x-amz-date", "x-amz-expires"}
    | {"x-goog-algorithm", "x-goog-date", "x-goog-expires"}
)
"""Names of values in a query that are shown; any other may be a key."""


def without_secrets(text: str) -> str:
    """Text for output, with passwords and signatures in its URLs replaced by "…".

    Credentials are before the host (`https://name:pw@host`) or
    in the query (`?X-Amz-Signature=`, `?sig=`, `?token=`). Values of a query are masked unless
    their names are known to be harmless.
    """
    text = _URL.sub(_shown_url, text) if "://" in text else text
    return without_kept(text)


def without_kept(text: str) -> str:
    """Text without the environment secrets of a config."""
    return _pattern(tuple(_KEPT)).sub(_MASK, text) if _KEPT else text


_KEPT: dict[str, None] = {}
"""Values of the environment that a config used as secrets; in the order in which they came."""

_SECRET_NAME = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASS(?:WORD|WD)?|PWD|CREDENTIAL|AUTH)S?(?:_(?!FILE|PATH|DIR)|[0-9]|\Z)",
    re.I,
)
_RUN = re.compile(r"[A-Za-z0-9]|[_-]|[^A-Za-z0-9_-]+")
_WRAP = r"(?:\n\s*|<wbr>)?"

_CUT = 8
"""Characters by which a longer secret is known that was cut."""

_SHORTEST, _WORD = 6, 16
"""Characters of a secret, and of one of letters alone: what is shorter is a word of any report."""

_BEFORE_VALUE = re.compile(r"://(?:[^/?#]*\Z|[^?#]*[?#](?:.*[&;])?([^&;=]*)=?\Z)", re.S)
"""The text before a login, or before a value in a query or a fragment."""


def keep_secret(name: str, value: str, before: str, after: str) -> None:
    """Mask a secret environment value in all later output.

    It is where its name says so, and where it is a login of a URL or a value in its query. Numbers
    and short words are not masked: they occur in any report.

    Args:
        name: Of the variable.
        value: Its value.
        before, after: The text around it in the config.
    """
    place = _BEFORE_VALUE.search(before)
    login = place is not None and place[1] is None and "@" in after.partition("/")[0]
    asked = None if place is None else place[1]
    queried = asked is not None and asked.lower() not in _PLAIN
    if not (_SECRET_NAME.search(name) or login or queried):
        return
    number = not any(each.isalpha() for each in value)
    if len(value) >= _SHORTEST and not number and (len(value) >= _WORD or not value.isalpha()):
        _KEPT[value] = None


def masked_bytes(content: bytes) -> bytes:
    """File content without the environment secrets of a config."""
    return _byte_pattern(tuple(_KEPT)).sub(_MASK.encode(), content) if _KEPT else content


@cache
def _pattern(secrets: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(_escaped, sorted(secrets, key=len, reverse=True))))


@cache
def _byte_pattern(secrets: tuple[str, ...]) -> re.Pattern[bytes]:
    return re.compile(_pattern(secrets).pattern.encode())


def _escaped(secret: str) -> str:
    """A pattern of a text as it is, as the formats of files write it, as it wraps, and cut."""
    other = r"&#?\w{1,8};|\\u[0-9A-Fa-f]{4}|(?:%[0-9A-Fa-f]{2}){1,4}"

    def written(run: str) -> str:
        marks = [rf"(?:(?:\\*{re.escape(one)}){{1,2}}|{other})" for one in run]
        # An anchor of a page has one "-" for several.
        return run if run.isalnum() and run.isascii() else f"(?:{_WRAP.join(marks)}|-)"

    runs = [written(run) for run in _RUN.findall(secret)]
    begun, rest = _WRAP.join(runs[:_CUT]), _WRAP.join(runs[_CUT:])
    return rf"{begun}(?:{_WRAP}{rest}|\S{{0,{2 * len(secret)}}}?{_MASK})" if rest else begun


def _shown_url(found: re.Match[str]) -> str:
    """Mask a URL in a text. In an object store, `?` matches any character of a name."""
    url = _LOGIN.sub(f"{_MASK}@", found[0])
    web = found[1].lower() in ("http", "https")
    return _SAID.sub(lambda said: _shown_value(said, web=web), url)


def _shown_value(said: re.Match[str], *, web: bool) -> str:
    name, equals, value = said.groups()
    if name.lower() in _PLAIN:
        return said[0]
    if not equals:
        return _MASK if web else said[0]
    return f"{name}={_MASK}" if value else said[0]
