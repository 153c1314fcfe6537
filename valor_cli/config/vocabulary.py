"""The names a config may use: those of any task, and a `Vocabulary` to ask for all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pydantic import BaseModel

FILTER_KEYS = ("label", "image_id", "sample_id")
"""What to filter by, beside `metadata.NAME`."""


def is_metadata(key: str) -> bool:
    """Whether a key is `metadata.NAME`, which may filter and slice."""
    return key.startswith("metadata.") and key != "metadata."


class Vocabulary(Protocol):
    """The tasks, and what each of them has."""

    def task_names(self) -> Sequence[str]:
        """All tasks."""

    def inputs(self, task: str) -> type[BaseModel]:
        """The model of the task's `data:`; `context["folder"]` is what its paths start from."""

    def options(self, task: str) -> type[BaseModel]:
        """The model of the keys that the task adds to the top of a config."""

    def metric_names(self, task: str) -> Mapping[str, str]:
        """Every accepted name of a metric, aliases included, with its canonical name."""

    def parameters(self, task: str, metric: str) -> type[BaseModel]:
        """The strict model of a metric's parameters and threshold, by its canonical name."""

    def outputs(self, task: str, metric: str) -> Sequence[str]:
        """The outputs of a metric, by its canonical name."""

    def slice_values(self, task: str) -> Mapping[str, Sequence[str]]:
        """The slice keys beside `metadata.NAME`, with the values of each."""
