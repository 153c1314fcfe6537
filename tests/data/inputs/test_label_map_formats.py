"""Formats of label maps by the names of their inputs."""

from __future__ import annotations

import pytest

from valor_cli.data.inputs.label_map_formats import format_of

FORMATS = {
    "manifest": ("a.jsonl", "a.CSV", "x/a.tsv", "a.ndjson", "a.csv.zst", "a.csv.GZ"),
    "coco_panoptic": ("a.json", "a.JSON", "a.json.gz", "a.json.GZ"),
    "png": ("maps", "maps.v2", "a.png", "csv", "json"),
}


@pytest.mark.parametrize("form", FORMATS)
def test_formats_by_extension(form: str) -> None:
    assert {path: format_of(path) for path in FORMATS[form]} == dict.fromkeys(FORMATS[form], form)
