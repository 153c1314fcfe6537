"""The `data:` block of detection."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import MinLen
from pydantic import BaseModel, ConfigDict, Field

from valor_cli.readers.paths import InputPath


class DetectionInputs(BaseModel):
    """Files of a detection run: COCO ground truth, and COCO results of one or more models."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    ground_truth: InputPath = Field(
        description="COCO ground truth: an object with images, annotations and categories"
    )
    predictions: InputPath | Annotated[dict[str, InputPath], MinLen(1)] = Field(
        description="COCO results, or a COCO dictionary with scores: one path, or one per model"
    )
    format: Literal["coco"] = Field("coco", description="format of the files")
    on_invalid: Literal["error", "skip"] = Field(
        "error", description="what to do with invalid rows: stop, or leave them out and count them"
    )

    @property
    def models(self) -> Mapping[str, str]:
        """Path of each model's predictions; a lone path is named after its file."""
        if isinstance(self.predictions, dict):
            return self.predictions
        stem = "stdin" if self.predictions == "-" else Path(self.predictions).name.split(".")[0]
        return {stem or "model": self.predictions}
