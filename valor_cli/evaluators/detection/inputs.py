"""What a config says of detection: the `data:` block, and the keys at the top."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import MinLen
from pydantic import BaseModel, ConfigDict, Field, model_validator

from valor_cli.readers.files import STDIN
from valor_cli.readers.formats import Reading
from valor_cli.readers.objects import Role
from valor_cli.readers.paths import InputPath

Format = Literal["coco", "coco_panoptic", "jsonl", "csv", "yolo", "voc"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Formats(_Strict):
    """Formats of the two sides."""

    ground_truth: Format | None = Field(None, description="format of the ground truth")
    predictions: Format | None = Field(None, description="format of the predictions")


class DetectionInputs(_Strict):
    """Files of a detection run: ground truth, and the detections of one or more models."""

    ground_truth: InputPath = Field(
        description="ground truth: COCO, COCO panoptic, JSONL, CSV, a YOLO folder or Pascal VOC "
        "XML; .gz, .zst and globs work"
    )
    predictions: InputPath | Annotated[dict[str, InputPath], MinLen(1)] = Field(
        description="detections, in any of these formats, or a COCO results list: one path, or "
        "one per model"
    )
    images: InputPath | None = Field(
        None, description="folder of the images: pictures in the report, sizes for YOLO"
    )
    format: Format | Formats | None = Field(
        None, description="format of the files, or of each side; omitted: by extension and content"
    )
    names: tuple[str, ...] | None = Field(
        None, min_length=1, description="names of YOLO classes; omitted: classes.txt or data.yaml"
    )
    columns: dict[str, str] = Field(
        {}, description="standard name of a CSV column to the name that the file has"
    )
    on_invalid: Literal["error", "skip"] = Field(
        "error", description="what to do with invalid rows: stop, or leave them out and count them"
    )

    @model_validator(mode="after")
    def _one_standard_input(self) -> DetectionInputs:
        """Standard input holds one file, and is read once."""
        inputs = [self.ground_truth, *self.models.values()]
        if inputs.count(STDIN) > 1:
            raise ValueError("standard input (-) can be one input only; name files for the others")
        return self

    @property
    def models(self) -> Mapping[str, str]:
        """Path of each model's predictions; a lone path is named after its file."""
        if isinstance(self.predictions, dict):
            return self.predictions
        stem = "stdin" if self.predictions == STDIN else Path(self.predictions).name.split(".")[0]
        return {stem or "model": self.predictions}

    def format_of(self, role: Role) -> Format | None:
        """The format that the config gives a side, if it does."""
        if not isinstance(self.format, Formats):
            return self.format
        return self.format.ground_truth if role == "ground_truth" else self.format.predictions

    def reading(
        self, *, shapes: bool, metadata: tuple[str, ...], fields: frozenset[str]
    ) -> Reading:
        """How to read the files, all alike."""
        return Reading(
            wanted="shape" if shapes else "box",
            metadata=metadata,
            fields=fields,
            invalid=self.on_invalid,
            names=self.names or (),
            images=self.images,
            columns=self.columns,
        )


class DetectionOptions(_Strict):
    """How objects are compared: what changes every number of a run."""

    matching: Literal["coco", "valor"] = Field(
        "coco",
        description="coco: each detection takes the best ground truth still free; valor: it keeps "
        "to its favourite, free or not, as PASCAL VOC's tools do",
    )
    geometry: Literal["box", "rotated_box", "polygon", "mask"] | None = Field(
        None,
        description="what objects are compared as; omitted: the least detailed that occurs",
    )
    inclusive_pixels: bool = Field(
        False,
        description="box edges are pixels that belong to the box, as in PASCAL VOC: a box is one "
        "pixel wider and higher than the difference of its edges",
    )
