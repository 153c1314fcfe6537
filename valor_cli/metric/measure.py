"""What a name stands for: a metric, one of its outputs, and parameters that the name has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field


class Measure(Struct, frozen=True):
    """A value that a name like "mAP@0.75" stands for.

    Attributes:
        metric: The canonical name of its metric.
        output: Which output it is; None: the name leaves it open.
        parameters: What the metric has to be asked for.
        row: What the parameters of its row say, by which a gate finds it.
        note: What to warn of, where the name means something else to others.
    """

    metric: str
    output: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    row: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
