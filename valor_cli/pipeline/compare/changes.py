"""Count the samples that changed between two models, and list the largest changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from valor_cli.pipeline.compare.paired_rows import PairedRow, Sides
from valor_cli.pipeline.compare.paired_samples import Aligned, Floats, known, samples_of
from valor_cli.results import (
    SHORT_TEXT,
    ChangeCount,
    ChangedSample,
    ExampleResult,
    RunResult,
    SampleChange,
    Scalar,
    ShownText,
    TextsResult,
)

MOST_CHANGED = 50
"""Samples shown of a pair of models: half of them better, half worse, if possible."""

WHOLE_IMAGE = "worst_image"
"""The kind of example that shows a whole image, not only the objects of one error."""

Key = tuple[type, Scalar]


class _Column(Struct, frozen=True):
    """A value on both sides.

    Attributes:
        row: Whose samples these are.
        columns: (2, n) of the candidate and the baseline.
        gain: (n,) how much better the candidate is, in the unit of the value; values that go
            beyond 1 as a share of the largest. 0 where either has no value.
        headline: Whether it is a headline value.
    """

    row: PairedRow
    columns: Floats
    gain: Floats
    headline: bool


def changes_of(
    sides: Sides, rows: Sequence[PairedRow], aligned: Aligned
) -> tuple[list[ChangeCount], list[ChangedSample]]:
    """Number of changed samples by metric, headline values first, and the largest changes.

    Args:
        sides: The two models.
        rows: The values of both models, from `paired_rows`.
        aligned: The samples, from `paired_rows`.
    """
    places = {name: at for at, name in enumerate(sides.result.primary)}
    order = sorted(rows, key=lambda one: places.get((one.row.metric, one.row.output), len(places)))
    found = []
    for one in order:
        columns = one.columns if one.columns is not None else _of_samples(sides, one, aligned)
        if columns is not None and (~np.isnan(columns)).all(0).any():
            headline = (one.row.metric, one.row.output) in places
            found.append(_Column(one, columns, _gain(one, columns), headline))
    counts = [_counted(sides, one) for one in found]
    return counts, _widest(sides, found, aligned)


def _of_samples(sides: Sides, one: PairedRow, aligned: Aligned) -> Floats | None:
    """The values of single samples behind a value that is not their mean: BLEU of each sentence."""
    own, their = samples_of(sides.result, one.row), samples_of(sides.before, one.other)
    if own is None or their is None:
        return None
    output = one.row.output
    first, second = known(own, output), known(their, output)
    return np.array([aligned.column(own, first), aligned.column(their, second)])


def _gain(one: PairedRow, columns: Floats) -> Floats:
    difference = np.nan_to_num(columns[0] - columns[1])
    gain: Floats = difference / float(np.nanmax(np.abs(columns), initial=1.0))
    return -gain if one.row.direction == "lower" else gain


def _counted(sides: Sides, one: _Column) -> ChangeCount:
    better, worse = int((one.gain > 0).sum()), int((one.gain < 0).sum())
    paired = int((~np.isnan(one.columns)).all(0).sum())
    row = one.row.row
    return ChangeCount(
        row.metric,
        row.output,
        row.parameters,
        sides.model,
        sides.other,
        better,
        worse,
        paired - better - worse,
    )


def _widest(sides: Sides, found: Sequence[_Column], aligned: Aligned) -> list[ChangedSample]:
    """The samples with the largest changes, headline values first; ties ordered by id."""
    if not found:
        return []
    gains = np.array([one.gain for one in found])
    headline = np.array([one.headline for one in found])
    leading = _leading(gains[headline], gains.shape[1])
    others = _leading(gains[~headline], gains.shape[1])
    changed = np.flatnonzero((leading != 0) | (others != 0)).tolist()
    ids = aligned.sample_ids
    changed.sort(key=lambda at: (-abs(leading[at]), -abs(others[at]), at))
    sign = np.where(leading != 0, leading, others)
    kept = _both_ways(changed, sign)
    texts = [_Texts(run, model) for run, model in _both(sides)]
    return [_changed(sides, found, at, ids[at], texts) for at in kept]


def _leading(gains: Floats, count: int) -> Floats:
    """(n,) the gain of largest size of each sample, with its sign."""
    if not len(gains):
        return np.zeros(count)
    found: Floats = np.take_along_axis(gains, np.abs(gains).argmax(0)[None], 0)[0]
    return found


def _both_ways(changed: Sequence[int], sign: Floats) -> list[int]:
    """The first better and the first worse samples, in their order."""
    half = MOST_CHANGED // 2
    better = [at for at in changed if sign[at] > 0]
    worse = [at for at in changed if sign[at] < 0]
    first = [*better[:half], *worse[:half]]
    taken = set(first)
    rest = [at for at in changed if at not in taken][: MOST_CHANGED - len(first)]
    taken.update(rest)
    return [at for at in changed if at in taken]


def _changed(
    sides: Sides,
    found: Sequence[_Column],
    at: int,
    name: Scalar,
    texts: Sequence[_Texts],
) -> ChangedSample:
    differing = [one for one in found if one.gain[at]]
    differing.sort(key=lambda one: -abs(one.gain[at]))
    own, their = (side.of(name) for side in texts)
    shared = tuple(text for text in own if text in their)
    cases = [_case(run, model, name) for run, model in _both(sides)]
    pictures = [case.picture for case in cases if case is not None and case.picture is not None]
    objects = [() if case is None else tuple(case.objects) for case in cases]
    return ChangedSample(
        sample_id=name,
        model=sides.model,
        other=sides.other,
        changes=tuple(_change(one, at) for one in differing),
        shared=shared,
        texts=tuple(text for text in own if text not in shared),
        other_texts=tuple(text for text in their if text not in shared),
        picture=pictures[0] if pictures else None,
        objects=objects[0],
        other_objects=objects[1],
    )


def _change(one: _Column, at: int) -> SampleChange:
    value, other = one.columns[:, at].tolist()
    row = one.row.row
    better = one.gain[at] > 0
    return SampleChange(
        row.metric, row.output, row.parameters, value, other, "better" if better else "worse"
    )


def _both(sides: Sides) -> tuple[tuple[RunResult, str], tuple[RunResult, str]]:
    return (sides.result, sides.model), (sides.before, sides.other)


class _Texts:
    """The texts of a model's samples by id; otherwise those of its examples."""

    def __init__(self, result: RunResult, model: str) -> None:
        self.result = result
        self.model = model
        said = next((one for one in result.texts if one.model == model), None)
        self.said: TextsResult | None = said
        ids = () if said is None else said.sample_ids
        self.places: Mapping[Key, int] = {(type(name), name): at for at, name in enumerate(ids)}

    def of(self, name: Scalar) -> tuple[ShownText, ...]:
        """The texts of a sample."""
        at = self.places.get((type(name), name))
        if self.said is not None and at is not None:
            said = self.said.columns.items()
            told = [(field, column[at]) for field, column in said if _is_compared(field)]
            return tuple(
                ShownText(field, text[:SHORT_TEXT]) for field, text in told if text is not None
            )
        case = _case(self.result, self.model, name, texts=True)
        return () if case is None else tuple(case.texts)


def _is_compared(field: str) -> bool:
    return field != "perturbed_from" and "contexts" not in field


def _case(
    result: RunResult, model: str, name: Scalar, *, texts: bool = False
) -> ExampleResult | None:
    """The example of a sample that shows all of it, else the one that shows most."""
    cases = [
        one
        for one in result.examples
        if one.model == model and one.sample_id == name and type(one.sample_id) is type(name)
    ]

    def shows(one: ExampleResult) -> tuple[bool, int]:
        return one.kind == WHOLE_IMAGE, len(one.texts if texts else one.objects)

    return max(cases, key=shows, default=None)
