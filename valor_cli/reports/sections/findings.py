"""Where it fails: the worst label and slice, the costliest error, the most confused labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from valor_cli.reports.digests.digest import Digest, worst_key
from valor_cli.reports.digests.errors.breakdown import breakdowns, costliest
from valor_cli.reports.digests.errors.confusion import confusions, most_confused
from valor_cli.reports.digests.formatting import clean, number, signed
from valor_cli.reports.digests.grids import Grid
from valor_cli.reports.digests.problems import SAMPLES, counted, shown_insights, shown_problems
from valor_cli.reports.document import Item, Items, Section, Tone
from valor_cli.reports.sections.links import explore, of_slices, sample
from valor_cli.reports.sections.values import compared_labels
from valor_cli.results import Scalar

WORST = 3
"""Models whose worst label or slice is named."""

INSIGHTS = 5
PROBLEMS = 100
"""Lines listed; results.json has all of them."""

_SEVERITIES: dict[str, Tone] = {"high": "bad", "medium": "caution"}


def failures(d: Digest) -> Section | None:
    """A line each, with a link to the samples."""
    items = [
        *_regressed(d),
        *_worst(d, d.labels, "label"),
        *_worst(d, d.slices, "slice"),
        *_errors(d),
    ]
    if not items:
        return None
    return Section("Where it fails", "fails", (Items(items, screen=(5, 5)),))


def _regressed(d: Digest) -> Iterator[Item]:
    """The label that is clearly worse than before, or than with the other model."""
    one = next((one for one in compared_labels(d) if one.outcome == "worse"), None)
    if one is not None:
        told = f"{one.where} {one.other} → {one.value}, {one.difference} {one.interval}, p {one.p}"
        link = explore(label=one.row.label)
        yield Item(told, f"Regressed ({one.name})", link=link)


def _worst(d: Digest, grid: Grid, what: str) -> Iterator[Item]:
    """The lowest value of the first measure, by model."""
    if len(grid.lines) < 2:
        return
    measure = grid.measures[0]
    if measure.direction is None or measure.unit == "count":
        return
    key = worst_key(measure.direction)
    found = []
    for at in range(len(d.models)):
        line = min(grid.lines, key=lambda line: key(line.cells[0][at]))
        value = line.cells[0][at].value
        if value is not None:
            worst = key(line.cells[0][at])
            found.append((line.name, number(value, measure.unit), at, worst))
    if found:
        # The worst of many models are named.
        found = sorted(found, key=lambda one: one[3])[:WORST]
        name = found[0][0]
        known = of_slices(d.result) if what == "slice" else {name: explore(label=name)}
        told = _said_once([one[:3] for one in found], d.models)
        yield Item(told, f"Worst {what} ({measure})", link=known.get(name, "#slices"))


def _errors(d: Digest) -> Iterator[Item]:
    lost = [
        (kind, signed(-(kind.shares[model].cost or 0.0)), model)
        for found in breakdowns(d.result)[:1]
        for model in range(len(d.models))
        if (kind := costliest(found, model))
    ]
    lost = sorted(lost, key=lambda one: -(one[0].shares[one[2]].cost or 0.0))[:WORST]
    if lost:
        told = _said_once([(kind.name, cost, at) for kind, cost, at in lost], d.models)
        yield Item(told, "Most AP is lost to", link=explore(outcome=lost[0][0].outcome))
    pairs = most_confused(confusions(d.result))
    if pairs:
        told = _said_once(
            [
                (f"{pair.ground_truth} → {pair.prediction}", pair.amount, model)
                for model, pair in list(pairs.items())[:WORST]
            ],
            d.models,
        )
        first = next(iter(pairs.values()))
        link = explore(truth=first.ground_truth, predicted=first.prediction)
        yield Item(told, "Most confused", link=link)


def _said_once(found: Iterable[tuple[str, str, int]], models: Sequence[str]) -> str:
    """What, how much and of which model, in words that name nothing twice.

    "cow → dog 1×, both models"; "cow → dog 3×, small · 1×, large"; "cow → dog 3×" of one model.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for what, amount, model in found:
        groups.setdefault(what, {}).setdefault(amount, []).append(clean(models[model], 24))
    parts = []
    for what, amounts in groups.items():
        told = [amount + _whose(names, len(models)) for amount, names in amounts.items()]
        parts.append(f"{what} {' · '.join(told)}")
    return " · ".join(parts)


def _whose(names: Sequence[str], models: int) -> str:
    if models == 1:
        return ""
    if len(names) == models:
        return ", both models" if models == 2 else f", all {models} models"
    return f", {', '.join(names)}"


def problems(d: Digest) -> Section | None:
    """Most severe first, with links to their samples."""
    found = shown_problems(d.result)
    if not found:
        return None
    items = [
        Item(
            one.message,
            one.severity,
            _SEVERITIES.get(one.severity, "quiet"),
            [(name, sample(key)) for name, key in _named(one.sample_ids)],
        )
        for one in found[:PROBLEMS]
    ]
    blocks = (Items(items, page=15, screen=(2, 6), left_out=max(len(found) - PROBLEMS, 0)),)
    return Section("Problems", "problems", blocks, told=counted(found))


def _named(sample_ids: Sequence[Scalar]) -> list[tuple[str, Scalar]]:
    return [(clean(str(key), 40), key) for key in sample_ids[:SAMPLES]]


def insights(d: Digest) -> Section | None:
    """What else is noteworthy, one of each kind first."""
    found = shown_insights(d.result)
    if not found:
        return None
    items = Items([Item(told) for told in found[:40]], page=INSIGHTS, screen=(2, 3))
    return Section("Insights", "insights", (items,))
