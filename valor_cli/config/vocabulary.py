"""`Vocabulary`: the tasks, metrics and keys that a config may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pydantic import BaseModel

FILTER_KEYS = ("label", "image_id", "sample_id")
"""What to filter by, beside `metadata.NAME`."""


def is_metadata(key: str) -> bool:
    """Whether a key is `metadata.NAME`, which filters and slices can use."""
    return key.startswith("metadata.") and key != "metadata."


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

    def parameters(self, task: str, metric: str) -> type[BaseModel]:
        """The strict model of a metric's parameters and threshold, by its canonical name."""

    def outputs(self, task: str, metric: str) -> Sequence[str]:
        """The outputs of a metric, by its canonical name."""

    def slice_values(self, task: str) -> Mapping[str, Sequence[str]]:
        """The slice keys other than `metadata.NAME`, with the values of each."""
