"""Config of semantic segmentation: the `data:` block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from annotated_types import Ge, MinLen
from pydantic import Field, model_validator

from valor_cli.data.formats.manifest import MANIFEST, Column
from valor_cli.data.inputs.label_maps import Format, format_of
from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.data.source.files import STDIN
from valor_cli.evaluators.inputs import (
    ByModel,
    SideFormats,
    Strict,
    format_given,
    model_paths,
)
from valor_cli.paths import InputPath

Value = Annotated[int, Ge(0)]
Name = Annotated[str, MinLen(1)]


class Formats(SideFormats[Format]):
    """Formats of ground truth and predictions."""


class SegmentationInputs(Strict):
    """Files of a segmentation run: true label maps, and those of one or more models."""

    ground_truth: InputPath = Field(
        description="true label maps: a folder of PNGs, a folder of masks for each label "
        "(format: masks), the folder of Cityscapes' cities (format: cityscapes, or "
        "cityscapes_train_ids), a manifest (.jsonl, .csv, .tsv with the "
        "columns ground_truth, prediction, sample_id), or COCO panoptic JSON beside its PNGs"
    )
    predictions: ByModel | None = Field(
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
        {},
        description="standard name of a manifest's column to the name that the file has",
        json_schema_extra=MANIFEST.mapping(),
    )
    on_invalid: Literal["error", "skip"] = Field(
        "error",
        description="what to do with samples of which a file is missing, damaged or of another "
        "size: stop, or leave them out and count them; a pixel value without a label always stops",
    )

    @model_validator(mode="after")
    def _predictions_somewhere(self) -> SegmentationInputs:
        """A run has predictions, and all of its inputs have a name."""
        if STDIN in (self.ground_truth, *self.models.values()):
            raise ValueError("label maps cannot come from standard input (-); name files")
        form = self.format_of("ground_truth", self.ground_truth)
        if self.predictions is None and form != "manifest":
            raise ValueError("predictions are missing; only a manifest names both sides")
        return self

    @property
    def models(self) -> Mapping[str, str]:
        """Path of each model's predictions; a single path is named after its file or folder."""
        if self.predictions is None:
            return {"model": self.ground_truth}
        return model_paths(self.predictions)

    @property
    def ignored(self) -> frozenset[int]:
        """The values of `ignore_index`."""
        given = self.ignore_index
        return frozenset(() if given is None else (given,) if isinstance(given, int) else given)

    def format_of(self, role: Role, path: str) -> Format:
        """The format given in the config, otherwise that of the input's extension."""
        return format_given(self.format, role) or format_of(path)
