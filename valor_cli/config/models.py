"""Records of a checked config."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SerializeAsAny,
    ValidationInfo,
    field_validator,
    model_validator,
)

from valor_cli.config.document import YamlDocument
from valor_cli.config.problems import TreePath
from valor_cli.paths import from_folder, is_url
from valor_cli.results import Scalar

if TYPE_CHECKING:
    from valor_cli.metric import Metric


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class MetricRequest(_Strict):
    """A requested metric: canonical name, all parameters, index in the YAML's list.

    `threshold` is what its value should reach, or not pass; `threshold_given` says whether the
    config has it, and not the metric alone; `given` are the parameters that it has.
    """

    name: str
    parameters: dict[str, Any]
    index: int
    threshold: float | None = None
    threshold_given: bool = False
    given: tuple[str, ...] = Field(default=(), exclude=True)


COMPOSITES = ("of", "all_of", "any_of", "at_least")
"""The keys that say how a composite is made."""


class AtLeastOf(_Strict):
    """How many of some metrics a sample must pass."""

    k: int = Field(ge=1, description="How many.")
    of: tuple[str, ...] = Field(min_length=1, description="Of which metrics.")


class Composite(_Strict):
    """A metric made of the values that other metrics of the run have of each sample."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [key]} for key in COMPOSITES]}
    )

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="The metric is own.NAME.")
    of: dict[str, Annotated[float, Field(gt=0)]] | None = Field(
        default=None, min_length=1, description="Weighted mean: the metrics with their weights."
    )
    all_of: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="A sample passes if it passes all of these."
    )
    any_of: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="A sample passes if it passes one of these."
    )
    at_least: AtLeastOf | None = Field(
        default=None, description="A sample passes if it passes k of these."
    )
    missing: Literal["skip"] | None = Field(
        default=None,
        description="skip: without a part's value the rest decides; null: there is no value.",
    )
    when: dict[str, Literal["passes", "fails"]] | None = Field(
        default=None, min_length=1, description="Only samples that pass, or fail, another metric."
    )
    threshold: float | None = Field(default=None, description="The threshold of the value.")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [key for key in COMPOSITES if getattr(self, key) is not None]
        if len(given) != 1:
            told = " and ".join(given) or "none of them"
            raise ValueError(f"a composite has one of {', '.join(COMPOSITES)}, found {told}")
        names = self.at_least.of if self.at_least else self.all_of or self.any_of or ()
        for index, name in enumerate(names):
            if name in names[:index]:
                raise ValueError(f"duplicate {name}")
        if self.at_least and self.at_least.k > len(names):
            raise ValueError(f"at_least: {self.at_least.k} of {len(names)} metrics cannot pass")
        return self


NOT_WORSE_LEVEL = 0.05
"""The significance level of `not_worse: true`."""

AUTO = "auto"
"""The entry of `slices:` that searches for the worst slices."""


class SliceSearch(_Strict):
    """A search for the slices on which a model does worst."""

    columns: tuple[Annotated[str, Field(pattern=r"^metadata\..+$")], ...] | None = Field(
        default=None,
        min_length=1,
        description="Columns to search, as metadata.camera; omitted: every column of metadata.",
    )
    min_size: int = Field(
        default=30,
        ge=2,
        description="Minimum number of samples, or images, in a slice and outside it.",
    )
    most: int = Field(default=5, ge=1, le=100, description="Slices reported for each model.")
    depth: int = Field(
        default=2,
        ge=1,
        le=2,
        description="Maximum number of conditions of a slice: 2 searches pairs too.",
    )
    level: float = Field(
        default=0.95,
        gt=0,
        lt=1,
        description="A slice is reported at an adjusted p-value below 1 minus this.",
    )

    @field_validator("columns")
    @classmethod
    def _columns_once_each(cls, columns: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for index, name in enumerate(columns or ()):
            if name in (columns or ())[:index]:
                raise ValueError(f"duplicate {name}")
        return columns


class SliceRequest(_Strict):
    """A key to slice by, and the requested values; None for all that occur.

    `search` is there where the key is `AUTO`, and nowhere else.
    """

    key: str
    values: tuple[Scalar, ...] | None
    search: SliceSearch | None = None


class Interval(_Strict):
    """Settings of confidence intervals."""

    method: Literal["bootstrap"] = Field(
        default="bootstrap", description="How intervals are computed."
    )
    resamples: int = Field(default=1000, ge=1, le=100_000, description="Number of resamples.")
    level: float = Field(default=0.95, gt=0, lt=1, description="Confidence level, as 0.95.")
    seed: int = Field(default=0, ge=0, description="Seed of the resampling.")
    group: str | None = Field(
        default=None,
        pattern=r"^metadata\..+$",
        description="Units with the same value of this column are drawn together, as "
        "metadata.patient; omitted: the samples' own column `group`, where there is one.",
    )


class Gate(_Strict):
    """A limit on the values of one metric, or on coverage, that the run must meet."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["coverage"]},
                {"required": ["metric", "min"]},
                {"required": ["metric", "max"]},
                {"required": ["metric", "max_drop"]},
                {"required": ["metric", "not_worse"]},
            ]
        }
    )

    metric: str | None = Field(
        default=None, description="Name of the metric; for coverage alone, omitted: every metric."
    )
    output: str | None = Field(
        default=None, description="Which of its outputs; omitted: the primary one."
    )
    label: str | None = Field(default=None, description="The label; omitted: all labels together.")
    model: str | None = Field(default=None, description="The model; omitted: every model.")
    slice: str | None = Field(default=None, description="A slice, as metadata.camera=front.")
    parameters: dict[str, Scalar] = Field(default={}, description="Parameters of the value.")
    min: float | None = Field(default=None, description="The value must not be below this.")
    max: float | None = Field(default=None, description="The value must not be above this.")
    max_drop: float | None = Field(
        default=None, ge=0, description="Largest drop against the baseline (--baseline RUN)."
    )
    not_worse: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="Fails if a paired test finds the value worse than the baseline's at this "
        "significance level, as 0.05; true is 0.05.",
    )
    coverage: float | None = Field(
        default=None, ge=0, le=1, description="Minimum share of the samples that must have a value."
    )

    _request: dict[str, Any] = PrivateAttr(default={})

    @field_validator("not_worse", mode="before")
    @classmethod
    def _usual_level(cls, level: object) -> object:
        return NOT_WORSE_LEVEL if level is True else level

    @property
    def request(self) -> Mapping[str, Any]:
        """Parameters that its metric has to be asked for, of a name such as mAP@0.75."""
        return self._request

    @property
    def on_value(self) -> bool:
        """Whether it limits a value rather than coverage."""
        limits = (self.min, self.max, self.max_drop, self.not_worse)
        return any(limit is not None for limit in limits)

    @model_validator(mode="after")
    def _limited(self) -> Self:
        if not self.on_value and self.coverage is None:
            raise ValueError("a gate needs at least one of min, max, max_drop, not_worse, coverage")
        if self.on_value and self.metric is None:
            raise ValueError("min, max, max_drop and not_worse need a metric")
        if self.not_worse is not None and (self.label is not None or self.slice is not None):
            raise ValueError("not_worse applies to values of all data, without label or slice")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is above max, so no value can pass")
        return self


class Report(_Strict):
    """Where the report is written, and in which formats."""

    out: str | None = Field(
        default=None, description="Folder, relative to this file; '-' is stdout."
    )
    formats: tuple[Literal["json", "markdown", "html", "junit", "csv"], ...] = Field(
        default=("json", "markdown", "html"), min_length=1, description="Formats to write."
    )
    images: Literal["embed", "folder", "link"] = Field(
        default="embed",
        description="How the HTML report has the images of the run: embed, in the page; folder, "
        "as copies in report_files beside it; link, as the files they are.",
    )
    size: int = Field(
        default=800,
        ge=16,
        le=10_000,
        description="Maximum width and height of an image that is embedded or copied, in pixels.",
    )
    budget_mb: float | None = Field(
        default=None,
        gt=0,
        description="Maximum size of all images, in MB, the most telling first; omitted: 20 where "
        "they are embedded, unlimited where they are copied.",
    )

    @field_validator("out")
    @classmethod
    def _from_the_folder(cls, out: str | None, info: ValidationInfo) -> str | None:
        if out is None or out == "-":
            return out
        if not out:
            raise ValueError("expected a folder, found empty text")
        if is_url(out):
            raise ValueError("expected a folder on this machine, found a URL")
        return from_folder((info.context or {}).get("folder", ""), out)

    @field_validator("formats")
    @classmethod
    def _once_each(cls, formats: tuple[str, ...]) -> tuple[str, ...]:
        for index, name in enumerate(formats):
            if name in formats[:index]:
                raise ValueError(f"duplicate {name}")
        return formats


OWN = "python"
"""The key of an entry of `metrics:` that names a function of the user's."""

COMPOSITE = "composite"
"""The key of an entry of `metrics:` that is made of others."""


def message_path(path: TreePath, tree: Mapping[str, Any]) -> TreePath:
    """A path as shown in messages: after the index of a metric its name is omitted."""
    if len(path) < 3 or path[0] != "metrics" or not isinstance(path[1], int):
        return path
    return path if is_own(tree, path[1]) else (*path[:2], *path[3:])


def is_own(tree: Mapping[str, Any], index: int) -> bool:
    """Whether an entry of `metrics:` names a function of the user's."""
    entries = tree.get("metrics")
    entry = entries[index] if isinstance(entries, list) and index < len(entries) else None
    return isinstance(entry, dict) and OWN in entry


class RunConfig(_Strict):
    """The checked config of a run.

    Attributes:
        data: The task's own model.
        options: What the task adds to the top of a config, with the defaults filled in.
        metrics: None when the config has no `metrics:`, which means the task's defaults.
        filter: Column (`label`, `image_id`, `sample_id`, `metadata.NAME`) to the values kept.
        gates: With the metric's canonical name.
        notes: What to warn of, as names that mean something else to others.
        path: The YAML file, as it was named.
        sha256: Of the bytes of the file.
    """

    task: str
    data: SerializeAsAny[BaseModel]
    options: SerializeAsAny[BaseModel]
    metrics: tuple[MetricRequest, ...] | None = None
    label_map: dict[str, str] = {}
    filter: dict[str, tuple[Scalar, ...]] = {}
    slices: tuple[SliceRequest, ...] = ()
    interval: Interval | None = None
    gates: tuple[Gate, ...] = ()
    report: Report = Report()
    notes: tuple[str, ...] = Field(default=(), exclude=True)
    path: Path
    sha256: str
    _document: YamlDocument = PrivateAttr()
    _own: tuple[Metric[Any], ...] = PrivateAttr(default=())

    @property
    def own(self) -> tuple[Metric[Any], ...]:
        """The metrics that the config names: functions of the user's, loaded, and named judges."""
        return self._own

    @property
    def slice_search(self) -> SliceSearch | None:
        """The requested search for the worst slices; None if there is none."""
        return next((one.search for one in self.slices if one.search is not None), None)

    def position(self, *parts: str | int) -> tuple[int, int] | None:
        """Line and column of a part of the config; None if set by an override."""
        at = self._document.position(parts)
        return None if at is None else (at.line, at.column)

    def place(self, *parts: str | int) -> str:
        """The position of a part of the config, for messages: `run.yaml:3:5: metrics.1`.

        A metric's parameter is `("metrics", 1, "iou_thresholds")`. Of what is not written in the
        file, a default for example, it is the place of the nearest part that is.
        """
        path, words = parts, parts
        if parts[0] == "metrics" and len(parts) > 2:
            items: dict[object, Any] = dict(enumerate(self._document.tree.get("metrics") or ()))
            written = items.get(parts[1])
            if isinstance(written, dict) and OWN not in written:
                path = parts if parts[2] in written else (*parts[:2], *written, *parts[2:])
                words = message_path(path, self._document.tree)
        return self._document.place(path, words=words)
