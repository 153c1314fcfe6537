"""Words for paths and a user's text."""

from __future__ import annotations

from valor_cli.config.problems import dotted, quoted


def test_user_text_is_cut_and_escaped() -> None:
    assert quoted("a\nb\x1b[31m\u202e") == "'a\\nb\\x1b[31m\\u202e'"
    assert quoted("x" * 100) == f"'{'x' * 59}…'"
    assert dotted(("a", 1, "b\n")) == "a.1.b\\n"
