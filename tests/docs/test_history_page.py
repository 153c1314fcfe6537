"""The page on many runs names every key of a row, and no other."""

from __future__ import annotations

import re

from tests.docs.pages import text_of
from valor_cli.results.history import HistoryRow


def test_the_keys_of_a_row() -> None:
    _, _, table = text_of("docs/history.md").partition("| key of a row | meaning |\n")
    first = [line.split(" | ")[0] for line in table.partition("\n\n")[0].splitlines()[1:]]
    named = [name for cell in first for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(HistoryRow.__struct_fields__)
