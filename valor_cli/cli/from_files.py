"""Run without a config: infer it from the files that the command line names."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from valor_cli.cli.output import Messages
from valor_cli.errors import ConfigError, Problem, ValorError

_YAML: Final = (".yaml", ".yml")
_DATASET: Final = re.compile(r"^(?:train|val|test|names|nc)\s*:", re.M)
_TASK: Final = re.compile(r"^[\"']?task\b", re.M)

_PLACE: Final = re.compile(r"config: (metric|gate)s\.\d+")
_KEYS: Final = tuple(
    (re.compile(pattern, re.M), option)
    for pattern, option in (
        (r"under `data: (\w+):`, as (\{[^{}]*\})", r"with --set 'data.\1=\2'"),
        (r"set `(\w+): (\w+)` under `data:`", r"add --set data.\1=\2"),
        (r"under `data: (\w+):`", r"with --set 'data.\1=[…]'"),
        (r"`(\w+):` under `data:`", r"--set 'data.\1=…'"),
        (r"^(\w+): (\{.*\})$", r"--set '\1=\2'"),
        (r" in the config, for example:", ", for example:"),
        (r", and the config names none", ", and none is named"),
    )
)
"""What messages say of keys of a config, and the options that set them."""


_MODELS: Final = {
    "embedder": "an embedder",
    "language model": "a language model",
    "classifier": "a classifier",
    "judge": "a judge",
}
_ASKING: Final = {
    "by a language model": " --set language_model.model=smollm2-135m",
    "by a judge": " --set 'judge={backend: litellm, model: openai/gpt-4o-mini}'",
}


def are_configs(paths: Sequence[str], given: Mapping[str, object]) -> bool:
    """Whether paths are configs, and not data.

    Args:
        paths: Those of the command line.
        given: Options that are for data alone, by name.

    Raises:
        ConfigError: Some are configs and some are data, or an option is not for configs.
    """
    for path in filter(_is_promptfoo, paths):
        problem = Problem(path, "is output of promptfoo, which is read as JSON")
        raise ConfigError(problem, hint="promptfoo eval -o output.json")
    configs = [path for path in paths if _is_config(path)]
    if not configs:
        return False
    if len(configs) < len(paths):
        data = next(path for path in paths if path not in configs)
        problem = Problem(data, f"no YAML config, but {configs[0]} is one")
        raise ConfigError(problem, hint="name configs, or ground truth and predictions")
    used = next((name for name, value in given.items() if value), None)
    if used is not None:
        problem = Problem(used, "is for files without a config")
        raise ConfigError(problem, hint=f"write it into {configs[0]}, or use --set")
    return True


def _is_promptfoo(path: str) -> bool:
    """Whether a path is a YAML file with the results of promptfoo."""
    if not path.lower().endswith(_YAML):
        return False
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.readline().startswith("evalId:")
    return False


def _is_config(path: str) -> bool:
    """Whether a path is a YAML file other than the data.yaml of a YOLO data set."""
    if not path.lower().endswith(_YAML):
        return False
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True  # The error says that it is missing.
    return _DATASET.search(text) is None or _TASK.search(text) is not None


def config_of(
    paths: Sequence[str],
    task: str | None,
    metrics: Sequence[str],
    gates: Sequence[str],
    save: str | None,
    talk: Messages,
) -> Mapping[str, Any]:
    """The config that files stand for; it is said, and written where that is asked for.

    Raises:
        ConfigError: It cannot be inferred, or its file is there already.
        DataError: An input cannot be read, or the config cannot be written.
    """
    from valor_cli.pipeline.inference import infer

    inferred = infer(paths, task=task, metrics=metrics, gates=gates)
    talk.tell(inferred.told)
    if save is not None:
        write_config(inferred.config, save)
        talk.tell(f"wrote {save}: valor evaluate {save}")
    return inferred.config


def further(name: str) -> str:
    """Metrics that a task leaves out by default, as they cost more, with the options for them.

    Args:
        name: The task.
    """
    from valor_cli import catalogue
    from valor_cli.cli.catalogue_text import asked_by

    task = catalogue.task(name)
    lines: dict[str, str] = {}
    if task.by_sample and task.by_sample not in task.defaults:
        lines["values of every sample"] = task.by_sample
    for metric in task.metrics:
        for model in _MODELS.keys() & asked_by(metric):
            lines.setdefault(f"by {_MODELS[model]}", metric.name)
    if not lines:
        return ""
    width = max(map(len, lines))
    told = [
        f"  {what:<{width}}  --metric {metric}{_ASKING.get(what, '')}"
        for what, metric in lines.items()
    ]
    return "\n".join(
        ["Not computed by default:", *told, f"  all metrics: valor metrics --task {task.name}"]
    )


def in_options(error: ValorError) -> ValorError:
    """An error that names options in place of places in a config that nobody wrote."""
    problems = []
    for one in error.problems:
        found = _PLACE.match(one.place)
        place = f"--{found[1]}" if found else one.place
        problems.append(replace(one, place=place, message=_as_options(one.message)))
    return type(error)(problems, total=error.total, hint=_as_options(error.hint))


def _as_options(text: str) -> str:
    for pattern, option in _KEYS:
        text = pattern.sub(option, text)
    return text


def write_config(config: Mapping[str, Any], path: str) -> None:
    """Write a config as YAML to a file that is not there yet.

    Raises:
        ConfigError: It is there already.
        DataError: It cannot be written.
    """
    if os.path.lexists(path):
        raise ConfigError(Problem(path, "exists already"), hint="name another file")
    from valor_cli.pipeline.inference.yaml_text import yaml_text
    from valor_cli.reports.writer import write_file

    write_file(Path(path), yaml_text(config, path).encode())
