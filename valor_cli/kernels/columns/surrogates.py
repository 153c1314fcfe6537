"""Join surrogate pairs and replace unpaired ones, so that a text can be encoded."""

from __future__ import annotations

import re

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def whole_characters(text: str) -> str:
    """Join surrogate pairs, and replace unpaired surrogates by U+FFFD.

    JSON can spell halves, as escapes; no file, and no tokenizer, takes them.
    """
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
