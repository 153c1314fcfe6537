"""Config of text generation: the `data:` block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, model_validator

from valor_cli.data.formats.tables import FormatName
from valor_cli.data.shapes.samples.schema import COLUMNS, SCHEMA
from valor_cli.errors import did_you_mean
from valor_cli.evaluators.inputs import ByModel, Strict, model_paths, one_standard_input
from valor_cli.paths import InputPath, LocalPath


def _known(columns: dict[str, str]) -> dict[str, str]:
    """A map of columns that there are."""
    for name in columns:
        if name not in COLUMNS:
            near = did_you_mean(name, COLUMNS)
            raise ValueError(f"there is no column {name!r}{near}; there is {', '.join(COLUMNS)}")
    return columns


TRUTH: Final = "ground truth"
"""What its file is called where others are called by their models."""


class TextInputs(Strict):
    """Files of a text generation run: samples with the responses of models, in one file or two."""

    samples: ByModel | None = Field(
        None,
        description="files of samples: JSONL, CSV, JSON or Parquet; .gz, .zst and globs work; one "
        "path (with a `model` column if it holds several models), or one per model, joined by "
        "sample_id",
    )
    ground_truth: InputPath | None = Field(
        None,
        description="file of what is asked and right (questions, references, contexts), where the "
        "responses are in others; also the JSON of SQuAD",
    )
    predictions: ByModel | None = Field(
        None,
        description="files of responses, joined with ground_truth by sample_id: one path, or one "
        "per model; also JSON of ids and responses, {id: response}",
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
    def _one_way(self) -> TextInputs:
        """Check that both sides are in one file or in two."""
        sides = {"ground_truth": self.ground_truth, "predictions": self.predictions}
        given = [name for name, value in sides.items() if value is not None]
        if self.samples is not None and given:
            raise ValueError(f"samples holds both sides: leave out {' and '.join(given)}")
        if self.samples is None and len(given) < len(sides):
            missing = " and no ".join(name for name in sides if name not in given)
            raise ValueError(
                f"no {missing}: give samples, or ground_truth and predictions where the responses "
                "are in a file of their own"
            )
        if TRUTH in self.models and self.ground_truth is not None:
            raise ValueError(f"no model can be called {TRUTH!r}")
        return self

    @model_validator(mode="after")
    def _one_standard_input(self) -> TextInputs:
        one_standard_input(self.files.values())
        return self

    @property
    def responses(self) -> str | Mapping[str, str]:
        """Where the responses are: a path, or one per model."""
        return self.samples or self.predictions or {}

    @property
    def models(self) -> Mapping[str, str]:
        """Path of each model's samples; a single path is named after its file."""
        return model_paths(self.responses)

    @property
    def files(self) -> Mapping[str, str]:
        """Path of each input: the ground truth, if it has its own, and those of models."""
        truth = {} if self.ground_truth is None else {TRUTH: self.ground_truth}
        return {**truth, **self.models}
