"""Config of classification: the `data:` block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

from annotated_types import MinLen
from pydantic import AfterValidator, Field, model_validator

from valor_cli.data.formats.tables import FormatName
from valor_cli.data.shapes.scores.extract import Extract
from valor_cli.data.shapes.scores.schema import SCHEMA
from valor_cli.data.shapes.scores.score_file import Side
from valor_cli.evaluators.inputs import (
    ByModel,
    SideFormats,
    Strict,
    format_given,
    model_paths,
    one_standard_input,
    searchable,
)
from valor_cli.metric import written
from valor_cli.paths import InputPath


class Formats(SideFormats[FormatName]):
    """Formats of ground truth and predictions."""


def _distinct(names: tuple[str | int | bool, ...]) -> tuple[str | int | bool, ...]:
    texts = [written(name) for name in names]
    if not all(text.strip() for text in texts):
        raise ValueError("a class needs a name, found an empty text")
    twice = [text for text, count in Counter(texts).items() if count > 1]
    if twice:
        raise ValueError(f"the class {twice[0]!r} is listed twice")
    return names


Classes: TypeAlias = Annotated[tuple[str | int | bool, ...], MinLen(1), AfterValidator(_distinct)]


def _one_character(text: str) -> str:
    if len(text) != 1 or not text.isascii() or not text.isprintable():
        raise ValueError(f"expected one character of ASCII, as |, found {text!r}")
    return text


class Extraction(Strict):
    """Where the label is in a predicted text."""

    pattern: Annotated[str, MinLen(1), AfterValidator(searchable)] | None = Field(
        None, description="regular expression: its first group, or all of it without groups"
    )
    json_path: Annotated[str, MinLen(1)] | None = Field(
        None,
        alias="json",
        description="path of the value in the JSON that the text holds, as answer.label",
    )
    match: Literal["first", "last"] = Field("first", description="which of several matches counts")

    @model_validator(mode="after")
    def _one_of(self) -> Extraction:
        if (self.pattern is None) == (self.json_path is None):
            raise ValueError("give either pattern or json")
        return self


class LabelCells(Strict):
    """Cells that hold several labels."""

    separator: Annotated[str, AfterValidator(_one_character)] = Field(
        description="the character between the labels of a cell, as |"
    )


class ClassificationInputs(Strict):
    """Files of a classification run: ground truth and predictions, separate or in one file."""

    ground_truth: InputPath | None = Field(
        None, description="true labels: CSV, JSONL, JSON or Parquet; .gz, .zst and globs work"
    )
    predictions: ByModel | None = Field(
        None,
        description="scores of labels, or bare labels, joined by sample_id: one path, or one per "
        "model; beside ground_truth",
    )
    samples: ByModel | None = Field(
        None,
        description="files that hold both sides, in place of ground_truth and predictions: one "
        "path, or one per model",
    )
    images: InputPath | None = Field(
        None,
        description="folder of the images, named after the sample ids: pictures in the report",
    )
    format: FormatName | Formats | None = Field(
        None, description="format of the files, or of each side; omitted: by extension and content"
    )
    classes: Classes | InputPath | None = Field(
        None,
        description="the labels in the order that results have: a list, or a file with a name a "
        "line, or a JSON or YAML list; also names the scores in a list of bare numbers",
    )
    multi_label: bool | LabelCells | None = Field(
        None,
        description="whether samples have several labels each, or none: true, then CSV cells hold "
        "lists of JSON, or each label has a column of 0 and 1; or {separator: character} of cells "
        "with several; omitted: true where the first samples of JSONL, JSON or Parquet have a list "
        "of labels",
    )
    columns: dict[str, str] = Field(
        {},
        description="standard name of a column to the name that the file has, or to a path into "
        "objects and lists: output.label, choices[0].text",
        json_schema_extra=SCHEMA.mapping(),
    )
    extract: Literal["first_label", "last_label"] | Extraction | None = Field(
        None,
        description="how to find the label in predicted texts, as answers of a language model: "
        "{pattern: regular expression}, {json: path}, or first_label or last_label, the one of "
        "`classes` that the text names first or last; a text without one is no prediction",
    )
    on_invalid: Literal["error", "skip"] = Field(
        "error", description="what to do with invalid rows: stop, or leave them out and count them"
    )

    @model_validator(mode="after")
    def _one_way(self) -> ClassificationInputs:
        """Check that the two sides are in two files or in one."""
        sides = {"ground_truth": self.ground_truth, "predictions": self.predictions}
        missing = [name for name, value in sides.items() if value is None]
        if self.samples is None:
            if missing:
                raise ValueError(
                    f"no {' and no '.join(missing)}: give ground_truth and predictions, or samples "
                    "where one file holds both"
                )
            return self
        given = [name for name in sides if name not in missing]
        if given:
            raise ValueError(f"samples holds both sides: leave out {' and '.join(given)}")
        if isinstance(self.format, Formats):
            raise ValueError("samples holds both sides, so format is one name")
        return self

    @model_validator(mode="after")
    def _one_standard_input(self) -> ClassificationInputs:
        one_standard_input([self.ground_truth, *self.models.values(), self.classes])
        return self

    @model_validator(mode="after")
    def _known_labels(self) -> ClassificationInputs:
        if isinstance(self.extract, str) and self.classes is None:
            raise ValueError(f"extract: {self.extract} needs the labels: list them in `classes`")
        return self

    @property
    def models(self) -> Mapping[str, str]:
        """Path of each model's predictions or samples; a single path is named after its file."""
        given = self.predictions if self.samples is None else self.samples
        return {} if given is None else model_paths(given)

    @property
    def separator(self) -> str:
        """What is between the labels of a cell; empty: cells hold lists of JSON."""
        return self.multi_label.separator if isinstance(self.multi_label, LabelCells) else ""

    def extraction(self, classes: Sequence[str]) -> Extract | None:
        """How labels are found in predicted texts; None where these are labels.

        Args:
            classes: The labels listed in the config or in a file.
        """
        if self.extract is None:
            return None
        if isinstance(self.extract, str):
            match: Literal["first", "last"] = "first" if self.extract == "first_label" else "last"
            return Extract(classes=classes, match=match)
        own = self.extract
        return Extract(own.pattern or "", own.json_path or "", match=own.match)

    def format_of(self, side: Side) -> FormatName | None:
        """The format given in the config for one side, if any."""
        return format_given(self.format, side)
