"""Values of units in; intervals, tests and verdicts in plain loops with numpy and scipy, out.

Nothing of the package is used: what it says is held against this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
Rows = Sequence[Mapping[str, Any]]
Values = Sequence[float | None]


def one(rows: Rows, metric: str, output: str = "value", **where: Any) -> Mapping[str, Any]:
    """The one row that fits."""
    wanted = {"metric": metric, "output": output, "label": None, "slice": None, **where}
    found = [row for row in rows if wanted.items() <= row.items()]
    assert len(found) == 1, (wanted, len(found))
    return found[0]


def drawn(
    count: int, seed: int, resamples: int, groups: Sequence[object] | None = None
) -> list[list[int]]:
    """By resample, the positions of the units in it; whole groups, as they first stand."""
    members: dict[object, list[int]] = {}
    for at in range(count):
        name = None if groups is None else groups[at]
        members.setdefault(("alone", at) if name is None else ("group", name), []).append(at)
    clusters = list(members.values())
    found = []
    for number in range(resamples):
        picked = np.random.default_rng([seed, number]).integers(0, len(clusters), len(clusters))
        found.append([at for which in picked.tolist() for at in clusters[which]])
    return found


def percentiles(values: Sequence[float], level: float) -> list[float] | None:
    """The central range of the values; None where more than one in twenty is none."""
    known = [value for value in values if not np.isnan(value)]
    if len(known) < 0.95 * len(values):
        return None
    return [float(np.quantile(known, part)) for part in ((1 - level) / 2, (1 + level) / 2)]


def centred(means: Sequence[float], by_label: Sequence[Values], whole: Values) -> list[float]:
    """Means over labels at resamples, less what missing labels shift them by on average.

    Args:
        means: Of each resample.
        by_label: In each resample, of each label; None: it is missing.
        whole: The same in all data.
    """
    shifts = []
    for mean, row in zip(means, by_label, strict=True):
        filled = []
        for own, of_all in zip(row, whole, strict=True):
            if of_all is not None:
                filled.append(of_all if own is None else own)
        shifts.append(mean - sum(filled) / len(filled))
    shift = sum(shifts) / len(shifts)
    return [min(max(mean - shift, 0.0), 1.0) for mean in means]


def wilson(successes: int, n: int, level: float) -> list[float]:
    """Wilson's interval, from scipy."""
    found = stats.binomtest(successes, n).proportion_ci(level, method="wilson")
    return [float(found.low), float(found.high)]


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Each p-value times how many are no smaller, and never less than those of smaller ones."""
    made = sorted(one for one in p if one is not None)
    scaled = [(value, value * (len(made) - rank)) for rank, value in enumerate(made)]
    return [
        None if own is None else min(1.0, max(more for value, more in scaled if value <= own))
        for own in p
    ]


def bootstrap_p(differences: Sequence[float], observed: float, units: int) -> float:
    """The larger of two counts of resamples; no less than changing signs could reach."""
    known = [value for value in differences if not np.isnan(value)]
    middle = sum(known) / len(known)
    far = sum(abs(value - middle) >= abs(observed) for value in known)
    no_more = sum(value <= 0 for value in known)
    no_less = sum(value >= 0 for value in known)
    count = max(far, 2 * min(no_more, no_less))
    return max(min(1.0, (count + 1) / (len(known) + 1)), 2.0 ** (1 - units))


def signs_p(differences: Floats) -> tuple[float, float]:
    """The p-value of changing signs by scipy, and its standard error: 0 where all were tried."""
    differing = differences[differences != 0]
    if len(differing) < 2:
        return 1.0, 0.0
    tried = 20_000
    found = stats.permutation_test(
        (differing,),
        lambda values, axis: values.sum(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf if len(differing) <= 14 else tried,
        vectorized=True,
        rng=np.random.default_rng(0),
    )
    p = float(found.pvalue)
    return p, 0.0 if len(differing) <= 14 else float(np.sqrt(p * (1 - p) * (1 / tried + 1 / 9999)))


def check_paired(
    row: Mapping[str, Any],
    own: Mapping[str, float | None],
    other: Mapping[str, float | None],
    *,
    seed: int,
    resamples: int,
    groups: Mapping[str, object] | None = None,
) -> None:
    """Hold a comparison of means against the values of single samples, by id."""
    ids = sorted(name for name in own if own[name] is not None and other.get(name) is not None)
    named = {*own, *other}
    alone = sum((own.get(name) is None) != (other.get(name) is None) for name in named)
    here = np.array([own[name] for name in ids], np.float64)
    there = np.array([other[name] for name in ids], np.float64)
    apart = here - there
    assert (row["n"], row["unpaired"]) == (len(ids), alone)
    close([row["value"], row["other_value"]], [here.mean(), there.mean()])
    close(row["difference"], here.mean() - there.mean())
    above, below = int((apart > 0).sum()), int((apart < 0).sum())
    wins, losses = (below, above) if row["direction"] == "lower" else (above, below)
    assert (row["wins"], row["losses"], row["ties"]) == (wins, losses, len(ids) - wins - losses)
    clusters = None if groups is None else [groups[name] for name in ids]
    if clusters is None and {*here.tolist(), *there.tolist()} <= {0.0, 1.0}:
        assert row["test"] == "mcnemar"
        trials = above + below
        close(row["p"], stats.binomtest(above, trials).pvalue if trials else 1.0)
        effect: float | None = above / trials - 0.5 if trials else None
    else:
        assert row["test"] == "sign_permutation"
        p, error = signs_p(_sums(apart, clusters))
        # A draw more or less is one in 10,000.
        assert abs(row["p"] - p) <= (4.5 * error + 2e-4 if error else 1e-12)
        effect = float(apart.mean() / apart.std(ddof=1)) if np.ptp(apart) > 0 else None
    close(row["effect"], effect)
    means = [float(apart[at].mean()) for at in drawn(len(ids), seed, resamples, clusters)]
    close(row["interval"], percentiles(means, row["level"]))


def _sums(apart: Floats, clusters: Sequence[object] | None) -> Floats:
    if clusters is None:
        return apart
    sums: dict[object, float] = {}
    for at, (name, value) in enumerate(zip(clusters, apart.tolist(), strict=True)):
        key = ("alone", at) if name is None else ("group", name)
        sums[key] = sums.get(key, 0.0) + value
    return np.array(list(sums.values()))


def check_verdicts(rows: Rows, primary: Sequence[Sequence[str]]) -> None:
    """Hold adjusted p-values and verdicts of a pair of models against Holm's method.

    Labels, which are compared by one measure, are adjusted among themselves.
    """
    labels = [row for row in rows if row["label"] is not None]
    if labels and len(labels) < len(rows):
        check_verdicts(labels, ())
        rows = [row for row in rows if row["label"] is None]
    headline = {tuple(name) for name in primary}
    own = [row["p"] if (row["metric"], row["output"]) in headline else None for row in rows]
    if not any(p is not None for p in own):
        own = [row["p"] for row in rows]
    for row, adjusted in zip(rows, holm(own), strict=True):
        close(row["p_adjusted"], adjusted)
        p = row["p"] if adjusted is None else adjusted
        verdict = "not tested" if p is None else "cannot tell"
        if p is not None and p < round(1 - row["level"], 12) and row["difference"]:
            higher = (row["difference"] > 0) == (row["direction"] == "higher")
            verdict = "better" if higher else "worse"
        assert row["verdict"] == verdict, row


def check_resampled(
    row: Mapping[str, Any], differences: Sequence[float], observed: float, units: int
) -> None:
    """Hold a comparison by resamples against the differences at each."""
    assert (row["test"], row["wins"], row["effect"]) == ("paired_bootstrap", None, None)
    close(row["difference"], observed)
    close(row["p"], bootstrap_p(differences, observed, units))
    close(row["interval"], percentiles(differences, row["level"]))


def close(found: Any, expected: Any, within: float = 1e-9) -> None:
    """The same numbers, one or several; or both none."""
    if found is None or expected is None:
        assert (found, expected) == (None, None)
        return
    np.testing.assert_allclose(found, expected, rtol=0, atol=within)


def parts(
    metadata: Rows, conditions: Mapping[str, Mapping[str, Callable[[Any], bool]]], min_size: int
) -> dict[str, NDArray[np.bool_]]:
    """The samples of each part that is large enough, by one condition or two; none twice."""
    single = {
        key: {
            f"metadata.{key}={name}": np.array([holds(one.get(key)) for one in metadata])
            for name, holds in of_key.items()
        }
        for key, of_key in conditions.items()
    }
    every = {name: mask for of_key in single.values() for name, mask in of_key.items()}
    for first, second in combinations(single.values(), 2):
        for name, mask in first.items():
            every |= {f"{name} & {more}": mask & also for more, also in second.items()}
    seen: dict[bytes, str] = {}
    for name, mask in every.items():
        if min_size <= mask.sum() <= len(metadata) - min_size:
            seen.setdefault(mask.tobytes(), name)
    return {name: every[name] for name in seen.values()}


def lower_p(values: Floats, inside: NDArray[np.bool_]) -> float:
    """The larger p-value of Student's and of Welch's test that those inside are no lower."""
    sides = values[inside], values[~inside]
    return max(
        float(stats.ttest_ind(*sides, equal_var=equal, alternative="less").pvalue)
        for equal in (True, False)
    )
