"""What a judge says in its own words in; the same, short and on one line, out."""

from __future__ import annotations

from valor_cli.errors import printable

LONGEST = 300
"""Characters of a reason that reports show beside a value; verdicts have all of it."""


def in_short(text: str) -> str:
    """The words on one line, cut at a bounded length."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"
