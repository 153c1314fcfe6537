"""Text of CSV rows with quotes comes in; which separators divide fields goes out."""

from __future__ import annotations

from typing import Final

import numpy as np

from valor_cli.kernels.text_fields import FieldText, Ints

_QUOTE, _NEW_LINE, _RETURN = b'"\n\r'
_ENDS: Final = (_QUOTE, _NEW_LINE, _RETURN)


def outside_quotes(text: FieldText, separators: Ints, delimiter: int) -> Ints | None:
    """The separators that do not stand in a quoted field. Some tools put all texts in quotes.

    None where a quote stands in a field without quotes around it, or where a quoted field holds a
    line end or goes on behind the text.

    Args:
        text: Whole lines, the last with its line end.
        separators: Where delimiters and line ends stand.
        delimiter: The byte that divides fields.
    """
    quotes = text.positions(_QUOTE)
    if len(quotes) % 2:
        return None
    # Of two quotes for one in a quoted field, the first closes and the second opens it again.
    before = text.bytes.take(quotes[::2] - 1, mode="clip")
    behind = text.bytes.take(quotes[1::2] + 1, mode="clip")
    opens = np.isin(before, (delimiter, *_ENDS)) | (quotes[::2] == 0)
    if not opens.all() or not np.isin(behind, (delimiter, *_ENDS)).all():
        return None
    inside = np.searchsorted(quotes, separators) % 2 == 1
    held = separators[inside]
    return None if (text.bytes.take(held) == _NEW_LINE).any() else separators[~inside]
