"""A text comes in; where its sentences are goes out."""

from __future__ import annotations

from collections.abc import Iterator

SPLITTER = "sentencex"
"""What splits texts, as results name it."""

PIECE = 5_000
"""Characters split at once, at most: the work grows as the square of unmatched quotation marks."""

_ENDS = ("\n\n", "\n", ". ", " ")


def split_sentences(text: str, language: str = "en") -> list[tuple[int, int]]:
    """The sentences of a text, as sentencex finds them, without the white space around them.

    Longer texts are cut into pieces of at most `PIECE` characters first: at the last blank line
    of the piece, else at its last line, sentence or word.

    Args:
        text: Any text.
        language: Its ISO 639 code; one that sentencex does not know is split as English.

    Returns:
        (start, end) of each, in order, none empty.
    """
    from sentencex import segment  # type: ignore[import-untyped]

    # A lone surrogate, which no UTF-8 has, would be refused.
    safe = text.encode("utf-8", "replace").decode()
    found: list[tuple[int, int]] = []
    for first, last in _pieces(safe):
        at = first
        for sentence in segment(language, safe[first:last]):
            kept = sentence.strip()
            if kept:
                start = safe.index(kept, at)
                at = start + len(kept)
                found.append((start, at))
    return found


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Where a text is cut so that no piece is longer than `PIECE`."""
    start = 0
    while len(text) - start > PIECE:
        stop = start + PIECE
        cuts = (text.rfind(end, start, stop) + len(end) for end in _ENDS if end in text[start:stop])
        cut = next(cuts, stop)
        yield start, cut
        start = cut
    yield start, len(text)
