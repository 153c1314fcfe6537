"""Write a config as YAML with comments on what else it can say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

import yaml

from valor_cli import catalogue
from valor_cli.paths import is_url

_LATER: Final = """
# slices: auto                            # search for the worst slices; or [metadata.camera]
# gates:                                  # exit code 1 if a value misses its limit
#   - {metric: %s, min: 0.5}
# report: {formats: [json, markdown, html]}
"""


def yaml_text(config: Mapping[str, Any], path: str) -> str:
    """The YAML file of a config.

    Args:
        config: What it holds; paths are relative to the current folder.
        path: Where it will stand: its paths are relative to its folder.
    """
    folder = os.path.dirname(os.path.abspath(path))
    task = catalogue.task(config["task"])
    shown = {**config, "data": _moved(config["data"], folder)}
    if "metrics" in config:
        shown["metrics"] = [_moved_metric(one, folder) for one in config["metrics"]]
    parts = [f"# Run it:   valor evaluate {path}", _dumped({"task": shown.pop("task")})]
    parts.append(_dumped({"data": shown.pop("data")}))
    if "metrics" not in shown:
        parts += [
            f"# metrics:                                # all: valor metrics --task {task.name}"
        ]
        parts += [f"#   - {name}" for name in task.defaults]
    parts.append(_dumped(shown))
    return "\n".join(parts) + _LATER % (task.defaults[0])


def _dumped(part: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(part), sort_keys=False, allow_unicode=True, width=100)


def _moved_metric(metric: Any, folder: str) -> Any:
    """An entry of `metrics:`, the file of an own one as seen from a folder."""
    function = metric.get("python") if isinstance(metric, Mapping) else None
    if not isinstance(function, str):
        return metric
    file, _, name = function.rpartition(":")
    return {**metric, "python": f"{_moved(file, folder)}:{name}"} if file[-3:] == ".py" else metric


def _moved(value: Any, folder: str) -> Any:
    """Paths as seen from a folder; names of formats and labels stay."""
    if isinstance(value, Mapping):
        named = {"format"} | {name for name, one in value.items() if isinstance(one, Mapping)}
        named -= {"predictions", "samples"}
        return {name: one if name in named else _moved(one, folder) for name, one in value.items()}
    if not isinstance(value, str) or is_url(value) or os.path.isabs(value) or value == "-":
        return value
    return os.path.relpath(value, folder)
