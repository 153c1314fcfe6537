"""Find keys and certificates in PEM (RFC 7468) and similar encodings in text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from valor_cli.kernels.secrets.spans import Span

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
