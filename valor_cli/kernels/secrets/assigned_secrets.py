"""Find secrets in text that are recognisable only by the name they are assigned to.

    aws_secret_access_key = "…40 characters…"

Apart from its length and characters, such a value has no form of its own; the name before it must
be that of a service that issues such values (the names are those of detect-secrets 1.5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from valor_cli.kernels.secrets.spans import Span

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
