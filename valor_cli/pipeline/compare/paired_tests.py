"""Paired tests and intervals for differences between two models."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log2

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.pipeline.compare.paired_rows import PairedRow, Sides
from valor_cli.pipeline.compare.paired_samples import Floats
from valor_cli.pipeline.intervals.resamples import Ints
from valor_cli.results import Effect, PairedTest
from valor_cli.statistics.bootstrap import mean_intervals, percentile_intervals
from valor_cli.statistics.paired import bootstrap_p, cohens_d, cohens_g, mcnemar, sign_permutation

_MOST_DRAWN = 20_000_000
_LEAST_RESAMPLES = 200
"""Limit of samples times resamples of an interval, and the minimum number of resamples."""


class Tested(Struct, frozen=True):
    """A comparison of two values; attributes as in `ComparisonResult`.

    Attributes:
        pair: The compared values.
        drawn: The units whose signs are permuted: "samples", or "groups" of them.
        units: Number of units the resamples are drawn from; None if unknown.
        differing: Number of units, or of resamples, that differ.
    """

    pair: PairedRow
    value: float | None
    other_value: float | None
    interval: tuple[float, float] | None = None
    n: int | None = None
    wins: int | None = None
    losses: int | None = None
    ties: int | None = None
    unpaired: int = 0
    test: PairedTest | None = None
    p: float | None = None
    effect: float | None = None
    effect_kind: Effect | None = None
    drawn: str = "samples"
    units: int | None = None
    differing: int = 0
    reason: str | None = None

    @property
    def difference(self) -> float | None:
        """The value minus the other value."""
        if self.value is None or self.other_value is None:
            return None
        return self.value - self.other_value

    def why_not(self, tests: int, chance: float) -> str | None:
        """Why the test could not have detected a difference, whatever the data.

        Args:
            tests: Number of values that the p-value is adjusted for.
            chance: The significance level.
        """
        resampled = self.test == "paired_bootstrap"
        if not self.differing:
            return "no resample differs" if resampled else "no sample differs"
        among = "" if tests == 1 else f" among {tests} values"
        takes = "it takes {:,} to tell" + among
        # With m that differ, all to the same side, it is 2 / 2^m.
        least = floor(log2(tests / chance)) + 2
        if resampled:
            return self._too_few(least, floor(tests / chance), takes)
        what = self.drawn if self.differing != 1 else self.drawn.removesuffix("s")
        differ = "differs" if self.differing == 1 else "differ"
        message = f"only {self.differing:,} {what} {differ}: {takes.format(least)}"
        return message if self.differing < least else None

    def _too_few(self, units: int, resamples: int, takes: str) -> str | None:
        """Whether there are too few units, or resamples, for a significant p-value."""
        if self.units is not None and self.units < units:
            what = self.drawn if self.units != 1 else self.drawn.removesuffix("s")
            return f"only {self.units:,} {what}: {takes.format(units)}"
        # The smallest p-value of so many is 1 / (resamples + 1).
        count = 0 if self.pair.resampled is None else int(_known(self.pair.resampled).sum())
        message = f"{count:,} resamples are too few: {takes.format(resamples)}"
        return message if count < resamples else None


def tested(sides: Sides, rows: Sequence[PairedRow], clusters: Ints | None) -> list[Tested]:
    """Each value with its test, if there is one.

    Args:
        sides: The two models.
        rows: From `paired_rows`.
        clusters: (n,) the cluster of each sample.
    """
    at = [number for number, row in enumerate(rows) if row.columns is not None]
    found = [_by_resamples(sides, row, clusters) for row in rows]
    for number, one in zip(at, _by_samples(sides, [rows[n] for n in at], clusters), strict=True):
        found[number] = one
    return found


def _by_samples(sides: Sides, rows: Sequence[PairedRow], clusters: Ints | None) -> list[Tested]:
    """Test all columns with the same random signs and resamples."""
    if not rows:
        return []
    both = np.array([row.columns for row in rows])
    # Those that one side has alone would be drawn, and count for nothing.
    paired = np.flatnonzero(_known(both).all(1).any(0))
    inside = None if clusters is None else np.unique(clusters[paired], return_inverse=True)[1]
    found = [
        _held(sides, row, columns, paired, inside) for row, columns in zip(rows, both, strict=True)
    ]
    differences = (both[:, 0] - both[:, 1])[:, paired].T
    count = max(len(differences), 1)
    intervals = mean_intervals(
        differences,
        resamples=min(sides.resamples, max(_LEAST_RESAMPLES, _MOST_DRAWN // count)),
        level=sides.level,
        seed=sides.seed,
        clusters=inside,
    )
    found = [replace(one, interval=around) for one, around in zip(found, intervals, strict=True)]
    signed = [at for at, one in enumerate(found) if one.test == "sign_permutation"]
    if signed:
        p = sign_permutation(differences[:, signed], seed=sides.seed, clusters=inside)
        for at, chance in zip(signed, p.tolist(), strict=True):
            found[at] = replace(found[at], p=chance)
    return found


def _held(
    sides: Sides, row: PairedRow, columns: Floats, paired: Ints, clusters: Ints | None
) -> Tested:
    """Compare one value over the samples of both; with a p-value if it needs no random signs.

    Args:
        sides: The two models.
        row: The value.
        columns: (2, n) of the candidate and the baseline.
        paired: Positions of the samples that any value has on both sides.
        clusters: (paired,) of these.
    """
    here = _known(columns)
    n, unpaired = int(here.all(0).sum()), int((here[0] ^ here[1]).sum())
    if not n:
        reason = f"no sample of {sides.model} is in {sides.where}: evaluate both on the same data"
        return Tested(row, row.row.value, row.other.value, unpaired=unpaired, reason=reason)
    differences = columns[0] - columns[1]
    above, below = int((differences > 0).sum()), int((differences < 0).sum())
    differing = above + below
    if clusters is not None:
        sums = np.bincount(clusters, np.nan_to_num(differences[paired]))
        differing = int((sums != 0).sum())
    value, other, why = row.row.value, row.other.value, ""
    if unpaired:
        value, other = columns[:, here.all(0)].mean(1).tolist()
        both = "sample" if n == 1 else f"{n:,} samples"
        has = "has" if unpaired == 1 else "have"
        why = f"over the {both} that both have; {unpaired:,} {has} it on one side only"
    lower = row.row.direction == "lower"
    held = Tested(
        pair=row,
        value=value,
        other_value=other,
        n=n,
        wins=below if lower else above,
        losses=above if lower else below,
        ties=n - above - below,
        unpaired=unpaired,
        drawn="samples" if clusters is None else "groups",
        differing=differing,
        reason=why or None,
    )
    pairs = columns[:, here.all(0)]
    if clusters is None and ((pairs == 0) | (pairs == 1)).all():
        effect = cohens_g(above, below)
        kind: Effect | None = None if effect is None else "cohens_g"
        p = mcnemar(above, below)
        return replace(held, test="mcnemar", p=p, effect=effect, effect_kind=kind)
    effect = cohens_d(differences)
    kind = None if effect is None else "cohens_d"
    return replace(held, test="sign_permutation", effect=effect, effect_kind=kind)


def _by_resamples(sides: Sides, row: PairedRow, clusters: Ints | None) -> Tested:
    """Compare one value by its differences at the same resamples, if there are any.

    The bootstrap is overconfident with few units: with three it finds a difference at 5 % in a
    quarter of all cases. So no p-value is below that of a sign permutation, 2 / 2^units.
    """
    unpaired = row.unpaired or 0
    plain = Tested(row, row.row.value, row.other.value, unpaired=unpaired, reason=row.reason)
    if row.resampled is None or plain.difference is None:
        return plain
    p = bootstrap_p(row.resampled, plain.difference)
    if p is None:
        return replace(plain, reason="no resample has a value on both sides")
    n = _units(sides) if row.n is None else row.n
    drawn = n if clusters is None else len(np.unique(clusters))
    least = 0.0 if drawn is None else min(2.0 ** (1 - drawn), 1.0)
    return replace(
        plain,
        interval=percentile_intervals(row.resampled[:, None], sides.level)[0],
        n=n,
        test="paired_bootstrap",
        p=max(p, least),
        drawn=_drawn(sides, clusters),
        units=drawn,
        differing=int((np.nan_to_num(row.resampled) != 0).sum()) or int(plain.difference != 0),
    )


def _drawn(sides: Sides, clusters: Ints | None) -> str:
    if clusters is not None:
        return "groups"
    return "images" if "images" in sides.result.data else "samples"


def _units(sides: Sides) -> int | None:
    """How many images or samples the run drew from; None where it drew groups of them."""
    asked, data = sides.result.intervals, sides.result.data
    grouped = asked is not None and asked.group is not None
    if grouped or any(one.groups is not None for one in sides.result.evidence):
        return None
    return data.get("images", data.get("samples"))


def _known(columns: Floats) -> NDArray[np.bool_]:
    known: NDArray[np.bool_] = ~np.isnan(columns)
    return known
