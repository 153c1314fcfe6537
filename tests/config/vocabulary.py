"""A vocabulary of two tasks; text in, the config that it makes with them, or its problems, out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from valor_cli.config import RunConfig, load_config
from valor_cli.errors import ConfigError
from valor_cli.metric import Measure, Metric


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class Columns(Strict):
    label: str = "label"


class Boxes(Strict):
    ground_truth: str
    predictions: str | dict[str, str]
    columns: Columns = Columns()

    @field_validator("ground_truth")
    @classmethod
    def _resolved(cls, value: str, info: ValidationInfo) -> str:
        if value.endswith("/"):
            raise ValueError(f"expected a file, found the folder {value}")
        return value if value == "-" else str((info.context or {})["folder"] / value)


class Samples(Strict):
    samples: str | None = None
    parts: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one(self) -> Samples:
        if self.samples is None and not self.parts:
            raise ValueError("give samples or parts")
        return self


class NoParameters(Strict):
    pass


class Average(Strict):
    iou_thresholds: tuple[float, ...] = Field(default=(0.5, 0.75), min_length=1)
    max_detections: int = Field(default=100, ge=1)
    zero: Literal["skip"] | Annotated[float, Field(ge=0, le=1)] = "skip"


class BoxOptions(Strict):
    matching: Literal["coco", "valor"] = Field(default="coco", description="The rule.")


class Matching(Strict):
    threshold: float


class Words:
    """A vocabulary of two tasks."""

    _metrics: Mapping[str, Mapping[str, type[BaseModel]]] = {
        "boxes": {"coco": NoParameters, "average_precision": Average},
        "text": {"matching": Matching, **{f"m{index}": NoParameters for index in range(20)}},
    }

    def task_names(self) -> Sequence[str]:
        return tuple(self._metrics)

    def inputs(self, task: str) -> type[BaseModel]:
        return Boxes if task == "boxes" else Samples

    def options(self, task: str) -> type[BaseModel]:
        return BoxOptions if task == "boxes" else NoParameters

    def metric_names(self, task: str) -> Mapping[str, str]:
        aliases = {"ap": "average_precision"} if task == "boxes" else {}
        return {name: name for name in self._metrics[task]} | aliases

    def measure(self, task: str, name: str, given: Collection[str] = ()) -> Measure | None:
        if name == "ap@0.75":
            ious = {"iou_thresholds": [0.75]}
            return Measure("average_precision", None, ious, {"iou_threshold": 0.75})
        if name == "bare" and "iou_thresholds" not in given:
            return Measure("coco", note="bare is read as coco")
        names = self.metric_names(task)
        return Measure(names[name]) if name in names else None

    def parameters(self, task: str, metric: str) -> type[BaseModel]:
        return self._metrics[task][metric]

    def outputs(self, task: str, metric: str) -> Sequence[str]:
        return ("value", "recall") if metric == "average_precision" else ("value",)

    def own_metric(
        self, task: str, written: str, folder: Path, name: str | None = None
    ) -> Metric[Any]:
        raise NotImplementedError

    def composite_metric(
        self, task: str, name: str, asked: Mapping[str, Any], own: Mapping[str, Metric[Any]]
    ) -> Metric[Any]:
        raise NotImplementedError

    def named_metric(self, task: str, metric: str, name: str) -> Metric[Any]:
        raise NotImplementedError

    def parameters_of(self, found: Metric[Any]) -> type[BaseModel]:
        raise NotImplementedError

    def slice_values(self, task: str) -> Mapping[str, Sequence[str]]:
        return {"area": ("all", "small", "large")} if task == "boxes" else {}


START = "task: boxes\ndata: {ground_truth: gt.json, predictions: p.json}\n"


def load(text: str, *overrides: str) -> RunConfig:
    Path("run.yaml").write_text(text, encoding="utf-8")
    return load_config("run.yaml", Words(), overrides)


def problems(text: str, *overrides: str) -> Sequence[str]:
    with pytest.raises(ConfigError) as caught:
        load(text, *overrides)
    return [str(problem) for problem in caught.value.problems]
