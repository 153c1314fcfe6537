"""Config of text generation: the `data:` block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from valor_cli.data.formats.tables import FormatName
from valor_cli.data.shapes.samples.schema import COLUMNS, SCHEMA
from valor_cli.errors import did_you_mean
from valor_cli.evaluators.inputs import ByModel, Strict, model_paths, one_standard_input
from valor_cli.paths import LocalPath


def _known(columns: dict[str, str]) -> dict[str, str]:
    """A map of columns that there are."""
    for name in columns:
        if name not in COLUMNS:
            near = did_you_mean(name, COLUMNS)
            raise ValueError(f"there is no column {name!r}{near}; there is {', '.join(COLUMNS)}")
    return columns


class TextInputs(Strict):
    """Files of a text generation run: samples with the responses of models."""

    samples: ByModel = Field(
        description="files of samples: JSONL, CSV, JSON or Parquet; .gz, .zst and globs work; one "
        "path (with a `model` column if it holds several models), or one per model, joined by "
        "sample_id"
    )
    format: FormatName | None = Field(
        None, description="format of the files; omitted: by extension and content"
    )
    columns: Annotated[dict[str, str], AfterValidator(_known)] = Field(
        {},
        description="standard name of a column to the name that the file has; in JSON and Parquet "
        "also a path into objects: vars.question",
        json_schema_extra=SCHEMA.mapping(),
    )
    artifacts: LocalPath | None = Field(
        None,
        description="folder that the paths under `artifacts` start from; omitted: that of the file",
    )
    on_invalid: Literal["error", "skip"] = Field(
        "error", description="what to do with invalid rows: stop, or leave them out and count them"
    )

    @model_validator(mode="after")
    def _one_standard_input(self) -> TextInputs:
        one_standard_input(self.models.values())
        return self

    @property
    def models(self) -> Mapping[str, str]:
        """Path of each model's samples; a single path is named after its file."""
        return model_paths(self.samples)
