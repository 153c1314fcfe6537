"""Find keys, tokens, passwords and certificates in text.

Some values have no form of their own apart from length and characters
(aws_secret_access_key = "…40 characters…"): the name that they are assigned to must be that of a
service that issues such values (the names are those of detect-secrets 1.5). Keys and certificates
come in PEM (RFC 7468) and similar encodings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from valor_cli.kernels.secrets.credential_formats import FORMS, Form
from valor_cli.kernels.secrets.spans import Span, disjoint, without_escapes

_EDGE = re.compile(
    r"-----(BEGIN|END) ([A-Z0-9][A-Z0-9# ]{1,60}+)-----"
    r"|---- (BEGIN|END) (SSH2 ENCRYPTED PRIVATE KEY) ----"
)
_LINES = re.compile(r"(?:(?:\\[rn]|[ \t\r\n>]){1,16}+[A-Za-z0-9+/]{16,}+={0,2})++")
_BODY = re.compile(r"[A-Za-z0-9+/=]{40}")
# A short body, whose lines hold nothing else; words of a sentence share theirs.
_BREAK = r"(?:\\[rn]|[ \t\r\n>])*+"
_SHORT = re.compile(rf"(?:{_BREAK}[A-Za-z0-9+/]++={{0,2}}[ \t]*+(?=\\[rn]|[\r\n]|-----))++{_BREAK}")
# A key's first line without its dashes, and a key of PuTTY.
_BARE = re.compile(
    r"BEGIN (?:(?:DSA|EC|OPENSSH|RSA|SSH2 ENCRYPTED|ENCRYPTED) )?PRIVATE KEY"
    r"|BEGIN PGP PRIVATE KEY BLOCK|PuTTY-User-Key-File-[23]"
)


def pem_blocks(text: str) -> Iterator[Span]:
    """Spans of private keys, certificates and other encoded blocks.

    A block may be of any length; one that is cut off ends with its last whole line, and needs some
    characters. Public keys, signatures and encrypted
    messages are made to be shown, and are none. The first line of a private key is enough; of other
    blocks there must be something. Time grows with the length of the text alone.
    """
    if "BEGIN " in text:
        yield from _whole_blocks(text)
    for found in _BARE.finditer(text):
        yield Span(found.start(), found.end(), "PRIVATE_KEY")


def _whole_blocks(text: str) -> Iterator[Span]:
    edges = list(_EDGE.finditer(text))
    for edge, following in zip_longest(edges, edges[1:]):
        begins, label = (edge[1], edge[2]) if edge[1] else (edge[3], edge[4])
        kind = _kind(label)
        if begins != "BEGIN" or kind is None:
            continue
        lines = _LINES.match(text, edge.end())
        end = lines.end() if lines else edge.end()
        whole = kind == "PRIVATE_KEY"
        if following is not None and (following[1] or following[3]) == "END":
            end = following.end()
            short = _SHORT.match(text, edge.end())
            whole = whole or (short is not None and short.end() == following.start())
        if whole or _BODY.search(text, edge.end(), end):
            yield Span(edge.start(), end, kind)


def _kind(label: str) -> str | None:
    """What a block is, by its label."""
    if "PRIVATE KEY" in label:
        return "PRIVATE_KEY"
    if "PUBLIC KEY" in label or label.startswith("PGP ") or label.endswith("SIGNATURE"):
        return None
    return "CERTIFICATE" if "CERTIFICATE" in label else "PEM_BLOCK"


VALUE = r"[A-Za-z0-9+/_-]{24,64}+"
"""What a value looks like; a word without it assigns nothing."""

_VALUE = re.compile(rf"(?<![A-Za-z0-9+/_-]){VALUE}(?![A-Za-z0-9+/_-])")
_NAME = 80
_KEY = "(?:key|pwd|pw|password|pass|token)"


class _Assignment(NamedTuple):
    kind: str
    value: re.Pattern[str]
    name: re.Pattern[str]


def _assignment(kind: str, value: str, name: str) -> _Assignment:
    """A value after a name and "=", ":", ":=", "=>", "::" or spaces."""
    between = r"[\"']?\]?[ ]{0,8}(?::=|::|=>|=|:|[ ])[ ]{0,8}[\"'`]?\Z"
    return _Assignment(
        kind,
        re.compile(value),
        re.compile(rf"(?<![A-Za-z0-9_]){name}{between}", re.IGNORECASE),
    )


_ASSIGNMENTS = (
    _Assignment(
        "AWS_SECRET_KEY",
        re.compile(r"[0-9A-Za-z/+]{40}"),
        re.compile(
            rf"(?:aws.{{0,20}}{_KEY}|secret[ _-]?access[ _-]?key).{{0,20}}[\"'`=: ]\Z",
            re.IGNORECASE,
        ),
    ),
    _assignment(
        "IBM_CLOUD_KEY",
        r"[A-Za-z0-9_-]{44}",
        rf"(?:ibm[_-]?cloud[_-]?iam|cloud[_-]?iam|ibm[_-]?cloud|ibm[_-]?iam|ibm|iam|cloud)?"
        rf"[_-]?(?:api)?[_-]?{_KEY}",
    ),
    _assignment(
        "IBM_COS_SECRET",
        r"[A-Fa-f0-9]{48}",
        r"(?:(?:ibm)?[_-]?cos[_-]?(?:hmac)?)?[_-]?secret[_-]?(?:access)?[_-]?key",
    ),
    _assignment(
        "CLOUDANT_CREDENTIALS",
        r"[A-Fa-f0-9]{64}|[A-Za-z]{24}",
        rf"(?:cloudant|clou|cl)[_-]?(?:api)?[_-]?{_KEY}",
    ),
    _assignment("SOFTLAYER_KEY", r"[A-Za-z0-9]{64}", rf"(?:softlayer|sl)[_-]?(?:api)?[_-]?{_KEY}"),
)


def assigned_secrets(text: str) -> Iterator[Span]:
    """Spans of such values, in linear time."""
    for found in _VALUE.finditer(text):
        start = found.start()
        for kind, value, name in _ASSIGNMENTS:
            if value.fullmatch(found[0]) and name.search(text, max(0, start - _NAME), start):
                yield Span(start, found.end(), kind)
                break


_SHORTEST = 10
"""Characters without a space that every credential has, but for the first line of a private key."""

_HINTS = [(re.compile(form.hint), form) for form in FORMS]
_ANY_HINT = re.compile("|".join(dict.fromkeys(f"(?:{form.hint})" for form in FORMS)))
_ASSIGNED = re.compile(VALUE)


_LONGEST = 64
"""Characters of a word whose search is remembered."""


@lru_cache(maxsize=1 << 14)
def _is_hinted(word: str) -> bool:
    return _ANY_HINT.search(word) is not None or _ASSIGNED.search(word) is not None


def find_credentials(text: str) -> list[Span]:
    """Spans of credentials in a text.

    Kinds are named after their issuers ("AWS_ACCESS_KEY", "GITHUB_TOKEN", "PRIVATE_KEY"). Values
    without a form of their own ("password: hunter2") are not found. Time grows with the length of
    the text alone.

    Returns:
        Spans in order, none reaching into another.
    """
    spans = list(pem_blocks(text)) if "BEGIN " in text or "PuTTY-User" in text else []
    text = without_escapes(text)
    # Ordinary words are short, and occur again, so that most texts are done with here.
    long = [word for word in text.split() if len(word) >= _SHORTEST]
    words = " ".join([word for word in long if len(word) > _LONGEST or _is_hinted(word)])
    if _ANY_HINT.search(words):
        for hint, form in _HINTS:
            if hint.search(words):
                spans += _matches(text, form)
    if _ASSIGNED.search(words):
        spans += assigned_secrets(text)
    return disjoint({(span.start, span.end): span for span in reversed(spans)}.values())


def _matches(text: str, form: Form) -> Iterator[Span]:
    for found in form.pattern.finditer(text):
        start, end = found.span(1) if form.pattern.groups else found.span()
        if form.before is not None:
            before = form.before.search(text, max(0, found.start() - form.reach), found.start())
            if before is None:
                continue
            start = start if form.pattern.groups else before.start()
        if form.check is None or form.check(text[start:end]):
            yield Span(start, end, form.kind)
