"""Config of text generation: the `data:` block, and the models and prompts beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, model_validator

from valor_cli.data.formats.tables import FormatName
from valor_cli.data.shapes.samples.schema import COLUMNS, SCHEMA
from valor_cli.errors import did_you_mean
from valor_cli.evaluators.inputs import ByModel, Strict, model_paths, one_standard_input
from valor_cli.models.settings import (
    Combine,
    Device,
    EmbedderSettings,
    JudgeSettings,
    LanguageModelSettings,
)
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


def _several(judges: tuple[JudgeSettings, ...]) -> tuple[JudgeSettings, ...]:
    """Check that results can distinguish the judges.

    Raises:
        ValueError: There are none, or two of one name.
    """
    if not judges:
        raise ValueError("name one judge at least")
    names = [one.called for one in judges]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two judges are called {name!r}; give each a `name:` of its own")
    records = [one.record for one in judges if one.record is not None]
    if len(set(records)) < len(records):
        raise ValueError("two judges `record:` to one file; give each its own")
    return judges


class TextOptions(Strict):
    """The models that a text generation run uses."""

    judge: JudgeSettings | None = Field(
        None, description="the language model that judge metrics ask"
    )
    judges: Annotated[tuple[JudgeSettings, ...], AfterValidator(_several)] | None = Field(
        None, description="several of them, in place of `judge`; their agreement is reported"
    )
    combine: Combine | None = Field(
        None,
        description="how several judges, or repeats, become one value; omitted: pass or fail by "
        "majority, other values by their mean",
    )
    embedder: EmbedderSettings | None = Field(
        None,
        description="the model that makes vectors of texts, for metrics of similarity; omitted: "
        "minilm-int8, which needs no network",
    )
    language_model: LanguageModelSettings | None = Field(
        None, description="the model that says how likely texts are"
    )
    device: Device = Field(
        "auto", description="where models of this machine compute; auto: the accelerator, if any"
    )
    prompts: dict[str, LocalPath] = Field(
        {}, description="own prompts: name of a prompt to a YAML file (valor metrics NAME --prompt)"
    )

    @model_validator(mode="after")
    def _one_way(self) -> TextOptions:
        if self.judge is not None and self.judges is not None:
            raise ValueError("`judge` and `judges` exclude each other")
        return self

    @property
    def panel(self) -> tuple[JudgeSettings, ...]:
        """All judges; empty if none."""
        return self.judges or (() if self.judge is None else (self.judge,))
