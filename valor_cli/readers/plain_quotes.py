"""Text of CSV rows with quotes comes in; the same rows without goes out, where they need none."""

from __future__ import annotations

from typing import Final

import numpy as np

_QUOTE, _NEW_LINE, _RETURN = b'"\n\r'
_ENDS: Final = (_NEW_LINE, _RETURN)


def without_quotes(block: bytes, delimiter: str) -> bytes | None:
    """The rows of whole lines without the quotes around fields.

    None where a quote stands elsewhere, or where a quoted field holds what it is quoted for: a
    delimiter, a line end or a quote. Some tools put all texts in quotes.
    """
    text = np.frombuffer(block, np.uint8)
    quotes = np.flatnonzero(text == _QUOTE)
    if len(quotes) % 2:
        return None
    opening, closing = quotes[::2], quotes[1::2]
    mark = ord(delimiter)
    padded = np.concatenate([[_NEW_LINE], text, [_NEW_LINE]]).astype(np.uint8)
    # In `padded` a byte stands one place further on: these are the bytes before and behind.
    before, behind = padded[opening], padded[closing + 2]
    if not np.isin(before, (mark, *_ENDS)).all() or not np.isin(behind, (mark, *_ENDS)).all():
        return None
    ends = np.flatnonzero((text == mark) | (text == _NEW_LINE) | (text == _RETURN))
    # Outside of quotes an even number of them stands before.
    if (np.searchsorted(quotes, ends) % 2).any():
        return None
    return block.replace(b'"', b"")
