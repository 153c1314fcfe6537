"""CSV cells longer than Python's own reader takes, in every file that is CSV."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.data.png_files import label_map, write
from valor_cli.data.formats.manifest import read_manifest
from valor_cli.data.formats.records import read_raw_rows
from valor_cli.data.inputs.objects import Reading, read_objects
from valor_cli.data.inputs.sample_metadata import sample_metadata
from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.samples.sample_file import SampleReading
from valor_cli.data.shapes.scores.score_file import ScoreReading
from valor_cli.evaluators.embedding.metrics.bertscore import baselines_in

pytestmark = pytest.mark.usefixtures("in_a_folder")

LONG = "x " * 500_000
NOTE = f'"{LONG}"'


def _manifest(path: str) -> Any:
    write("a.png", label_map([[0]]))
    return read_manifest(path, "ground_truth")


READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "samples": ("id,response\n1,", lambda path: read_samples(path, SampleReading())),
    "scores": (
        "sample_id,label,prediction,score,note\n1,cat,cat,0.5,",
        lambda path: read_scores(path, "samples", ScoreReading()),
    ),
    "objects": (
        "image_id,label,x,y,width,height,score,note\na,cat,1,2,3,4,0.5,",
        lambda path: read_objects(path, "predictions", Reading()),
    ),
    "manifest": ("ground_truth,prediction,note\na.png,a.png,", _manifest),
    "metadata": ("id,note\n1,", lambda path: sample_metadata(path, SampleReading())),
    "rows to perturb": ("id,response\n1,", read_raw_rows),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("at", ["a cell", pytest.param("the header", marks=pytest.mark.slow)])
def test_a_cell_of_a_megabyte_is_read(name: str, at: str) -> None:
    head, read = READERS[name]
    text = f"{head}{NOTE}\n"
    if at == "the header":
        names, row = head.split("\n")
        text = f"{names},{NOTE}\n{row}a,b\n"
    Path("a.csv").write_text(text)
    before = csv.field_size_limit(131_072)  # as in a process that has read no CSV yet
    try:
        assert read("a.csv") is not None
    finally:
        csv.field_size_limit(before)


def test_a_file_that_is_no_file_of_baselines_is_told_of() -> None:
    Path("a.csv").write_text(f"LAYER,P,R,F,{LONG}\n")
    before = csv.field_size_limit(131_072)
    try:
        with pytest.raises(Exception, match="expected LAYER,P,R,F, found"):
            baselines_in("a.csv")
    finally:
        csv.field_size_limit(before)
