"""A YAML file in; a checked `RunConfig` out, or every problem in it at once.

What tasks, metrics and parameters there are is asked of a `Vocabulary`, so that this module knows
none. Values that come from the environment (`${NAME}`) are shown in no message.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Protocol, Self, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SerializeAsAny,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.json_schema import models_json_schema

from valor_cli.errors import ConfigError, Problem, did_you_mean
from valor_cli.results import Scalar
from valor_cli.yaml_document import (
    Position,
    TreePath,
    YamlDocument,
    dotted,
    place_order,
    quoted,
    read_document,
)

M = TypeVar("M", bound=BaseModel)

FILTER_KEYS = ("label", "image_id", "sample_id")
LISTED_NAMES = 12
"""Names a message lists in full; of more it says which command lists them."""


class Vocabulary(Protocol):
    """The names a config may use."""

    def task_names(self) -> Sequence[str]:
        """All tasks."""

    def inputs(self, task: str) -> type[BaseModel]:
        """The model of the task's `data:`; `context["folder"]` is what its paths start from."""

    def metric_names(self, task: str) -> Mapping[str, str]:
        """Every accepted name of a metric, aliases included, with its canonical name."""

    def parameters(self, task: str, metric: str) -> type[BaseModel]:
        """The strict model of a metric's parameters, by its canonical name."""

    def outputs(self, task: str, metric: str) -> Sequence[str]:
        """The outputs of a metric, by its canonical name."""

    def slice_values(self, task: str) -> Mapping[str, Sequence[str]]:
        """The slice keys beside `metadata.NAME`, with the values of each."""


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class MetricRequest(_Strict):
    """A metric to compute: canonical name, every parameter, index in the YAML's list."""

    name: str
    parameters: dict[str, Any]
    index: int


class SliceRequest(_Strict):
    """A key to slice by, and the values wanted; None for all that occur."""

    key: str
    values: tuple[Scalar, ...] | None


class Interval(_Strict):
    """Confidence intervals of all values."""

    method: Literal["bootstrap"] = Field(
        default="bootstrap", description="How intervals are found."
    )
    resamples: int = Field(default=1000, ge=1, le=100_000, description="Number of resamples.")
    level: float = Field(default=0.95, gt=0, lt=1, description="Confidence level, as 0.95.")
    seed: int = Field(default=0, ge=0, description="Seed of the resampling.")


class Gate(_Strict):
    """A limit on values of one metric; the run fails where it is not kept."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": [rule]} for rule in ("min", "max", "max_drop")]}
    )

    metric: str = Field(description="Name of the metric.")
    output: str | None = Field(
        default=None, description="Which of its outputs; omitted: the primary one."
    )
    label: str | None = Field(default=None, description="The label; omitted: all labels together.")
    model: str | None = Field(default=None, description="The model; omitted: every model.")
    slice: str | None = Field(default=None, description="A slice, as metadata.camera=front.")
    parameters: dict[str, Scalar] = Field(default={}, description="Parameters the value must have.")
    min: float | None = Field(default=None, description="The value must not be below.")
    max: float | None = Field(default=None, description="The value must not be above.")
    max_drop: float | None = Field(
        default=None, ge=0, description="Largest drop against the baseline."
    )

    @model_validator(mode="after")
    def _limited(self) -> Self:
        if self.min is None and self.max is None and self.max_drop is None:
            raise ValueError("a gate needs at least one of min, max, max_drop")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is above max, which no value can meet")
        return self


class Report(_Strict):
    """Where the report goes and in which formats."""

    out: str | None = Field(
        default=None, description="Folder, relative to this file; '-' is stdout."
    )
    formats: tuple[Literal["json", "markdown", "html"], ...] = Field(
        default=("json", "markdown", "html"), min_length=1, description="Formats to write."
    )

    @field_validator("out")
    @classmethod
    def _from_the_folder(cls, out: str | None, info: ValidationInfo) -> str | None:
        if out is None or out == "-":
            return out
        if not out:
            raise ValueError("expected a folder, found empty text")
        return str(Path((info.context or {}).get("folder", ""), out))

    @field_validator("formats")
    @classmethod
    def _once_each(cls, formats: tuple[str, ...]) -> tuple[str, ...]:
        for index, name in enumerate(formats):
            if name in formats[:index]:
                raise ValueError(f"{name} stands twice")
        return formats


class RunConfig(_Strict):
    """What a run was asked to do, checked.

    Attributes:
        data: The task's own model.
        metrics: None when the config has no `metrics:`, which means the task's defaults.
        filter: Column (`label`, `image_id`, `sample_id`, `metadata.NAME`) to the values kept.
        gates: With the metric's canonical name.
        path: The YAML file, as it was named.
        sha256: Of the bytes of the file.
    """

    task: str
    data: SerializeAsAny[BaseModel]
    metrics: tuple[MetricRequest, ...] | None = None
    label_map: dict[str, str] = {}
    filter: dict[str, tuple[Scalar, ...]] = {}
    slices: tuple[SliceRequest, ...] = ()
    interval: Interval | None = None
    gates: tuple[Gate, ...] = ()
    report: Report = Report()
    path: Path
    sha256: str
    _document: YamlDocument = PrivateAttr()

    def place(self, *parts: str | int) -> str:
        """Where a part of the config stands, for messages: `run.yaml:3:5: metrics.1`.

        A metric's parameter is `("metrics", 1, "iou_thresholds")`. Of what is not written in the
        file, a default for example, it is the place of the nearest part that is.
        """
        path = parts
        if len(parts) > 2 and parts[0] == "metrics" and isinstance(parts[1], int):
            written = self._document.tree.get("metrics") or []
            item = written[parts[1]] if parts[1] < len(written) else None
            names = [item] if isinstance(item, str) else list(item or ())
            if parts[2] in names:
                return self._document.place(path, words=_spoken(path))
            path = (*parts[:2], *names, *parts[2:])
        return self._document.place(path, words=parts)


_KEYS = tuple(name for name in RunConfig.model_fields if name not in ("path", "sha256"))


def load_config(
    path: str | Path, vocabulary: Vocabulary, overrides: Sequence[str] = ()
) -> RunConfig:
    """Read and check a config.

    Args:
        path: The YAML file. Paths in the config are relative to its folder.
        vocabulary: The tasks and metrics there are.
        overrides: `a.b=value` each, from `--set`. Values are YAML; relative paths in them are
            relative to the YAML's folder too.

    Raises:
        ConfigError: With every problem found, sorted by line.
    """
    document = read_document(Path(path), overrides, os.environ)
    return _Review(document, vocabulary).config()


def json_schema(vocabulary: Vocabulary) -> dict[str, Any]:
    """The JSON Schema (2020-12) of the config, for editors."""
    tasks = tuple(vocabulary.task_names())
    models: dict[object, type[BaseModel]] = {"interval": Interval, "gate": Gate, "report": Report}
    for task in tasks:
        models[task, None] = vocabulary.inputs(task)
        for name, metric in vocabulary.metric_names(task).items():
            models[task, name] = vocabulary.parameters(task, metric)
    references, definitions = models_json_schema(
        [(model, "validation") for model in dict.fromkeys(models.values())]
    )
    named = {name: references[model, "validation"] for name, model in models.items()}
    shape = {"$defs": definitions.get("$defs", {}), "properties": _properties(tasks, named)}
    shape = _with_environment(shape)
    shape["$defs"]["environment"] = {
        "type": "string",
        "pattern": r"^\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}$",
        "description": "A value from the environment, as ${NAME} or ${NAME:-default}.",
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "valor config",
        "description": "What `valor evaluate` is asked to do.",
        "type": "object",
        "required": ["task", "data"],
        "additionalProperties": False,
        **shape,
        "allOf": [_task_schema(vocabulary, task, models, named) for task in tasks],
    }


def _task_schema(
    vocabulary: Vocabulary,
    task: str,
    models: Mapping[object, type[BaseModel]],
    named: Mapping[object, Any],
) -> dict[str, Any]:
    """What holds for one task alone."""
    names = list(vocabulary.metric_names(task))
    needy = {
        name
        for name in names
        if any(field.is_required() for field in models[task, name].model_fields.values())
    }
    properties = {
        "data": named[task, None],
        "metrics": _metrics_schema({name: named[task, name] for name in names}, needy),
        "slices": {"items": _slice_schema(vocabulary.slice_values(task))},
        "gates": {"items": {"properties": {"metric": {"enum": names}}}},
    }
    condition = {"properties": {"task": {"const": task}}, "required": ["task"]}
    return {"if": condition, "then": {"properties": properties}}


_SCALAR_SCHEMA = {"type": ["string", "number", "boolean", "null"]}
_METADATA_PATTERN = r"^metadata\..+$"


def _properties(tasks: Sequence[str], named: Mapping[object, Any]) -> dict[str, Any]:
    """The top-level keys, as far as they are the same for all tasks."""
    one_or_more = {
        "anyOf": [_SCALAR_SCHEMA, {"type": "array", "items": _SCALAR_SCHEMA, "minItems": 1}]
    }
    return {
        "task": {"enum": list(tasks), "description": "The kind of evaluation."},
        "data": {"type": "object", "description": "The files to read, relative to this one."},
        "metrics": {
            "type": "array",
            "minItems": 1,
            "description": "The metrics to compute; omitted: the task's default set.",
        },
        "label_map": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "Label as in the files to label as evaluated.",
        },
        "filter": {
            "type": "object",
            "properties": dict.fromkeys(FILTER_KEYS, one_or_more),
            "patternProperties": {_METADATA_PATTERN: one_or_more},
            "additionalProperties": False,
            "description": "Column to the value, or the values, to keep.",
        },
        "slices": {
            "type": "array",
            "description": "Keys to slice by: metadata.NAME, or one the task has.",
        },
        "interval": named["interval"],
        "gates": {
            "type": "array",
            "items": named["gate"],
            "description": "Limits that fail the run.",
        },
        "report": named["report"],
    }


def _metrics_schema(bodies: Mapping[str, Any], needy: set[str]) -> dict[str, Any]:
    """A list of names alone, where no parameter is required, or of one name with parameters."""
    with_parameters = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": {
            name: body if name in needy else {"anyOf": [body, {"type": "null"}]}
            for name, body in bodies.items()
        },
    }
    alone = {"enum": [name for name in bodies if name not in needy]}
    return {"items": {"anyOf": [alone, with_parameters]}}


def _slice_schema(values: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """A slice's key, or a mapping of it to a list of values."""
    of_key = {
        key: {"type": "array", "minItems": 1, "items": {"enum": list(known)}}
        for key, known in values.items()
    }
    anything = {"type": "array", "minItems": 1, "items": _SCALAR_SCHEMA}
    with_values = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": of_key,
        "patternProperties": {_METADATA_PATTERN: anything},
    }
    metadata = {"type": "string", "pattern": _METADATA_PATTERN}
    return {"anyOf": [{"enum": list(values)}, metadata, with_values]}


def _with_environment(schema: Any) -> Any:
    """The same schema, with `${NAME}` allowed where it asks for anything but text."""
    if isinstance(schema, list):
        return [_with_environment(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kind = schema.get("type")
    closed = any(isinstance(schema.get(word), kinds) for word, kinds in _CLOSED.items())
    if closed or (isinstance(kind, str) and kind in ("number", "integer", "boolean")):
        about = {key: schema[key] for key in schema.keys() & {"title", "description", "default"}}
        rest = {key: value for key, value in schema.items() if key not in about}
        return {**about, "anyOf": [rest, {"$ref": "#/$defs/environment"}]}
    return {
        key: value if key in ("default", "examples") else _with_environment(value)
        for key, value in schema.items()
    }


_CLOSED: dict[str, type | tuple[type, ...]] = {"enum": list, "const": (str, int, float)}


class _Review:
    """One document held against the vocabulary; problems are collected, not raised."""

    def __init__(self, document: YamlDocument, vocabulary: Vocabulary) -> None:
        self._document = document
        self._tree = document.tree
        self._vocabulary = vocabulary
        self._refused: set[TreePath] = set()
        self._problems: list[tuple[Position | None, Problem]] = []

    def config(self) -> RunConfig:
        """The config, or all of its problems as one error."""
        self._leaves(self._tree, ())
        for key in self._tree:
            if key not in _KEYS:
                self._note((key,), _unknown("key", key, "the config", _KEYS), key=True)
        task = self._task()
        parts: dict[str, Any] = {
            "data": self._data(task),
            "metrics": self._metrics(task),
            "label_map": self._label_map(),
            "filter": self._filter(),
            "slices": self._slices(task),
            "interval": self._section("interval", Interval),
            "gates": self._gates(task),
            "report": self._section("report", Report) or Report(),
        }
        if self._problems:
            ordered = sorted(self._problems, key=lambda found: place_order(found[0]))
            raise ConfigError(tuple(dict.fromkeys(problem for _, problem in ordered)))
        document = self._document
        config = RunConfig(task=task or "", path=document.path, sha256=document.sha256, **parts)
        config._document = document
        return config

    def _note(self, path: TreePath, message: str, *, key: bool = False) -> None:
        if path not in self._refused:
            place = self._document.place(path, key=key, words=_spoken(path))
            self._problems.append((self._document.position(path, key=key), Problem(place, message)))

    def _leaves(self, node: Any, path: TreePath) -> None:
        """Refuse what no value may be, wherever it stands and whatever it is for."""
        if isinstance(node, dict | list):
            for key, value in node.items() if isinstance(node, dict) else enumerate(node):
                self._leaves(value, (*path, key))
        elif isinstance(node, float) and not math.isfinite(node):
            self._note(path, f"expected a finite number, found {self._shown(path, node)}")
            self._refused.add(path)
        elif isinstance(node, str) and "\0" in node:
            self._note(path, "text must not hold the character U+0000")
            self._refused.add(path)

    def _shown(self, path: TreePath, value: Any, *, kind: bool = False) -> str:
        """A found value in words, and with `kind` what sort of value it is."""
        if path in self._document.expanded:
            return f"{quoted(self._document.expanded[path])} (its value is not shown)"
        return _words(value, kind=kind)

    def _name(self, path: TreePath, name: str) -> str:
        """A known name as the file has it, `${TASK}` for one from the environment."""
        return self._document.expanded.get(path, name)

    def _expect(self, path: TreePath, value: Any, kind: type | UnionType, expected: str) -> bool:
        if isinstance(value, kind):
            return True
        self._note(path, f"expected {expected}, found {self._shown(path, value, kind=True)}")
        return False

    def _unknown_value(self, path: TreePath, name: str, word: str, known: Iterable[str]) -> str:
        """The words for an unknown name, without a hint at what the environment holds."""
        near = "" if path in self._document.expanded else did_you_mean(name, known)
        return f"unknown {word} {self._shown(path, name)}{near}"

    def _task(self) -> str | None:
        if "task" not in self._tree:
            names = ", ".join(self._vocabulary.task_names())
            self._note(("task",), f"required, but missing; the tasks are {names}")
            return None
        name = self._tree["task"]
        if not self._expect(("task",), name, str, "the name of a task"):
            return None
        known = self._vocabulary.task_names()
        if name in known:
            return str(name)
        unknown = self._unknown_value(("task",), name, "task", known)
        self._note(("task",), f"{unknown}; the tasks are {', '.join(known)}")
        return None

    def _data(self, task: str | None) -> BaseModel | None:
        if "data" not in self._tree:
            self._note(("data",), "required, but missing")
        elif task is not None:
            model = self._vocabulary.inputs(task)
            return self._valid(
                model, ("data",), self._tree["data"], f"data of {self._name(('task',), task)}"
            )
        else:
            self._expect(("data",), self._tree["data"], dict, "a mapping")
        return None

    def _section(self, name: str, model: type[M]) -> M | None:
        if name not in self._tree:
            return None
        return self._valid(model, (name,), self._tree[name], name)

    def _items(self, name: str) -> list[Any] | None:
        """The list under a top-level key, with a problem noted where it is none."""
        if name in self._tree and self._expect((name,), self._tree[name], list, "a list"):
            items: list[Any] = self._tree[name]
            return items
        return None

    def _mapping(self, name: str) -> dict[str, Any]:
        node = self._tree.get(name, {})
        return node if self._expect((name,), node, dict, "a mapping") else {}

    def _metrics(self, task: str | None) -> tuple[MetricRequest, ...] | None:
        items = self._items("metrics")
        if items is None:
            return None
        if not items:
            self._note(
                ("metrics",), "names no metric; leave the key out for the task's default set"
            )
        requests: dict[str, MetricRequest] = {}
        for index, item in enumerate(items):
            request = self._metric(index, item, task)
            if request is None:
                continue
            same = requests.setdefault(f"{request.name} {request.parameters!r}", request)
            if same is not request:
                message = f"the same metric with the same parameters as metrics.{same.index}"
                self._note(("metrics", index), message)
        return tuple(requests.values())

    def _metric(self, index: int, item: Any, task: str | None) -> MetricRequest | None:
        path: TreePath = ("metrics", index)
        form = "a metric's name, or a mapping of one name to its parameters"
        if isinstance(item, dict) and len(item) != 1:
            keys = ", ".join(quoted(key) for key in list(item)[:5]) or "none"
            hint = "; indent the parameters below the name" if len(item) > 1 else ""
            self._note(path, f"expected {form}, found the keys {keys}{hint}")
            return None
        if not self._expect(path, item, str | dict, form):
            return None
        name, body = (item, {}) if isinstance(item, str) else next(iter(item.items()))
        inside = (*path, name)
        canonical = self._canonical(path if isinstance(item, str) else inside, name, task)
        body = {} if body is None else body
        if not self._expect(inside, body, dict, "a mapping of parameters"):
            return None
        if canonical is None or task is None:
            return None
        model = self._vocabulary.parameters(task, canonical)
        parameters = self._valid(model, inside, body, name, word="parameter")
        if parameters is None:
            return None
        values = {field: getattr(parameters, field) for field in type(parameters).model_fields}
        return MetricRequest(name=canonical, parameters=values, index=index)

    def _canonical(self, path: TreePath, name: str, task: str | None) -> str | None:
        if task is None:
            return None
        names = self._vocabulary.metric_names(task)
        if name not in names:
            unknown = self._unknown_value(path, name, "metric", names)
            known = tuple(dict.fromkeys(names.values()))
            owner = self._name(("task",), task)
            listed = f"{owner} has {', '.join(known)}"
            if len(known) > LISTED_NAMES:
                listed = f"'valor metrics --task {owner}' lists them"
            self._note(path, f"{unknown}; {listed}", key=path[-1] == name)
        return names.get(name)

    def _label_map(self) -> dict[str, str]:
        labels = self._mapping("label_map")
        for label, becomes in labels.items():
            self._expect(("label_map", label), becomes, str, "text")
        return labels

    def _filter(self) -> dict[str, tuple[Scalar, ...]]:
        kept: dict[str, tuple[Scalar, ...]] = {}
        for key, value in self._mapping("filter").items():
            path: TreePath = ("filter", key)
            if key not in FILTER_KEYS and not _is_metadata(key):
                known = (*FILTER_KEYS, "metadata.NAME")
                self._note(path, _unknown("key", key, "a filter", known), key=True)
            values = value if isinstance(value, list) else [value]
            if not values:
                self._note(path, "expected at least one value, found an empty list")
            for index, element in enumerate(values):
                place = (*path, index) if isinstance(value, list) else path
                self._single(place, element, null=_is_metadata(key))
            kept[key] = tuple(values)
        return kept

    def _single(self, path: TreePath, value: Any, *, null: bool = True) -> None:
        """Note what is no single value, or an empty one where none can be."""
        if isinstance(value, dict | list) or (value is None and not null):
            shown = self._shown(path, value, kind=True)
            self._note(path, f"expected a single value, found {shown}")

    def _slices(self, task: str | None) -> tuple[SliceRequest, ...]:
        requests: dict[str, SliceRequest] = {}
        for index, item in enumerate(self._items("slices") or ()):
            path: TreePath = ("slices", index)
            form = "a key, or a mapping of one key to a list of values"
            if isinstance(item, str):
                key, values = item, None
                self._slice(path, key, None, task)
            elif isinstance(item, dict) and len(item) == 1:
                key, values = next(iter(item.items()))
                self._slice_list((*path, key), key, values, task)
            else:
                self._note(path, f"expected {form}, found {self._shown(path, item, kind=True)}")
                continue
            if key in requests:
                self._note(path, f"{self._shown(path, key)} stands twice among the slices")
            if values is None or isinstance(values, list):
                requests[key] = SliceRequest.model_construct(
                    key=key, values=None if values is None else tuple(values)
                )
        return tuple(requests.values())

    def _slice_list(self, path: TreePath, key: str, values: Any, task: str | None) -> None:
        self._slice(path, key, None, task)
        if not self._expect(path, values, list, "a list of values"):
            return
        if not values:
            self._note(path, "expected at least one value, found an empty list")
        seen: set[str] = set()
        for index, value in enumerate(values):
            place = (*path, index)
            self._single(place, value)
            if not isinstance(value, dict | list):
                self._slice(place, key, value, task, valued=True)
            if repr(value) in seen:
                self._note(place, f"{self._shown(place, value)} stands twice")
            seen.add(repr(value))

    def _slice(
        self, path: TreePath, key: str, value: Scalar, task: str | None, *, valued: bool = False
    ) -> None:
        """Note an unknown slice key or, with `valued`, a value that a known key does not have."""
        if _is_metadata(key) or task is None:
            return
        known = self._vocabulary.slice_values(task)
        if not valued and key not in known:
            unknown = self._unknown_value(path, key, "slice key", known)
            listed = ", ".join((*known, "metadata.NAME"))
            owner = self._name(("task",), task)
            self._note(path, f"{unknown}; {owner} has {listed}", key=path[-1] == key)
        if valued and key in known and value not in known[key]:
            found = self._shown(path, value)
            self._note(path, f"expected one of {', '.join(known[key])}, found {found}")

    def _gates(self, task: str | None) -> tuple[Gate, ...]:
        gates = []
        for index, item in enumerate(self._items("gates") or ()):
            path: TreePath = ("gates", index)
            gate = self._valid(Gate, path, item, "a gate")
            metric = self._gate_names(path, item, task) if isinstance(item, dict) else None
            if gate is not None:
                gates.append(gate.model_copy(update={"metric": metric or gate.metric}))
        return tuple(gates)

    def _gate_names(self, path: TreePath, item: dict[str, Any], task: str | None) -> str | None:
        """The canonical name of a gate's metric; its output and slice are checked as well."""
        metric, output, part = item.get("metric"), item.get("output"), item.get("slice")
        if isinstance(part, str):
            place = (*path, "slice")
            key, equals, value = part.partition("=")
            if not key or not equals:
                found = self._shown(place, part)
                self._note(place, f"expected text such as metadata.camera=front, found {found}")
            else:
                self._slice(place, key, None, task)
                self._slice(place, key, value, task, valued=True)
        if not isinstance(metric, str):
            return None
        canonical = self._canonical((*path, "metric"), metric, task)
        if canonical is not None and task is not None and isinstance(output, str):
            place = (*path, "output")
            known = self._vocabulary.outputs(task, canonical)
            if output not in known:
                unknown = self._unknown_value(place, output, "output", known)
                owner = self._name((*path, "metric"), metric)
                self._note(place, f"{unknown}; {owner} has {', '.join(known) or 'none'}")
        return canonical

    def _valid(
        self, model: type[M], path: TreePath, node: Any, owner: str, *, word: str = "key"
    ) -> M | None:
        """A part of the tree as its model; None when it does not fit."""
        if not self._expect(path, node, dict, "a mapping"):
            return None
        try:
            # As JSON, because only there a strict model takes a list for a tuple.
            return model.model_validate_json(
                json.dumps(node), context={"folder": self._document.path.parent}
            )
        except ValidationError as error:
            faults = _without_other_branches(_faults(error, node))
        for inner in dict.fromkeys(fault.path for fault in faults):
            same = [fault for fault in faults if fault.path == inner]
            self._explain((*path, *inner), same, _Owner(model, path, owner, word))
        return None

    def _explain(self, path: TreePath, faults: Sequence[_Fault], owner: _Owner) -> None:
        """Note what pydantic found at one path, in plain English."""
        kinds = [fault.kind for fault in faults]
        if "missing" in kinds:
            self._note(path, "required, but missing")
        elif "extra_forbidden" in kinds:
            self._note(path, owner.unknown(path), key=True)
        elif free := [fault.text for fault in faults if fault.expected is None]:
            for text in dict.fromkeys(free):
                self._note(path, self._safe(path, text), key=faults[0].key)
        else:
            expected = _alternatives(fault.expected or "" for fault in faults)
            found = faults[0].found or self._shown(
                path, path[-1] if faults[0].key else faults[0].value, kind=faults[0].of_kind
            )
            self._note(path, f"expected {expected}, found {found}", key=faults[0].key)

    def _safe(self, path: TreePath, text: str) -> str:
        """A model's own message, unless it repeats a piece of the environment's values."""
        for known, secrets in self._document.secrets.items():
            if known[: len(path)] != path:
                continue
            for secret in filter(None, secrets):
                size = min(8, len(secret))
                pieces = (secret[at : at + size] for at in range(len(secret) - size + 1))
                if any(piece in text for piece in pieces):
                    written = quoted(self._document.expanded[known])
                    return f"what {written} stands for cannot be used (its value is not shown)"
        return text


_EXPECTED = {
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "iterable_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dataclass_type": "a mapping",
    "none_required": "nothing",
    "path_type": "a path",
}
_LIMITS = {
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "a number of at least {ge:g}",
    "less_than": "a number below {lt:g}",
    "less_than_equal": "a number of at most {le:g}",
    "multiple_of": "a multiple of {multiple_of:g}",
    "finite_number": "a finite number",
    "literal_error": "one of {expected}",
    "enum": "one of {expected}",
    "union_tag_invalid": "one of {expected_tags}",
    "string_too_short": "text of at least {min_length} characters",
    "string_too_long": "text of at most {max_length} characters",
    "string_pattern_mismatch": "text that matches {pattern}",
    "too_short": "at least {min_length} items",
    "too_long": "at most {max_length} items",
}


@dataclass(frozen=True, slots=True)
class _Fault:
    """One of pydantic's errors, with its path in the tree.

    Attributes:
        expected: What should stand there; None where `text` is the model's own message.
        found: What stands there, where that is not the value.
        of_kind: Whether the value is of a wrong kind, rather than out of its limits.
        key: Whether the key is meant and not its value.
        union: The path of the union it lies in, and which of its branches.
    """

    path: TreePath
    kind: str
    text: str
    value: Any
    expected: str | None
    found: str
    of_kind: bool
    key: bool
    union: tuple[TreePath, str] | None


def _faults(error: ValidationError, node: Any) -> list[_Fault]:
    faults = []
    for details in error.errors(include_url=False):
        kind, context = details["type"], details.get("ctx", {})
        path, union, value = _located(details["loc"], node, kind)
        if kind == "too_short" and len(value) >= context["min_length"]:
            continue  # Pydantic counts only the valid items, and those that are not are told.
        limit = _LIMITS.get(kind)
        if limit is not None:
            words = {**context}
            for name in words.keys() & {"expected", "expected_tags"}:
                words[name] = _names(str(words[name]))
            limit = limit.format(**words).replace(" 1 items", " 1 item")
            limit = limit.replace("text of at least 1 characters", "text that is not empty")
            limit = limit if ", " in limit else limit.removeprefix("one of ")
        text = str(context["error"]) if kind in ("value_error", "assertion_error") else None
        faults.append(
            _Fault(
                path=path,
                kind=kind,
                text=details["msg"] if text is None else text,
                value=value,
                expected=_EXPECTED.get(kind, limit),
                found=f"{context['actual_length']}" if kind in ("too_short", "too_long") else "",
                of_kind=kind in _EXPECTED,
                key=details["loc"][-1:] == ("[key]",),
                union=union,
            )
        )
    return faults


def _names(expected: str) -> str:
    """Pydantic's "'a', 'b' or 1" as "a, b, 1"."""
    quotes = re.sub(r"'([^']*)'", r"\1", expected)
    return re.sub(r" or (?=[^ ]*$)", ", ", quotes)


def _located(
    loc: Sequence[str | int], node: Any, kind: str
) -> tuple[TreePath, tuple[TreePath, str] | None, Any]:
    """The path in the tree that pydantic's `loc` means, the union it lies in, and the value.

    `loc` names the branches of unions too, which are no part of the tree.
    """
    path: TreePath = ()
    union: tuple[TreePath, str] | None = None
    for index, part in enumerate(loc):
        if isinstance(node, dict) and part in node:
            node = node[str(part)]
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            node = node[part]
        elif index == len(loc) - 1 and kind == "missing":
            return (*path, part), union, None
        else:
            if union is None and part != "[key]":
                union = path, str(part)
            continue
        path = (*path, part)
    return path, union, node


def _without_other_branches(faults: Sequence[_Fault]) -> list[_Fault]:
    """The faults less those of a union's branches that the value was not meant for.

    A branch whose faults all lie inside the value has the right outer form; of several, the one
    with the fewest faults is meant. Where no branch has it, all of them say what was expected.
    """
    kept = []
    meant: dict[TreePath, str | None] = {}
    for fault in faults:
        if fault.union is None:
            kept.append(fault)
            continue
        at, branch = fault.union
        if at not in meant:
            branches: dict[str, list[_Fault]] = {}
            for other in faults:
                if other.union is not None and other.union[0] == at:
                    branches.setdefault(other.union[1], []).append(other)
            inside = [name for name, all_ in branches.items() if all(f.path != at for f in all_)]
            meant[at] = min(inside, key=lambda name: len(branches[name]), default=None)
        if meant[at] in (None, branch):
            kept.append(fault)
    return kept


@dataclass(frozen=True, slots=True)
class _Owner:
    """The model that has the keys, where it stands and what messages call it and its keys."""

    model: type[BaseModel]
    path: TreePath
    name: str
    word: str

    def unknown(self, path: TreePath) -> str:
        """The message for a key that the model, or one nested in it, does not have."""
        models = [self.model]
        for part in path[len(self.path) : -1]:
            fields = [_fields(model).get(str(part)) for model in models]
            if any(field is not None for field in fields):
                models = [inner for field in fields for inner in _models_in(field)]
        known = tuple(dict.fromkeys(name for model in models for name in _fields(model)))
        nested = path[:-1] != self.path
        name, word = (dotted(_spoken(path[:-1])), "key") if nested else (self.name, self.word)
        return _unknown(word, str(path[-1]), name, known)


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


def _alternatives(expected: Iterable[str]) -> str:
    """What any of a union's branches takes, in words."""
    words = list(dict.fromkeys(expected))
    if {"text", "a number", "true or false"} <= set(words):
        words = ["a single value", *(word for word in words if word in ("a list", "a mapping"))]
    elif "a number" in words:
        words = [word for word in words if word != "a whole number"]
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _unknown(word: str, name: str, owner: str, known: Sequence[str]) -> str:
    return f"unknown {word}{did_you_mean(name, known)}; {owner} has {', '.join(known) or 'none'}"


def _words(value: Any, *, kind: bool) -> str:
    """A found value in words, and with `kind` what sort of value it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return f"the text {quoted(value)}" if kind else quoted(value)
    number = re.sub(r"\b(inf|nan)$", r".\1", str(value))
    number = number if len(number) <= 60 else f"{number[:59]}…"
    return f"the number {number}" if kind else number


def _is_metadata(key: str) -> bool:
    return key.startswith("metadata.") and key != "metadata."


def _spoken(path: TreePath) -> TreePath:
    """A path as messages say it: the name of a metric is left out after its index."""
    if len(path) > 2 and path[0] == "metrics" and isinstance(path[1], int):
        return (*path[:2], *path[3:])
    return path
