"""Align per-sample values of two models by sample id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from valor_cli.pipeline.intervals.resamples import Ints, clusters_of
from valor_cli.results import (
    MetricResult,
    MetricSamples,
    MetricValue,
    RunResult,
    SamplesResult,
    Scalar,
)
from valor_cli.results.identity import frozen

Floats = NDArray[np.float64]

_ROUNDING = 1e-9
"""Relative tolerance between a value and its mean of samples, which is summed differently."""

_READ = ("ok", "parse_failure")
"""Statuses in the denominator of a rate: judged samples, and those with an unusable reply."""


class Aligned(Struct, frozen=True):
    """Samples of two models in one order, by id.

    Attributes:
        sample_ids: (n,) of both.
        clusters: (n,) the cluster of each, from 0; None if there are none.
    """

    sample_ids: Sequence[Scalar]
    clusters: Ints | None
    _places: Mapping[tuple[type, Scalar], int]
    _known: dict[int, tuple[Sequence[Scalar], Ints]] = field(default_factory=dict)

    @staticmethod
    def of(samples: Sequence[SamplesResult]) -> Aligned:
        """Align the samples of several metrics; if both sides have groups, the first one's are
        used.
        """
        groups: dict[tuple[type, Scalar], Scalar] = {}
        keys: dict[tuple[type, Scalar], None] = {}
        done: list[Sequence[Scalar]] = []
        for one in samples:
            if one.groups is None and any(ids is one.sample_ids for ids in done):
                continue
            done.append(one.sample_ids)
            own = list(zip(map(type, one.sample_ids), one.sample_ids, strict=True))
            keys |= dict.fromkeys(own)
            for key, group in zip(own, one.groups or (), strict=False):
                groups.setdefault(key, group)
        ordered = sorted(keys, key=_sortable)
        grouped = any(group is not None for group in groups.values())
        clusters = clusters_of([groups.get(key) for key in ordered]) if grouped else None
        places = {key: at for at, key in enumerate(ordered)}
        return Aligned([name for _, name in ordered], clusters, places)

    def column(self, samples: SamplesResult, values: Floats) -> Floats:
        """(n,) the values in this order; NaN where missing."""
        key = id(samples.sample_ids)
        if key not in self._known:
            keys = zip(map(type, samples.sample_ids), samples.sample_ids, strict=True)
            at = np.array([self._places[one] for one in keys], np.int64)
            # The ids are kept with it: while they live, no others have their number.
            self._known[key] = samples.sample_ids, at
        whole = np.full(len(self._places), np.nan)
        whole[self._known[key][1]] = values
        return whole


def _sortable(key: tuple[type, Scalar]) -> tuple[str, object]:
    """A sort key for ids of mixed types."""
    kind, name = key
    return kind.__name__, "" if name is None else name


def samples_of(result: RunResult, row: MetricResult) -> SamplesResult | None:
    """The per-sample values behind a row, if any."""
    found = samples_of_metric(result, row)
    return found if found is not None and row.output in found.columns else None


def samples_of_metric(result: RunResult, row: MetricResult) -> SamplesResult | None:
    """The per-sample values of a row's metric, for any output, if there are any.

    A row's parameters may have more than the requested ones, or differ from them: the model that
    was used, if none or another name of it was given. So the call with the most in common
    is chosen; None if two have equally much.
    """
    kind = set(frozen(row.parameters))
    found = [
        (len(kind.intersection(frozen(one.parameters))), one)
        for one in result.samples
        if one.metric == row.metric and one.model == row.model
    ]
    most = max((shared for shared, _ in found), default=0)
    closest = [one for shared, one in found if shared == most]
    return closest[0] if len(closest) == 1 else None


def same_samples(own: SamplesResult, their: SamplesResult) -> bool:
    """Whether two runs have the same values for the same samples, in any order."""
    return _said(own) == _said(their)


def _said(samples: SamplesResult) -> dict[object, object]:
    """By sample, its values and its status."""
    said = zip(*samples.columns.values(), samples.statuses or samples.undefined, strict=True)
    keys = zip(map(type, samples.sample_ids), samples.sample_ids, strict=True)
    return dict(zip(keys, said, strict=True))


def judged(samples: SamplesResult) -> NDArray[np.bool_]:
    """(n,) which samples an overall value is computed from."""
    if samples.statuses is not None:
        return np.array([status == "ok" for status in samples.statuses], bool)
    return np.array([one is not None for one in next(iter(samples.columns.values()))], bool)


def known(samples: SamplesResult | MetricSamples, output: str) -> Floats:
    """(n,) the values of one output; NaN where missing."""
    return np.array(samples.columns[output], np.float64)


def means(
    samples: SamplesResult | MetricSamples, output: str, value: float | None
) -> Mapping[str, Floats]:
    """The outputs of a column whose mean is the value; empty if it is not a mean of samples.

    "valued" is the column itself. In "read", a sample with an input but no value
    counts as 0, as in rates: an unusable reply does not pass.

    Args:
        samples: The values.
        output: The column.
        value: The overall value: a mean, or not, such as corpus BLEU.
    """
    column = known(samples, output)
    whole = not np.isnan(column).any()
    found = {}
    if _is_mean(column, value):
        found = {"valued": column, "read": column} if whole else {"valued": column}
    if not whole and samples.statuses is not None:
        was_read = np.array([status in _READ for status in samples.statuses], bool)
        filled = np.where(was_read & np.isnan(column), 0.0, column)
        if _is_mean(filled, value):
            found["read"] = filled
    return found


def told_by_samples(samples: MetricSamples | None, value: MetricValue) -> bool:
    """Whether per-sample values suffice to compare a value with another run's."""
    if samples is None or value.output not in samples.columns:
        return False
    if value.value is None:
        return True
    # What all samples have is the mean of anything: BLEU of a corpus without an error, too.
    column = known(samples, value.output)
    # Not np.unique, whose plain form imports all of numpy.ma: 8 ms.
    valued = column[~np.isnan(column)]
    varied = len(valued) > 0 and bool((valued != valued[0]).any())
    return varied and bool(means(samples, value.output, value.value))


def _is_mean(column: Floats, value: float | None) -> bool:
    valued = column[~np.isnan(column)]
    if value is None or not len(valued):
        return False
    slack = _ROUNDING * abs(value) + 1e-12 * float(np.abs(valued).mean())
    return abs(float(valued.mean()) - value) <= slack
