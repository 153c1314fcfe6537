"""Reasons: cut, and on one line."""

from __future__ import annotations

from valor_cli.evaluators.judge.reasons import LONGEST, in_short


def test_reasons_are_short_and_on_one_line() -> None:
    assert in_short("  It \n\n is\tso. ") == "It is so."
    assert in_short("x" * LONGEST) == "x" * LONGEST
    assert in_short("x" * (LONGEST + 1)) == "x" * (LONGEST - 1) + "…"
    # Of 299 characters the last is a space, which goes too.
    assert in_short("x" * 298 + " yz") == "x" * 298 + "…"
    assert in_short("a\x1b[31mred\u202eder") == "a\\x1b[31mred\\u202eder"
    assert in_short(" \n") == ""
