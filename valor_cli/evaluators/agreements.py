"""Inter-rater agreement between judges and between the repeats of a judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import nulls
from valor_cli.results import MetricAgreement, Scalar
from valor_cli.statistics.agreement import fleiss_kappa, krippendorff_alpha

Floats = NDArray[np.float64]

SHOWN = 20
"""Disagreements that are listed."""

_SAME = 1e-9
"""Values that differ by less are the same."""


def agreements_of(
    raters: Mapping[tuple[str, int], Floats], sample_ids: Sequence[Scalar], *, rated: bool
) -> tuple[MetricAgreement, ...]:
    """Agreement between the judges, or between the repeats of one judge.

    Args:
        raters: By judge and number of the repeat, (n,) what each found; NaN: nothing.
        sample_ids: (n,) of what.
        rated: Whether values are verdicts, 0 or 1, unless some are neither.
    """
    if not raters:
        return ()
    return tuple(_found(raters, sample_ids, rated))


def _found(
    raters: Mapping[tuple[str, int], Floats], sample_ids: Sequence[Scalar], rated: bool
) -> Iterator[MetricAgreement]:
    judges: dict[str, list[Floats]] = {}
    for (judge, _), values in raters.items():
        judges.setdefault(judge, []).append(values)
    everything = np.concatenate(list(raters.values()))
    verdicts = rated and bool(np.isin(everything[~np.isnan(everything)], (0, 1)).all())
    if len(judges) > 1:
        voices = [_mean(own, verdicts) for own in judges.values()]
        yield _agreement("judges", None, tuple(judges), voices, sample_ids, verdicts)
    for judge, own in judges.items():
        if len(own) > 1:
            names = tuple(str(number + 1) for number in range(len(own)))
            yield _agreement("repeats", judge, names, own, sample_ids, verdicts)


def _mean(columns: Sequence[Floats], verdicts: bool) -> Floats:
    """What a judge's repeats found together; verdicts by majority, of ties the failing one."""
    known = ~np.isnan(columns)
    total = np.nansum(columns, axis=0)
    with np.errstate(invalid="ignore"):
        mean = total / known.sum(0)
    return np.where(np.isnan(mean), np.nan, mean > 0.5) if verdicts else np.asarray(mean)


def _agreement(
    kind: str,
    judge: str | None,
    names: Sequence[str],
    columns: Sequence[Floats],
    sample_ids: Sequence[Scalar],
    verdicts: bool,
) -> MetricAgreement:
    values = np.array(columns)
    everyone = ~np.isnan(values).any(axis=0)
    told = values[:, everyone]
    n = told.shape[1]
    apart = np.ptp(told, axis=0)
    differ = np.flatnonzero(apart > _SAME)
    order = differ[np.argsort(-apart[differ], kind="stable")]
    where = np.flatnonzero(everyone)[order].tolist()
    if verdicts:
        passed = told.sum(axis=0).astype(np.int64)
        counts = np.stack([len(columns) - passed, passed], axis=1)
        coefficient, statistic = fleiss_kappa(counts), "Fleiss' kappa"
    else:
        coefficient, statistic = krippendorff_alpha(values), "Krippendorff's alpha"
    means = [column[~np.isnan(column)] for column in values]
    return MetricAgreement(
        kind="judges" if kind == "judges" else "repeats",
        judge=judge,
        raters=tuple(names),
        values=nulls(np.array([one.mean() if len(one) else np.nan for one in means])),
        n=n,
        agreement=float((apart <= _SAME).mean()) if n else None,
        coefficient=coefficient,
        statistic=statistic,
        spread=float(apart.mean()) if n else None,
        disagreements=tuple(sample_ids[at] for at in where[:SHOWN]),
        disagreeing=len(differ),
    )
