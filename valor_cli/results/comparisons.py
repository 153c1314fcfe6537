"""Records of comparisons: between two models, or a slice and the rest of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from valor_cli.results.findings import Direction, Number, Parameters
from valor_cli.results.record import Record

PairedTest: TypeAlias = Literal["mcnemar", "sign_permutation", "paired_bootstrap"]
ComparedVerdict: TypeAlias = Literal["better", "worse", "cannot tell", "not tested"]
Effect: TypeAlias = Literal["cohens_d", "cohens_g"]


class ComparisonResult(Record, frozen=True):
    """Comparison of a value of two models, sample by sample where possible.

    Attributes:
        model: The candidate.
        other: The model that it is compared with.
        baseline: Whether `other` is from the baseline run.
        value, other_value: Over the `n` paired samples; without paired samples, as
            in the rows of both.
        difference: `value` minus `other_value`.
        interval: Confidence interval of the difference, at `level`.
        n: Number of paired samples, images or groups; None if there are none.
        wins, losses, ties: Number of samples on which `model` is better, worse, equal.
        unpaired: Number of samples that only one of the two has.
        test: The statistical test; None if none was possible, with the `reason`.
        p: Two-sided p-value.
        p_adjusted: By Holm's method over the headline values of the pair; None for other
            values, for which `p` decides.
        effect: Signed effect size: Cohen's d of the paired differences,
            Cohen's g of passes and failures; None for the paired bootstrap.
        verdict: Better or worse if the adjusted p is below 1 - level, by `direction`; "not
            tested" if there is no p.
        reason: Why the verdict is unclear or not tested, or another remark.
    """

    metric: str
    output: str
    model: str
    other: str
    baseline: bool
    label: str | None
    slice: str | None
    parameters: Parameters
    unit: str
    direction: Direction
    value: Number | None
    other_value: Number | None
    difference: Number | None
    interval: tuple[Number, Number] | None
    level: Number
    n: int | None
    wins: int | None
    losses: int | None
    ties: int | None
    unpaired: int
    test: PairedTest | None
    p: Number | None
    p_adjusted: Number | None
    effect: Number | None
    effect_kind: Effect | None
    verdict: ComparedVerdict
    reason: str | None


class FoundSlice(Record, frozen=True):
    """A slice that a search reports as worse than the rest of the data.

    Attributes:
        slice: Its name in rows of the result ("metadata.camera=rear & metadata.weather=rain").
        n: Samples or images in it that have a value.
        value, rest: Mean of the values in the slice, and outside it.
        p: One-sided p-value; the null hypothesis is that it is no worse than the rest.
        p_adjusted: By Holm's method over all slices that were searched.
    """

    slice: str
    n: int
    value: Number
    rest: Number
    p: Number
    p_adjusted: Number


class SliceSearchResult(Record, frozen=True):
    """The result of a search for the slices on which a model does worst.

    Attributes:
        metric, output, parameters: The metric whose per-sample values were searched.
        columns: The metadata columns that were searched.
        searched: Number of slices compared with the rest of the data.
        min_size: Minimum number of samples in a slice.
        level: Slices with an adjusted p below 1 - level are reported.
    """

    model: str
    metric: str
    output: str
    parameters: Parameters
    columns: Sequence[str]
    searched: int
    min_size: int
    level: Number
    found: Sequence[FoundSlice]
