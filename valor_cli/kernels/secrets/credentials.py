"""Find keys, tokens, passwords and certificates in text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from valor_cli.kernels.secrets.assigned_secrets import VALUE, assigned_secrets
from valor_cli.kernels.secrets.credential_formats import FORMS, Form
from valor_cli.kernels.secrets.pem_blocks import pem_blocks
from valor_cli.kernels.secrets.spans import Span, disjoint, without_escapes

_SHORTEST = 10
"""Characters without a space that every credential has, but for the first line of a private key."""

_HINTS = [(re.compile(form.hint), form) for form in FORMS]
_ANY_HINT = re.compile("|".join(dict.fromkeys(f"(?:{form.hint})" for form in FORMS)))
_ASSIGNED = re.compile(VALUE)


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
    # Ordinary words are short, so that most texts are done with here.
    words = " ".join([word for word in text.split() if len(word) >= _SHORTEST])
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
