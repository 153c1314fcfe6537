"""Detect the format of a label map input by its extension."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from valor_cli.data.source.inputs import extension_of

Format: TypeAlias = Literal["png", "masks", "manifest", "coco_panoptic"]
Column: TypeAlias = Literal["ground_truth", "prediction", "sample_id"]
"""The columns of a manifest."""

NO_MASK: Final = 0
"""The value of a pixel that is in no mask of a label."""

MANIFESTS: Final = (".jsonl", ".ndjson", ".csv", ".tsv")
"""Extensions of manifests."""


def format_of(path: str) -> Format:
    """The format of an input's extension; without a known one, a folder of PNGs."""
    extension = extension_of(path)
    if extension in MANIFESTS:
        return "manifest"
    return "coco_panoptic" if extension == ".json" else "png"
