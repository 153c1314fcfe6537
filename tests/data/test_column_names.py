"""CSV cells longer than Python's own reader takes: one reader is behind every file that is CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.shapes.samples.sample_file import SampleReading
from valor_cli.evaluators.embedding.metrics.bertscore import baselines_in

pytestmark = pytest.mark.usefixtures("in_a_folder", "limited")

LONG = "x " * 500_000


@pytest.fixture
def limited() -> Iterator[None]:
    """As in a process that has read no CSV yet."""
    before = csv.field_size_limit(131_072)
    yield
    csv.field_size_limit(before)


@pytest.mark.parametrize(
    "text",
    [f'id,response\n1,"{LONG}"\n', f'id,response,"{LONG}"\n1,yes,"a,b"\n'],
    ids=["a cell", "the header"],
)
def test_a_cell_of_a_megabyte_is_read(text: str) -> None:
    Path("a.csv").write_text(text)
    (row,) = read_samples("a.csv", SampleReading()).rows
    assert row.of("response") in (LONG, "yes")


def test_a_file_that_is_no_file_of_baselines_is_told_of() -> None:
    Path("a.csv").write_text(f"LAYER,P,R,F,{LONG}\n")
    with pytest.raises(Exception, match="expected LAYER,P,R,F, found"):
        baselines_in("a.csv")
