"""Agreement of several annotators with each other, and of a judge with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import fsum

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.metric import Call
from valor_cli.pipeline.calibration.labels import Labels
from valor_cli.pipeline.calibration.scales import NONE, Ints, Scale
from valor_cli.results.calibration import Agreement, AnnotatorPair, AnnotatorRow, AnnotatorsResult
from valor_cli.statistics.agreement import (
    LEVEL,
    RESAMPLES,
    SEED,
    alpha_interval,
    cohen_kappa,
    confusion,
    kappa_interval,
    krippendorff_alpha,
)
from valor_cli.statistics.bootstrap import mean_intervals

Values = Sequence[float | None]


def majority(scale: Scale, labels: Values) -> float | None:
    """What most annotators said of a sample; None without labels, and on a tie.

    Values on the side of the threshold where most are have their mean.
    """
    known = [one for one in labels if one is not None]
    counts = Counter(map(scale.category, known)).most_common(2)
    if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]):
        return None
    said = [one for one in known if scale.category(one) == counts[0][0]]
    return fsum(said) / len(said)


class _Compared(Struct, frozen=True):
    """Pairs of categories, and the sample of each."""

    first: Ints
    second: Ints
    sample: Ints


def annotated(
    call: Call,
    model: str | None,
    judge: str | None,
    scale: Scale,
    labels: Labels,
    each: Sequence[Values],
    people: Values,
    judges: Values,
) -> AnnotatorsResult:
    """Agreement of annotators, and of a judge with them.

    Args:
        call, model, judge: Of what.
        scale: Of labels and judge.
        labels: Who said what.
        each: By annotator, the label of each sample.
        people: Their majority.
        judges: What the judge found.
    """
    of = np.array([scale.categories(one) for one in each])
    found = scale.categories(judges)
    others = [_others(scale, each, at) for at in range(len(each))]
    values = np.array([[np.nan if x is None else x for x in one] for one in each], np.float64)
    nominal = scale.kind in ("verdicts", "classes")
    alpha = krippendorff_alpha(values, nominal=nominal)
    known = [one for one in zip(*each, strict=True) if any(x is not None for x in one)]
    several = (of != NONE).sum(0) > 1
    shared = int(several.sum())
    pairs = [(a, b, _both(of[a], of[b])) for a, b in combinations(range(len(each)), 2)]
    together = _joined([one for _, _, one in pairs])
    agreement, interval = _share(together)
    # Where the judge has a value, so that both are compared with the same majorities.
    among = [_both(np.where(found == NONE, NONE, of[at]), own) for at, own in enumerate(others)]
    in_place = [_both(np.where(of[at] == NONE, NONE, found), own) for at, own in enumerate(others)]
    all_people, all_judge = _joined(among), _joined(in_place)
    difference, difference_interval = _difference(all_judge, all_people)
    size = len(scale.labels)
    rated = scale.kind == "ratings"
    name = [one.name for one in labels.annotators]
    return AnnotatorsResult(
        metric=call.metric.name,
        model=model,
        parameters=call.parameters,
        judge=judge,
        scale=scale.kind,
        threshold=scale.threshold,
        annotators=[
            AnnotatorRow(
                annotator=one.name,
                column=one.column,
                labels=int((of[at] != NONE).sum()),
                judge=_agreement(_both(found, of[at]), size, rated),
                others=_agreement(_both(of[at], others[at]), size, rated),
                ties=int(((of[at] != NONE) & several & (others[at] == NONE)).sum()),
            )
            for at, one in enumerate(labels.annotators)
        ],
        samples=len(known),
        shared=shared,
        ties=len(known) - sum(one is not None for one in people),
        agreement=agreement,
        agreement_interval=interval,
        alpha=alpha,
        alpha_interval=alpha_interval(values, nominal=nominal),
        alpha_level="nominal" if nominal else "interval",
        undefined=None if alpha is not None else _why_no_alpha(shared),
        pairs=[
            AnnotatorPair(name[a], name[b], _agreement(one, size, rated)) for a, b, one in pairs
        ],
        people=_agreement(all_people, size, rated),
        judge_among_people=_agreement(all_judge, size, rated),
        difference=difference,
        difference_interval=difference_interval,
    )


def _why_no_alpha(shared: int) -> str:
    return "all labels are the same" if shared else "no sample has labels of two annotators"


def _others(scale: Scale, each: Sequence[Values], left_out: int) -> Ints:
    """The majority of all annotators but one, by sample."""
    rest = [one for at, one in enumerate(each) if at != left_out]
    return scale.categories([majority(scale, one) for one in zip(*rest, strict=True)])


def _both(first: Ints, second: Ints) -> _Compared:
    sample = np.flatnonzero((first != NONE) & (second != NONE))
    return _Compared(first[sample], second[sample], sample)


def _joined(parts: Sequence[_Compared]) -> _Compared:
    return _Compared(
        *(
            np.concatenate([getattr(one, name) for one in parts])
            for name in _Compared.__struct_fields__
        )
    )


def _agreement(pairs: _Compared, categories: int, rated: bool) -> Agreement:
    matrix = confusion(pairs.first, pairs.second, categories)
    kappa = cohen_kappa(matrix)
    agreement, interval = _share(pairs)
    clusters = _clusters(pairs.sample)
    alone = len(clusters) == len(np.unique(clusters))
    return Agreement(
        n=len(pairs.first),
        agreement=agreement,
        agreement_interval=interval,
        kappa=kappa,
        kappa_interval=kappa_interval(
            pairs.first, pairs.second, categories, clusters=None if alone else clusters
        ),
        weighted_kappa=cohen_kappa(matrix, "quadratic") if rated else None,
        undefined=None if kappa is not None else _why_no_kappa(len(pairs.first)),
    )


def _why_no_kappa(count: int) -> str:
    return "all are in one category" if count else "no sample was labelled by both"


def _share(pairs: _Compared) -> tuple[float | None, tuple[float, float] | None]:
    """The share of pairs that are equal, and its interval."""
    equal = (pairs.first == pairs.second).astype(np.float64)
    return _mean_of(equal, pairs.sample)


def _difference(
    first: _Compared, second: _Compared
) -> tuple[float | None, tuple[float, float] | None]:
    """How much more of the pairs of one are equal than of the other, of the same samples."""
    gained = np.equal(first.first, first.second).astype(np.float64)
    return _mean_of(gained - np.equal(second.first, second.second), first.sample)


def _mean_of(
    values: NDArray[np.float64], sample: Ints
) -> tuple[float | None, tuple[float, float] | None]:
    if not len(values):
        return None, None
    clusters = _clusters(sample)
    (interval,) = mean_intervals(
        values[:, None], resamples=RESAMPLES, level=LEVEL, seed=SEED, clusters=clusters
    )
    return float(values.mean()), interval


def _clusters(sample: Ints) -> Ints:
    return np.unique(sample, return_inverse=True)[1].astype(np.int64)
