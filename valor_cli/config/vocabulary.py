"""`Vocabulary`: the tasks, metrics and keys that a config may use."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel

if TYPE_CHECKING:
    from valor_cli.metric import Measure, Metric

FILTER_KEYS = ("label", "image_id", "sample_id")
"""What to filter by, beside `metadata.NAME`."""

METADATA = "metadata."


def is_metadata(key: str) -> bool:
    """Whether a key is `metadata.NAME`, which filters and slices can use."""
    return key.startswith(METADATA) and key != METADATA


class Vocabulary(Protocol):
    """The tasks, metrics and keys that configs may use."""

    def task_names(self) -> Sequence[str]:
        """All tasks."""

    def inputs(self, task: str) -> type[BaseModel]:
        """The model of the task's `data:`; paths are relative to `context["folder"]`."""

    def options(self, task: str) -> type[BaseModel]:
        """The model of the keys that the task adds to the top of a config."""

    def metric_names(self, task: str) -> Mapping[str, str]:
        """Every accepted name of a metric, aliases included, with its canonical name."""

    def measure(self, task: str, name: str, given: Collection[str] = ()) -> Measure | None:
        """What a name stands for; None if it is unknown.

        `given` are the parameters given beside it, and "label" if it is asked of one label.
        """

    def parameters(self, task: str, metric: str) -> type[BaseModel]:
        """The strict model of a metric's parameters and threshold, by its canonical name."""

    def own_metric(
        self, task: str, written: str, folder: Path, name: str | None = None
    ) -> Metric[Any]:
        """The metric of a function of the user's: its code is loaded, from `folder`.

        Raises:
            ConfigError: It cannot be.
        """

    def composite_metric(
        self, task: str, name: str, asked: Mapping[str, Any], own: Mapping[str, Metric[Any]]
    ) -> Metric[Any]:
        """The metric of a composite of a task's metrics and own ones.

        Raises:
            ConfigError: Its parts cannot be put together.
        """

    def named_metric(self, task: str, metric: str, name: str) -> Metric[Any]:
        """A metric of the task, under a name of the user's."""

    def parameters_of(self, found: Metric[Any]) -> type[BaseModel]:
        """The strict model of the parameters and threshold of such a metric."""

    def outputs(self, task: str, metric: str) -> Sequence[str]:
        """The outputs of a metric, by its canonical name."""

    def slice_values(self, task: str) -> Mapping[str, Sequence[str]]:
        """The slice keys other than `metadata.NAME`, with the values of each."""
