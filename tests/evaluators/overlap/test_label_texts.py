"""Labels read from texts, and their names."""

from __future__ import annotations

import pytest

from valor_cli.evaluators.overlap.metrics.llm_classification import (
    LONGEST_NAME,
    label_name,
    label_reader,
)


@pytest.mark.parametrize(
    ("case_sensitive", "names", "label_map", "text", "label"),
    [
        (True, (), {}, " Yes\n", "Yes"),
        (False, (), {}, " Yes\n", "yes"),
        (False, (), {}, "STRASSE", "strasse"),
        (False, ("Yes", "YES"), {}, "yES", "Yes"),
        (True, ("Yes",), {}, "yes", "yes"),
        (True, (), {"y": "yes"}, "y ", "yes"),
        (True, (), {"y": "yes"}, "Y", "Y"),
        (False, ("Yes",), {"y": "YES"}, "Y", "Yes"),
        (False, (), {"Y": "upper", "y": "lower"}, "y", "lower"),  # its own spelling first
        (False, (), {"Yo": "first", "YO": "second"}, "yo", "first"),
        (True, (), {"n/a": ""}, "n/a", ""),
        (True, (), {}, "", ""),
    ],
)
def test_read(
    case_sensitive: bool, names: tuple[str, ...], label_map: dict[str, str], text: str, label: str
) -> None:
    read = label_reader(case_sensitive=case_sensitive, names=names, label_map=label_map)
    assert read(text) == label
    assert read(label) == label


def test_names() -> None:
    assert label_name("x" * LONGEST_NAME) == "x" * LONGEST_NAME
    essays = ["x" * 5_000, "x" * 4_999 + "y", "\ud800" * 5_000]
    named = [label_name(essay) for essay in essays]
    assert named[0].startswith("x" * LONGEST_NAME + "… (5,000 characters, ")
    assert len(set(named)) == 3
    assert max(map(len, named)) < 150
