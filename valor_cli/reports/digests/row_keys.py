"""Rows of labels, grouped under the name that each label has in a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from valor_cli.reports.digests.naming import LABEL_KEY, frozen
from valor_cli.results import MetricResult, Parameters, ParameterValue

THRESHOLD = "score_threshold"
BY_LABEL = "by label"
"""Shown in place of one threshold per label."""


class LabelRows:
    """Per-label rows of a table, one line per label and label key.

    A label's key goes from the parameters into its name, and where every label has a threshold of
    its own, they make one column and not a column for each threshold.
    """

    def __init__(self, rows: Iterable[MetricResult]) -> None:
        self._keys: set[object] = set()
        thresholds: dict[object, set[object]] = {}
        labels: dict[object, set[object]] = {}
        repeated: set[object] = set()
        for row in rows:
            self._keys.add(row.parameters.get(LABEL_KEY))
            if row.label is None or THRESHOLD not in row.parameters:
                continue
            column = _column(row.metric, row.output, row.parameters)
            label = (row.label, row.slice, row.model, row.parameters.get(LABEL_KEY))
            thresholds.setdefault(column, set()).add(frozen({"": row.parameters[THRESHOLD]}))
            if label in labels.setdefault(column, set()):
                repeated.add(column)
            labels[column].add(label)
        self._merged = {
            column
            for column, values in thresholds.items()
            if len(values) > 1 and column not in repeated
        }

    def place(
        self, metric: str, output: str, label: str | None, parameters: Parameters
    ) -> tuple[str | None, Parameters]:
        """The label's name in the table and the parameters of its column."""
        if label is None:
            return None, parameters
        key = parameters.get(LABEL_KEY) if len(self._keys) > 1 else None
        name = label if key is None else f"{key}: {label}"
        rest: Mapping[str, ParameterValue] = {
            given: value for given, value in parameters.items() if given != LABEL_KEY
        }
        if self._merged and _column(metric, output, parameters) in self._merged:
            rest = {**rest, THRESHOLD: BY_LABEL}
        return name, rest

    def placed(self, row: MetricResult) -> MetricResult:
        """The row as named in the table."""
        if row.label is None:
            return row
        label, parameters = self.place(row.metric, row.output, row.label, row.parameters)
        return replace(row, label=label, parameters=parameters)


def _column(metric: str, output: str, parameters: Parameters) -> object:
    rest = {name: value for name, value in parameters.items() if name not in (THRESHOLD, LABEL_KEY)}
    return metric, output, frozen(rest)
