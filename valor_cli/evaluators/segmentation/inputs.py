"""What a config says of semantic segmentation: the `data:` block."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge, MinLen
from pydantic import BaseModel, ConfigDict, Field, model_validator

from valor_cli.readers.files import STDIN
from valor_cli.readers.label_map_manifest import Column, is_manifest
from valor_cli.readers.objects import Role
from valor_cli.readers.paths import InputPath

Format = Literal["png", "manifest", "coco_panoptic"]
Value = Annotated[int, Ge(0)]
Name = Annotated[str, MinLen(1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Formats(_Strict):
    """Formats of the two sides."""

    ground_truth: Format | None = Field(None, description="format of the ground truth")
    predictions: Format | None = Field(None, description="format of the predictions")


class SegmentationInputs(_Strict):
    """Files of a segmentation run: true label maps, and those of one or more models."""

    ground_truth: InputPath = Field(
        description="true label maps: a folder of PNGs, a manifest (.jsonl, .csv, .tsv with the "
        "columns ground_truth, prediction, sample_id), or COCO panoptic JSON beside its PNGs"
    )
    predictions: InputPath | Annotated[dict[str, InputPath], MinLen(1)] | None = Field(
        None,
        description="predicted label maps, in any of these forms: one path, or one per model; "
        "omitted: the column prediction of the manifest",
    )
    labels: (
        InputPath | Annotated[tuple[Name, ...], MinLen(1)] | Annotated[dict[Value, Name], MinLen(1)]
    ) | None = Field(
        None,
        description="names by pixel value: a list, a map from value to name, or a file with "
        "either; omitted: the categories of COCO panoptic",
    )
    ignore_index: Value | Annotated[tuple[Value, ...], MinLen(1)] | None = Field(
        None, description="pixel value, or several, of ground truth that nobody is judged by"
    )
    background: Name | Value | None = Field(
        None, description="label, or pixel value, that gets no rows of its own"
    )
    reduce_labels: bool = Field(
        False,
        description="ground truth is one value higher than the predictions: 0 is ignored, 1 is "
        "the first label",
    )
    images: InputPath | None = Field(
        None, description="folder of the photos, shown under the errors in the report"
    )
    format: Format | Formats | None = Field(
        None, description="format of the inputs, or of each side; omitted: by extension"
    )
    columns: dict[Column, str] = Field(
        {}, description="standard name of a manifest's column to the name that the file has"
    )
    on_invalid: Literal["error", "skip"] = Field(
        "error",
        description="what to do with samples of which a file is missing or cannot be used: stop, "
        "or leave them out and count them",
    )

    @model_validator(mode="after")
    def _predictions_somewhere(self) -> SegmentationInputs:
        """A run has predictions, and all of its inputs have a name."""
        if STDIN in (self.ground_truth, *self.models.values()):
            raise ValueError("label maps cannot come from standard input (-); name files")
        if self.predictions is None and self.format_of("ground_truth") != "manifest":
            raise ValueError("predictions are missing; only a manifest names both sides")
        return self

    @property
    def models(self) -> Mapping[str, str]:
        """Path of each model's predictions; a lone path is named after its file or folder."""
        if self.predictions is None:
            return {"model": self.ground_truth}
        if isinstance(self.predictions, dict):
            return self.predictions
        name = Path(os.path.normpath(self.predictions)).name
        return {name.split(".")[0] or "model": self.predictions}

    @property
    def ignored(self) -> frozenset[int]:
        """The values of `ignore_index`."""
        given = self.ignore_index
        return frozenset(() if given is None else (given,) if isinstance(given, int) else given)

    def format_of(self, role: Role, path: str | None = None) -> Format:
        """The format that the config gives a side, else what the name of its input says."""
        given = self.format
        if isinstance(given, Formats):
            given = given.ground_truth if role == "ground_truth" else given.predictions
        if given is not None:
            return given
        name = path or self.ground_truth
        if is_manifest(name):
            return "manifest"
        return "coco_panoptic" if _is_json(name) else "png"


def _is_json(path: str) -> bool:
    return path.removesuffix(".gz").removesuffix(".zst").endswith(".json")
