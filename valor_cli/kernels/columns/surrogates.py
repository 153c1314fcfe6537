"""A text that may hold half characters in; the same text, which any encoding can hold, out."""

from __future__ import annotations

import re

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def whole_characters(text: str) -> str:
    """Both halves of a character as the one that they are; U+FFFD for one half without another.

    JSON can spell halves, as escapes; no file, and no tokenizer, takes them.
    """
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
