"""Put together what inputs hold to the config that a user would write."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml
from msgspec import Struct
from msgspec.structs import replace

from valor_cli import catalogue
from valor_cli.data.formats.class_names import read_names
from valor_cli.data.formats.folders import is_folder
from valor_cli.errors import ConfigError, Problem
from valor_cli.evaluators.inputs import model_paths
from valor_cli.paths import bare, is_url
from valor_cli.pipeline.inference.seen import (
    CITYSCAPES,
    FORMATS,
    Seen,
    Shape,
    label_values,
    look_at,
)


class _Kind(Struct, frozen=True):
    """What is said of inputs of a shape.

    Attributes:
        words: What they hold.
        joined: What joins ground truth and predictions.
        tasks: Those that evaluate it; of two the second where every input has outlines.
    """

    words: str
    joined: str
    tasks: tuple[str, ...]


_KINDS: Final[Mapping[Shape, _Kind]] = {
    "scores": _Kind("labels or scores", "sample id", ("classification",)),
    "objects": _Kind(
        "objects in images", "image id", ("object_detection", "instance_segmentation")
    ),
    "label_maps": _Kind("label maps", "file name", ("semantic_segmentation",)),
    "texts": _Kind("texts", "sample id", ("text_generation",)),
}

COLUMNS: Final = "and columns with --set, as --set 'data.columns={label: MY_COLUMN}'"

RESAMPLES: Final = 200
"""Resamples of intervals: they take at most as long as the run without them."""

_UNTELLING: Final = frozenset({"labels", "predictions", "prediction", "preds", "pred", "results"})
"""Names of files and folders that say nothing of the model: their folder's says more."""

_NAMES_FILES: Final = ("classes.json", "classes.txt", "labels.json", "labels.txt")
_IGNORED: Final = re.compile(r"\W*(?:ignored?|void|unlabell?ed)\W*", re.I)
UNLABELLED: Final = 255
"""The value of pixels without a label, unless the names say otherwise."""

_FOLDER_OF_IMAGES: Final = "images"


class Inferred(Struct, frozen=True):
    """A config from files alone.

    Attributes:
        config: What its YAML would hold.
        told: What was inferred, in one line.
    """

    config: Mapping[str, Any]
    told: str


def infer(
    paths: Sequence[str],
    *,
    task: str | None = None,
    metrics: Sequence[str] = (),
    gates: Sequence[str] = (),
) -> Inferred:
    """Infer a config from the content of its inputs.

    Args:
        paths: Ground truth and predictions, or files that hold both.
        task: The task, where it is not to be inferred.
        metrics: The metrics, as in YAML; none: the task's default set.
        gates: The gates, as in YAML.

    Raises:
        ConfigError: The content does not tell the task, or the inputs do not belong together.
        DataError: An input cannot be read.
        UnknownNameError: There is no such task.
    """
    wanted = None if task is None else _shape_of(catalogue.task(task).name)
    inputs = [look_at(path, wanted) for path in paths]
    if twice := next((path for at, path in enumerate(paths) if path in paths[:at]), None):
        raise ConfigError(Problem(twice, "is named twice"), hint="name each input once")
    shape = _shape(inputs)
    truths = [one for one in inputs if one.holds == "ground_truth"]
    if shape == "texts" and (len(truths) != 1 or len(inputs) == 1):
        # A column of one file may name the models.
        data: dict[str, Any] = {"samples": paths[0] if len(paths) == 1 else _by_model(inputs)}
    elif shape == "label_maps" and all(one.holds == "both" for one in inputs):
        (one,) = _alone(inputs)
        data = {"ground_truth": one.path}  # The manifest names the predictions.
    elif shape == "scores" and all(one.holds == "both" for one in inputs):
        data = {"samples": _by_model(inputs)}
    else:
        truth, predictions = _sides(inputs)
        data = {"ground_truth": truth.path, "predictions": _by_model(predictions)}
        data |= _beside(truth, predictions, shape)
        if said := {one.label for one in predictions} - {""}:
            data["columns"] = {"prediction": said.pop()}
        inputs = [truth, *predictions]
    inputs, written = _written(inputs)
    if written:
        data["format"] = written
    named = task or _task(shape, inputs)
    config: dict[str, Any] = {
        "task": named,
        "data": data,
        "interval": {"resamples": RESAMPLES},
    }
    if metrics:
        config["metrics"] = [_value("--metric", one) for one in metrics]
    if gates:
        config["gates"] = list(gates)
    return Inferred(config, _told(named, inputs, shape, data))


def _shape(inputs: Sequence[Seen]) -> Shape:
    """What all inputs hold."""
    unknown = [one for one in inputs if one.shape is None]
    if unknown:
        raise ConfigError(
            [Problem(one.path, f"cannot tell what it holds by its {one.basis}") for one in unknown],
            hint=f"name the task with --task: {', '.join(catalogue.task_names())}\n{COLUMNS}",
        )
    first = inputs[0]
    other = next((one for one in inputs if one.shape != first.shape), None)
    if first.shape is None or other is not None:
        problems = [Problem(one.path, _held(one)) for one in (first, other or first)]
        hint = "name files of one kind of data, or the task with --task"
        raise ConfigError(problems, hint=hint)
    return first.shape


def _held(one: Seen) -> str:
    holds = {"ground_truth": "ground truth: ", "predictions": "predictions: ", "both": ""}
    what = _KINDS[one.shape].words if one.shape else "something unknown"
    return f"read as {holds[one.holds]}{what} ({one.format}, by its {one.basis})"


def _alone(inputs: Sequence[Seen]) -> Sequence[Seen]:
    if len(inputs) > 1:
        raise ConfigError(
            [Problem(one.path, _held(one)) for one in inputs],
            hint="name one file that lists ground truth and predictions",
        )
    return inputs


def _sides(inputs: Sequence[Seen]) -> tuple[Seen, Sequence[Seen]]:
    """Ground truth and predictions; the order decides unless the content tells."""
    if len(inputs) == 1:
        (one,) = inputs
        truth = one.holds == "predictions"
        missing = "ground truth is" if truth else "predictions are"
        files = f"GROUND_TRUTH {one.path}" if truth else f"{one.path} PREDICTIONS"
        problem = Problem(one.path, f"{_held(one)}; the {missing} missing")
        raise ConfigError(problem, hint=f"valor evaluate {files}")
    panoptic = FORMATS["coco_panoptic"]
    named = [one for one in inputs if one.written in CITYSCAPES]
    if len(named) == 1:
        return named[0], [one for one in inputs if one is not named[0]]
    if inputs[0].shape == "label_maps" or all(one.format == panoptic for one in inputs):
        return inputs[0], inputs[1:]  # Both sides look alike.
    truths = [one for one in inputs if one.holds == "ground_truth"]
    if not truths and inputs[0].shape == "scores":
        return inputs[0], inputs[1:]  # Labels may stand beside predictions on both sides.
    if len({one.label for one in inputs[1:]} - {""}) == 1 and truths == list(inputs):
        return inputs[0], inputs[1:]  # Labels alone: those of the models come after the true ones.
    if len(truths) != 1:
        problems = [Problem(one.path, _held(one)) for one in truths or inputs]
        raise ConfigError(problems, hint="name one ground truth, then the predictions")
    return truths[0], [one for one in inputs if one is not truths[0]]


def _written(inputs: Sequence[Seen]) -> tuple[list[Seen], str | dict[str, str]]:
    """The inputs as they are read, and what a config has to say of their format.

    Raises:
        ConfigError: Models have predictions in several of `CITYSCAPES`.
    """
    truth, *others = inputs
    if truth.written not in CITYSCAPES:
        written = {one.written for one in inputs} - {"", *CITYSCAPES}
        return [*inputs], written.pop() if written else ""
    # Most runs read no label maps.
    from valor_cli.data.formats.cityscapes import encoding_of_values

    forms = [one.written or encoding_of_values(label_values(one.path)) for one in others]
    read = [replace(one, format=FORMATS[form]) for one, form in zip(others, forms, strict=True)]
    if len(set(forms)) > 1:
        problems = [Problem(one.path, f"holds {one.format}") for one in read]
        raise ConfigError(problems, hint="evaluate models of one format at a time")
    said = {"ground_truth": truth.written, "predictions": forms[0]}
    return [truth, *read], said if len(set(said.values())) > 1 else truth.written


def _by_model(inputs: Sequence[Seen]) -> str | dict[str, str]:
    """A path, or a path for each model by what tells the paths apart."""
    names = [_model(one.path) for one in inputs]
    if len(inputs) == 1:
        path = inputs[0].path
        return path if names[0] == _stem(path) else {names[0]: path}
    if len(set(names)) < len(names):
        names = _apart([_parts(one.path) for one in inputs])
    if len(set(names)) < len(names):
        twice = next(inputs[at].path for at, one in enumerate(names) if one in names[:at])
        raise ConfigError(Problem(twice, "is named twice"), hint="name each input once")
    return dict(zip(names, (one.path for one in inputs), strict=True))


def _parts(path: str) -> list[str]:
    """The folders of a path, and its name without endings."""
    return [*os.path.dirname(bare(path).rstrip("/")).split("/"), _stem(path)]


def _apart(paths: Sequence[Sequence[str]]) -> list[str]:
    """Paths without the folders that they share."""
    shared = 0
    while all(len(one) > shared + 1 for one in paths) and len({one[shared] for one in paths}) == 1:
        shared += 1
    return ["/".join(one[shared:]) for one in paths]


def _model(path: str) -> str:
    """The name of a model as runs name it, or its folder's where that says nothing."""
    (name,) = model_paths(path)
    if name not in _UNTELLING or is_url(path):
        return name
    return os.path.basename(os.path.dirname(os.path.abspath(path))) or name


def _stem(path: str) -> str:
    """The name of a file or folder without its endings."""
    return os.path.basename(bare(path).rstrip("/")).split(".")[0]


def _beside(truth: Seen, predictions: Sequence[Seen], shape: Shape) -> dict[str, Any]:
    """Names of labels and images that lie beside the ground truth.

    Pixels of a label called "ignore", "void" or "unlabeled" do not count; of 255, if no label is.
    Labels without names are called like their pixel values. Cityscapes has its own.
    """
    if truth.written in CITYSCAPES:
        return {}
    folder = os.path.dirname(truth.path.rstrip("/"))
    if shape == "label_maps":
        files = (os.path.join(folder, name) for name in _NAMES_FILES)
        found = next(filter(os.path.isfile, files), None)
        names = {} if found is None else read_names(found)
        data: dict[str, Any] = {} if found is None else {"labels": found}
        inputs = [truth, *predictions]
        if found is None and all(is_folder(one.path) and one.written != "masks" for one in inputs):
            values = sorted({value for one in inputs for value in label_values(one.path)})
            # With 0 alone it is the other label of two.
            kept = [one for one in values if one != UNLABELLED or set(values) <= {0, UNLABELLED}]
            names = {value: str(value) for value in kept}
            data = {"labels": names} if names else {}
        ignored = [value for value, name in names.items() if _IGNORED.fullmatch(name)]
        if not ignored and UNLABELLED not in names:
            ignored = [UNLABELLED]
        return data | ({"ignore_index": ignored[0]} if len(ignored) == 1 else {})
    images = os.path.join(folder, _FOLDER_OF_IMAGES)
    own = truth.format == FORMATS["yolo"] or os.path.isdir(truth.path)  # has its images
    if shape == "objects" and not own and os.path.isdir(images):
        return {"images": images}
    return {}


def _shape_of(task: str) -> Shape:
    """What inputs of a task hold."""
    return next(shape for shape, kind in _KINDS.items() if task in kind.tasks)


def _task(shape: Shape, inputs: Sequence[Seen]) -> str:
    """The task of inputs: instances where every one of them has outlines."""
    tasks = _KINDS[shape].tasks
    return tasks[-1] if all(one.outline == "outline" for one in inputs) else tasks[0]


def _value(option: str, text: str) -> Any:
    """An entry of a list as YAML has it."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(
            Problem(option, "expected a name, or YAML such as {f1: {score_threshold: 0.3}}")
        ) from None


def _told(task: str, inputs: Sequence[Seen], shape: Shape, data: Mapping[str, Any]) -> str:
    """The task, the formats, how the inputs are joined, and which is the ground truth."""
    formats = " and ".join(dict.fromkeys(one.format for one in inputs))
    parts = [task.replace("_", " "), formats]
    if len(inputs) > 1 or "ground_truth" in data:
        parts.append(f"joined by {_KINDS[shape].joined}")
    if "ground_truth" in data:
        parts.append(f"ground truth: {data['ground_truth']}")
    beside = {name: data[name] for name in ("labels", "ignore_index", "images") if name in data}
    if isinstance(beside.get("labels"), dict):
        beside["labels"] = f"pixel values {', '.join(beside['labels'].values())}"
    parts += [f"{name}: {value}" for name, value in beside.items()]
    if inputs[0].written in CITYSCAPES:
        from valor_cli.data.formats.cityscapes import IGNORED_IDS, LABELS

        ignored = ", ".join(map(str, IGNORED_IDS))
        parts.append(f"labels: {', '.join(LABELS.values())} (ids {ignored} are ignored)")
    parts += [f"predicted labels: {name}" for name in data.get("columns", {}).values()]
    parts.append(f"95% intervals from {RESAMPLES} resamples")
    return " · ".join(parts)
