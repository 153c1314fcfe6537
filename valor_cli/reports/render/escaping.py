"""Escape text for Markdown."""

from __future__ import annotations

import re

_LINKED = re.compile(
    r"(?<=@)(?!\d[\d.]*+(?![\w-]))"  # people and e-mail addresses, and not AR@100
    r"|(?<=[#!%$])(?=\d)|(?<=&amp;)(?=\d)|(?<=\bgh-)(?=\d)"  # issues, merge requests, epics
    r"|(?<=\b[0-9a-f]{20})(?=[0-9a-f]{20}\b)",  # commits
    re.IGNORECASE,
)
"""Where a space of no width keeps GitHub and GitLab from a link; backslashes do not."""

_SPECIAL = re.compile(r"([\\`*{}\[\]|~#$!]|(?<![^\W_])_|_(?![^\W_]))")


def escaped(text: str) -> str:
    """Untrusted text, escaped for GitHub's Markdown: no markup, links or mentions."""
    return _unlinked(_SPECIAL.sub(r"\\\1", _as_html(text)))


def in_html(text: str) -> str:
    """Untrusted text, escaped for a line that starts with an HTML tag."""
    return _unlinked(_as_html(text))


def _as_html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _unlinked(text: str) -> str:
    text = _LINKED.sub("&#8203;", text)
    return text.replace("://", "&#58;//").replace("www.", "www&#46;")
