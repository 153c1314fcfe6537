"""Config of detection: the `data:` block and the task's own keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, model_validator

from valor_cli.data.inputs.objects import FormatName
from valor_cli.data.shapes.objects.columns import SCHEMA
from valor_cli.data.shapes.objects.object_file import Role, SplitName
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.evaluators.inputs import (
    ByModel,
    SideFormats,
    Strict,
    format_given,
    model_paths,
    one_standard_input,
)
from valor_cli.paths import InputPath


class Formats(SideFormats[FormatName]):
    """Formats of ground truth and predictions."""


class DetectionInputs(Strict):
    """Files of a detection run: ground truth, and the detections of one or more models."""

    ground_truth: InputPath = Field(
        description="ground truth: COCO, COCO panoptic, JSONL, CSV, a YOLO folder or data.yaml, "
        "Pascal VOC or CVAT XML, Label Studio JSON, or a folder of LabelMe, KITTI or DOTA; .gz, "
        ".zst and globs work"
    )
    predictions: ByModel = Field(
        description="detections, in any of these formats, or a COCO results list: one path, or "
        "one per model"
    )
    images: InputPath | None = Field(
        None, description="folder of the images: pictures in the report, sizes for YOLO"
    )
    format: FormatName | Formats | None = Field(
        None, description="format of the files, or of each side; omitted: by extension and content"
    )
    names: tuple[str, ...] | None = Field(
        None, min_length=1, description="names of YOLO classes; omitted: classes.txt or data.yaml"
    )
    split: SplitName | None = Field(
        None,
        description="split of a YOLO data set (data.yaml); omitted: the first of val, test, train",
    )
    columns: dict[str, str] = Field(
        {},
        description="standard name of a column to the name that the file has, where a row is one "
        "object",
        json_schema_extra=SCHEMA.mapping(),
    )
    on_invalid: Literal["error", "skip"] = Field(
        "error", description="what to do with invalid rows: stop, or leave them out and count them"
    )

    @model_validator(mode="after")
    def _one_standard_input(self) -> DetectionInputs:
        one_standard_input([self.ground_truth, *self.models.values()])
        return self

    @property
    def models(self) -> Mapping[str, str]:
        """Path of each model's predictions; a single path is named after its file."""
        return model_paths(self.predictions)

    def format_of(self, role: Role) -> FormatName | None:
        """The format given in the config for one side, if any."""
        return format_given(self.format, role)

    def reading(
        self, *, shapes: bool, metadata: tuple[str, ...], fields: frozenset[str]
    ) -> Reading:
        """How to read all files."""
        return Reading(
            wanted="shape" if shapes else "box",
            metadata=metadata,
            fields=fields,
            invalid=self.on_invalid,
            names=self.names or (),
            images=self.images,
            split=self.split,
            columns=self.columns,
        )


class DetectionOptions(Strict):
    """How objects are compared; changes every value of a run."""

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
    difficult: Literal["ignore", "count"] = Field(
        "ignore",
        description="ground truth that PASCAL VOC's XML marks difficult: neither found nor missed, "
        "as in its devkit, or like any other",
    )
