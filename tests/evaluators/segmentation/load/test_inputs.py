"""The `data:` block of semantic segmentation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from valor_cli.evaluators.segmentation.load.inputs import SegmentationInputs

READERS = ("panoptic", "panoptic.listing", "panoptic.label_maps", "class_names")


def block(**data: Any) -> SegmentationInputs:
    """As a config gives it: JSON, where the keys of a map are text."""
    found = {"ground_truth": "gt", "predictions": "pred", "labels": ["a"]} | data
    context = {"folder": Path("/runs")}
    return SegmentationInputs.model_validate_json(json.dumps(found), context=context)


def error(**data: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        block(**data)
    return str(caught.value)


def test_paths_start_from_the_folder_of_the_config() -> None:
    found = block(labels="classes.json", images="../photos", predictions={"one": "p/1"})
    assert (found.ground_truth, found.models) == ("/runs/gt", {"one": "/runs/p/1"})
    assert (found.labels, found.images) == ("/runs/classes.json", "/photos")


def test_labels() -> None:
    assert block(labels=["a", "b"]).labels == ("a", "b")
    assert block(labels={"7": "sky", "0": "road"}).labels == {7: "sky", 0: "road"}
    assert block(labels=None).labels is None
    for wrong in ([], {}, [""], {"-1": "a"}, {"a": "b"}, [1]):
        error(labels=wrong)


def test_ignored_values() -> None:
    assert block().ignored == frozenset()
    assert block(ignore_index=0).ignored == {0}
    assert block(ignore_index=[255, 3]).ignored == {255, 3}
    for wrong in (-1, [], ["255"], 2.5, True):
        error(ignore_index=wrong)


def test_a_lone_path_names_the_model() -> None:
    for path, name in (("p/unet", "unet"), ("p/unet/", "unet"), ("m.v2.jsonl.gz", "m")):
        assert [*block(predictions=path).models] == [name]


def test_predictions_of_a_manifest() -> None:
    found = block(ground_truth="pairs.csv", predictions=None)
    assert found.models == {"model": "/runs/pairs.csv"}
    assert block(ground_truth="x", predictions=None, format="manifest").models == {
        "model": "/runs/x"
    }
    assert "only a manifest names both sides" in error(predictions=None)
    assert "only a manifest" in error(ground_truth="gt.json", predictions=None)


def test_formats_by_extension_or_as_given() -> None:
    found = block()
    names = {"x/maps": "png", "a.csv": "manifest", "a.jsonl.zst": "manifest"}
    names |= {"a.json": "coco_panoptic", "a.json.GZ": "coco_panoptic"}
    assert {name: found.format_of("predictions", name) for name in names} == names
    sides = block(format={"predictions": "manifest"})
    assert sides.format_of("predictions", "p.txt") == "manifest"
    assert sides.format_of("ground_truth", "gt") == "png"
    assert "format" in error(format="yolo")


def test_standard_input_is_no_folder() -> None:
    assert "standard input" in error(ground_truth="-")
    assert "standard input" in error(predictions={"one": "-"})


def test_unknown_keys() -> None:
    assert "ignore" in error(ignore=255)


def test_readers_are_imported_on_use() -> None:
    """`valor metrics` lists the metrics of all tasks, and reads nothing."""
    script = "import sys, valor_cli.evaluators.segmentation; print(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    readers = {f"valor_cli.data.formats.{name}" for name in READERS}
    assert not readers.intersection(done.stdout.split())
