"""Where it fails: the worst label and slice, the costliest error, the most confused labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from valor_cli.reports.digests.confusion import confusions, most_confused
from valor_cli.reports.digests.digest import Digest, worst_key
from valor_cli.reports.digests.formatting import SEVERITIES, UNCLEAR, clean, number, signed
from valor_cli.reports.digests.grids import Grid
from valor_cli.reports.digests.mistakes import breakdowns, costliest
from valor_cli.reports.digests.naming import NAME, Names, short_name
from valor_cli.reports.document import Item, Items, Section, Tone, explore, sample
from valor_cli.reports.sections.values import compared_labels, of_slices, regression
from valor_cli.results import ProblemResult

WORST = 3
"""Models whose worst label or slice is named."""

INSIGHTS = 5
PROBLEMS = 100
"""Lines listed; results.json has all of them."""

SAMPLES = 3
"""Samples named of each problem."""

MESSAGE = 400
"""Characters of a message."""

RANKS = frozenset({"best_model", "worst_model", "no_best_model"})
"""Kinds of insights that say what a table of models side by side shows."""

_TONES: dict[str, Tone] = {"high": "bad", "medium": "caution"}


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
    """The label that is clearly worse than before, or than with the other model.

    Against a baseline where no label is: the one that fell most, though chance may have done it.
    """
    labels = compared_labels(d)
    one = next((one for one in labels if one.outcome == "worse"), None)
    what, verdict = "Regressed", ""
    if one is None and labels and labels[0].row.baseline and regression(labels[0].row)[1] < 0:
        one, what, verdict = labels[0], "Fell most", f", {labels[0].outcome}"
    if one is not None:
        change = f"({one.other} → {one.value}), {one.difference} {one.interval}".rstrip()
        p = "" if one.row.p is None else f", p {one.p}"
        link = explore(label=one.row.label)
        yield Item(f"{one.where} {change}{p}{verdict}", f"{what} ({one.name})", link=link)


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
        (kind, _, at), model = lost[0], ""
        if len(d.models) > 1:
            model = d.result.models[at]
        # Errors are counted at every score; those missed are among the false negatives.
        link = explore(model=model, outcome=kind.outcome or "fn", threshold=0)
        yield Item(told, "Most AP is lost to", link=link)
    pairs = most_confused(confusions(d.result))
    if pairs:
        told = _said_once(
            [
                (f"{pair.ground_truth} → {pair.prediction}", pair.amount, model)
                for model, pair in list(pairs.items())[:WORST]
            ],
            d.models,
        )
        at, first = next(iter(pairs.items()))
        alike = all(pair == first for pair in pairs.values())
        model = "" if alike else d.result.models[at]
        link = explore(truth=first.ground_truth, predicted=first.prediction, model=model)
        yield Item(told, "Most confused", link=link)


def _said_once(found: Iterable[tuple[str, str, int]], models: Sequence[str]) -> str:
    """What, how much and of which model, in words that name nothing twice.

    "cow → dog (1×, both models)"; "cow → dog (3×, small; 1×, large)"; "cow → dog (3×)" of one.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for what, amount, model in found:
        groups.setdefault(what, {}).setdefault(amount, []).append(clean(models[model], 24))
    parts = []
    for what, amounts in groups.items():
        told = [amount + _whose(names, len(models)) for amount, names in amounts.items()]
        parts.append(f"{what} ({'; '.join(told)})")
    return " · ".join(parts)


def _whose(names: Sequence[str], models: int) -> str:
    if models == 1:
        return ""
    if len(names) == models:
        return ", both models" if models == 2 else f", all {models} models"
    return f", {', '.join(names)}"


def problems(d: Digest) -> Section | None:
    """Most severe first, otherwise in run order, with links to their samples."""
    if not d.result.problems:
        return None
    names = Names((row.metric, row.parameters) for row in d.result.coverage)
    ordered = sorted(d.result.problems, key=lambda one: SEVERITIES.index(one.severity or UNCLEAR))
    counts = Counter(one.severity or UNCLEAR for one in ordered)
    items = [_problem(one, d, names) for one in ordered[:PROBLEMS]]
    block = Items(items, page=15, screen=(2, 6), left_out=max(len(ordered) - PROBLEMS, 0))
    told = ", ".join(f"{counts[name]:,} {name}" for name in SEVERITIES if counts[name])
    return Section("Problems", "problems", (block,), told=told)


def _problem(problem: ProblemResult, d: Digest, names: Names) -> Item:
    """The message, which names the model if there are several."""
    message, model = clean(problem.message, MESSAGE), clean(problem.model, 60)
    metric = problem.metric or ""
    if NAME in problem.parameters:
        message = message.replace(metric, short_name(metric, "value", problem.parameters), 1)
    detail = names.detail(metric, problem.parameters)
    if detail:
        message = f"{message} ({detail})"
    if len(d.models) > 1 and problem.model and model not in message:
        message = f"{model}: {message}"
    severity = problem.severity or UNCLEAR
    links = [(clean(str(key), 40), sample(key)) for key in problem.sample_ids[:SAMPLES]]
    return Item(message, severity, _TONES.get(severity, "quiet"), links)


def insights(d: Digest) -> Section | None:
    """What else is noteworthy than `RANKS`, one of each kind before the second of any."""
    seen: Counter[str] = Counter()
    ranked = []
    for one in d.result.insights:
        if one.kind not in RANKS:
            ranked.append((seen[one.kind], clean(one.message, MESSAGE)))
            seen[one.kind] += 1
    if not ranked:
        return None
    ranked.sort(key=lambda one: one[0])
    items = Items([Item(told) for _, told in ranked[:40]], page=INSIGHTS, screen=(2, 3))
    return Section("Insights", "insights", (items,))
