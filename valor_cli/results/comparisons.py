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
        model: Whose value is judged.
        other: Whose it is held against.
        baseline: Whether `other` stands in an earlier run.
        value, other_value: Over the `n` samples that both have, where samples are paired; else as
            the rows have them.
        difference: `value` less `other_value`.
        interval: Of the difference, at `level`.
        n: Samples, images or groups that were paired; None where nothing was.
        wins, losses, ties: Samples on which `model` is better, worse, equal.
        unpaired: Samples that only one of the two has.
        test: What the p-value is of; None: nothing could be tested, and `reason` says why.
        p: Two-sided.
        p_adjusted: By Holm's method over the headline values of the pair; None of other values,
            whose p alone counts.
        effect: How large the difference is, with its sign: Cohen's d of the paired differences,
            Cohen's g of passes and failures; None with the paired bootstrap.
        verdict: Better or worse where the adjusted p is below 1 - level, by `direction`; "not
            tested" where there is no p.
        reason: Why it cannot be told, or why there is no test; what else is to be said.
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
        slice: As rows of the result name it ("metadata.camera=rear & metadata.weather=rain").
        n: Samples or images in it that have a value.
        value, rest: Mean of the values in it, and of all others.
        p: One-sided: that it is no worse than the rest.
        p_adjusted: By Holm's method over all parts that were searched.
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
        metric, output, parameters: Whose values of single samples were looked at.
        columns: Where it looked.
        searched: How many parts it held against the rest.
        min_size: The fewest samples that a part had.
        level: The found ones have an adjusted p below 1 - level.
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
