"""Which metadata a file has, in every format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from valor_cli.data.inputs.metadata_names import LONGEST, MOST_TEXTS, MetadataNames, MetadataRows
from valor_cli.data.value_rows import batch_of


def names(*records: Mapping[str, Any], strict: bool = False) -> set[str]:
    found = MetadataNames()
    for record in records:
        line = np.arange(1)
        batch = batch_of([record], line, line, [])
        found.add(MetadataRows(batch, {"of"}, [record.get("of")], strict=strict))
    return set(found.found())


def test_single_values_alone_are_metadata() -> None:
    good = {"a": 1, "b": "x", "c": True, "d": 0.5, "e": None}
    assert names(good, {"e": 3}) == {"a", "b", "c", "d", "e"}
    assert names(good) == {"a", "b", "c", "d"}
    assert names({"a": [1]}, {"a": 1}) == set()
    assert names({"a": 1}, {"a": {}}) == set()
    assert names({"a": float("nan")}, {"b": "\ud800"}, {"c": "x" * (LONGEST + 1)}) == set()


def test_many_texts_are_no_kinds_but_many_numbers_are() -> None:
    many = [{"id": f"n{at}", "age": str(at), "mixed": at} for at in range(MOST_TEXTS + 1)]
    assert names(*many, {"mixed": "x"}) == {"age"}
    assert names(*many[:-1], {"mixed": "x"}) == {"id", "age"}


def test_what_differs_within_a_sample_is_left_out() -> None:
    rows = [{"of": 1, "a": "x", "b": None}, {"of": 1, "a": "y", "b": "z"}, {"of": 2, "a": "x"}]
    assert names(*rows) == {"b"}
    assert names(*rows, strict=True) == set()
