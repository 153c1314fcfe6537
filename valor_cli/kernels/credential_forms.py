"""The forms of credentials that can be told from other text: issuers' prefixes, lengths, grammars.

Every pattern is linear in the text: it begins with characters that are rare, its repetitions have
limits or cannot give anything back, and none of them stands inside another. Where the
plugins of Yelp's detect-secrets 1.5 know a form it is the same here, but for what they catch inside
of longer words.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from dataclasses import dataclass

Check = Callable[[re.Match[str]], bool]


@dataclass(frozen=True, slots=True)
class Form:
    """What a kind of credential looks like.

    Attributes:
        kind: Its name.
        hint: A pattern found in each of them, in one word of 10 characters or more; seldom elsewhere.
        pattern: Finds them; its first group, where it has one, is what is secret.
        check: Whether what was found is one indeed.
    """

    kind: str
    hint: str
    pattern: re.Pattern[str]
    check: Check | None = None


def _preceded(characters: int, pattern: str) -> Check:
    """Whether what stands before a match ends with a pattern."""
    before = re.compile(rf"(?:{pattern})\Z")

    def check(found: re.Match[str]) -> bool:
        start = found.start()
        return before.search(found.string, max(0, start - characters), start) is not None

    return check


def _is_jwt(found: re.Match[str]) -> bool:
    """Whether head and claims of a token are JSON, as RFC 7519 has them."""
    try:
        for part in found[0].split(".")[:2]:
            bare = part.rstrip("=")
            json.loads(base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        return False
    return True


def _is_openai_key(found: re.Match[str]) -> bool:
    body = found[0][3:]
    return bool(_OPENAI_OLD.search(body)) or (
        body.startswith(("proj-", "svcacct-", "admin-", "None-")) and _mixed(body)
    )


_OPENAI_OLD = re.compile(r"[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}")


def _mixed(text: str) -> bool:
    """Whether there are digits and capitals among the letters, which names seldom have."""
    return any(each.isdecimal() for each in text) and any(each.isupper() for each in text)


def _mixed_match(found: re.Match[str]) -> bool:
    return _mixed(found[0])


def _not_capitals(found: re.Match[str]) -> bool:
    return not (found[0].isalpha() and found[0].isupper())


def _is_key_of_groups(found: re.Match[str]) -> bool:
    """Not "XXXXX-XXXXX-…", which stands for one."""
    return len(set(found[0])) > 3


def _token(prefix: str, body: str, kind: str, check: Check | None = None, hint: str = "") -> Form:
    """Of a token with a prefix of fixed width that no word runs into."""
    start = rf"{prefix}(?<![A-Za-z0-9]{prefix})"
    return Form(kind, hint or prefix, re.compile(start + body), check)


_W = "[A-Za-z0-9_-]"
_NO_MORE = "(?![A-Za-z0-9_-])"
_NO_WORD = "(?![A-Za-z0-9_])"
_ALNUM_END = "(?![A-Za-z0-9])"

_AWS = (
    _token("A(?:3T[A-Z0-9]|BIA|CCA|KIA|SIA)", rf"[0-9A-Z]{{16}}{_ALNUM_END}", "AWS_ACCESS_KEY"),
)
