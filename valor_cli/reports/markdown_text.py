"""Words and rows in; the Markdown that shows them out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_MENTION = re.compile(r"(?<!\w)@")
_SPECIAL = re.compile(r"([\\`*{}\[\]|~#$!]|(?<![^\W_])_|_(?![^\W_]))")


def escaped(text: str) -> str:
    """Foreign text that shows as itself in GitHub's Markdown: no markup, links or mentions."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _SPECIAL.sub(r"\\\1", text)
    text = _MENTION.sub("@&#8203;", text)
    return text.replace("://", "&#58;//").replace("www.", "www&#46;")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Iterator[str]:
    """Lines of a table, its first `left` columns to the left and the others to the right."""
    yield f"| {' | '.join(headings)} |"
    yield "|" + "|".join([":--"] * left + ["--:"] * (len(headings) - left)) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
