"""Terminal summary of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from rich.console import Group, RenderableType
from rich.text import Text

from valor_cli.reports.render.html.differences import differences
from valor_cli.reports.render.terminal.comparisons import (
    against_baseline,
    baseline,
    found_slices,
    legend,
    pair_lines,
    pairs,
    searched,
)
from valor_cli.reports.render.terminal.findings import folded, insight_lines, problem_lines
from valor_cli.reports.render.terminal.judges import agreement_sentences, judge_lines
from valor_cli.reports.render.terminal.table_width import Fitting, Page, one_line
from valor_cli.reports.render.terminal.tables import gates, headline, more, slices
from valor_cli.reports.sections.digest import SIDE_BY_SIDE, Digest, digest
from valor_cli.reports.sections.errors.breakdown import breakdowns, costliest
from valor_cli.reports.sections.errors.confusion import confusions, most_confused
from valor_cli.reports.sections.formatting import clean, signed
from valor_cli.reports.sections.judge_agreement import agreement_lines
from valor_cli.reports.sections.judge_usage import usage_table
from valor_cli.reports.sections.problems import shown_insights, shown_problems
from valor_cli.results import MetricResult, RunResult

SCREEN = 30
"""Lines the summary tries to stay within."""

_MOST = {"headline": 12, "gates": 8, "problems": 6, "insights": 3, "slices": 6}
_MOST |= {"usage": 6, "agreements": 4, "warnings": 5, "pairs": 6, "baseline": 8, "found": 5}
_LEAST = {"headline": 6, "gates": 3, "problems": 2, "insights": 2, "slices": 3}
_LEAST |= {"usage": 0, "agreements": 1, "warnings": 2, "pairs": 2, "baseline": 3, "found": 2}
_STYLES = {
    "PASSED": "bold green",
    "FAILED": "bold red",
    "INCOMPLETE": "bold yellow",
    "DONE": "bold",
}

_USAGE = 40
"""Lines of usage that are prepared; `_MOST` of them are shown at most."""

_AP, _AR = "Average Precision", "Average Recall"
_COCO = (
    ("AP", _AP, "", "all", 100),
    ("AP50", _AP, "0.50", "all", 100),
    ("AP75", _AP, "0.75", "all", 100),
    ("APsmall", _AP, "", "small", 100),
    ("APmedium", _AP, "", "medium", 100),
    ("APlarge", _AP, "", "large", 100),
    ("AR@1", _AR, "", "all", 1),
    ("AR@10", _AR, "", "all", 10),
    ("AR@100", _AR, "", "all", 100),
    ("ARsmall", _AR, "", "small", 100),
    ("ARmedium", _AR, "", "medium", 100),
    ("ARlarge", _AR, "", "large", 100),
)


def summary(result: RunResult, files: Sequence[str]) -> RenderableType:
    """The summary after a run: verdict first, report paths last.

    Colour only repeats what the words say.
    """
    told = digest(result)
    warnings = [clean(warning, 300) for warning in result.warnings]
    errors = _errors(result, told)
    problems, insights = shown_problems(result), shown_insights(result)
    used = usage_table(result, _USAGE, by_metric=False, by_model=False)
    agreed = agreement_sentences(agreement_lines(result), many=len(told.models) > 1)
    of_two = differences(result).of_two
    compared, held, worst = pair_lines(result), against_baseline(result), found_slices(result)
    found = {
        "pairs": len(compared),
        "baseline": len(held.leading) if held else 0,
        "found": len(worst),
        "problems": len(problems),
        "insights": len(insights),
        "usage": len(used.lines) if used else 0,
        "agreements": len(agreed),
        "warnings": len(warnings),
    }
    every = {"headline": _MOST["headline"], "slices": _MOST["slices"]}
    marks = legend(result, told, every, compared=bool(of_two))
    lines = len(files) + len(errors) + bool(errors) + told.partial + bool(marks)
    lines += bool(held) + bool(worst) + 2 * bool(result.searches and not worst)
    lines += 2 if used or agreed else 0
    lines += 1 + folded([told.stopped]) if told.stopped else 0
    foldable = {"problems": [problem.message for problem in problems], "agreements": agreed}
    room = _room(told, found, lines, foldable)
    marks = legend(result, told, room, compared=bool(of_two))
    parts = [_verdict(told)]
    parts += _section(headline(told, room["headline"], of_two))
    parts += [Text(marks, style="dim")] if marks else []
    parts += _section(pairs(compared, room["pairs"]))
    parts += _section(baseline(held, room["baseline"], many=len(told.models) > 1))
    parts += _section(gates(told.gates, room["gates"], many=len(told.models) > 1))
    parts += _section(problem_lines(problems, room["problems"]))
    parts += _section(insight_lines(insights, room["insights"]))
    parts += _section(slices(told, room["slices"]))
    parts += _section(searched(result, worst, room["found"]))
    parts += _section(judge_lines(used, room["usage"], agreed, room["agreements"]))
    parts += _section(iter(errors))
    parts += _section(_notes(told, warnings, room["warnings"]))
    if files:
        shown = [clean(file, 200) for file in files]
        beside = "\n        ".join(shown)
        head = ("Report", "bold")
        whole = Text.assemble(head, "  ", beside, no_wrap=True, overflow="fold")
        apart = [Text.assemble(head), *(Text(file, overflow="fold") for file in shown)]
        parts += ["", Fitting([[whole], apart])]
    return Page(parts, [f"Report  {clean(file, 200)}" for file in files])


def coco_table(result: RunResult) -> str:
    """pycocotools' summary lines for each model; empty if `coco` was not computed."""
    tables: dict[tuple[str, tuple[Any, ...]], dict[str, MetricResult]] = {}
    for row in result.metrics:
        if row.metric == "coco" and row.label is None and row.slice is None:
            ious = row.parameters.get("iou_thresholds", (0.5, 0.95))
            tables.setdefault((row.model, tuple(cast(Sequence[Any], ious))), {})[row.output] = row
    blocks = []
    for (model, ious), rows in tables.items():
        lines = [_coco_line(rows[name], ious, *rest) for name, *rest in _COCO if name in rows]
        if len(tables) > 1:
            lines.insert(0, clean(model, 60))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _coco_line(row: MetricResult, ious: Sequence[float], *cells: object) -> str:
    title, iou, area, most = cells
    kind = "(AP)" if title == _AP else "(AR)"
    several = f"{ious[0]:.2f}:{ious[-1]:.2f}" if len(ious) > 1 else f"{ious[0]:.2f}"
    value = -1.0 if row.value is None else row.value  # as pycocotools prints "no such objects"
    return (
        f" {title:<18} {kind} @[ IoU={iou or several:<9} | area={area:>6} | maxDets={most:>3} ]"
        f" = {value:0.3f}"
    )


def _room(
    told: Digest, found: Mapping[str, int], lines: int, long: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """How many lines each section gets: the longest give way until all fit the screen.

    `found` counts those of sections that the digest does not hold, `lines` those that stand in
    any case; the `long` ones may take several each.
    """
    every = len(told.headline.measures) + told.unlisted
    wanted = {
        "headline": every if every <= _MOST["headline"] else told.leading or every,
        "gates": len(told.gates),
        "slices": len(told.slices.lines),
        **found,
    }
    room = {name: min(count, _MOST[name]) for name, count in wanted.items()}
    # Judges have room of their own, whether or not it holds more than a line.
    frame = 3 + lines + sum(2 for name, n in room.items() if n and name != "agreements")
    frame += len(told.missing[:SIDE_BY_SIDE]) + len(told.ignored[:SIDE_BY_SIDE])
    while True:
        # Insights do not say how many are left out.
        cut = sum(room[name] < count for name, count in wanted.items() if name != "insights")
        longest = max(room, key=lambda name: room[name] - _LEAST[name])
        taken = sum(room.values())
        taken += sum(folded(texts[: room[name]]) for name, texts in long.items())
        if taken + frame + cut <= SCREEN or room[longest] <= _LEAST[longest]:
            return room
        room[longest] -= 1


def _section(parts: Iterator[RenderableType]) -> list[RenderableType]:
    found = list(parts)
    return ["", *found] if found else []


def _verdict(told: Digest) -> RenderableType:
    word = (told.verdict.word, _STYLES[told.verdict.word])
    head = Text.assemble(word, f"  {told.verdict.detail}")
    scope = Text(" · ".join((told.task, *told.scope)))
    if not told.stopped:
        return Group(head, scope)
    stopped = Text.assemble(("STOPPED", _STYLES["INCOMPLETE"]), f": {told.stopped}")
    return Group(head, stopped, scope)


def _errors(result: RunResult, told: Digest) -> list[RenderableType]:
    """The costliest errors and most confused pairs, one line each with all models."""
    lost = [
        (kind.name, signed(-(kind.shares[model].cost or 0.0)), model)
        for breakdown in breakdowns(result)[:1]
        for model in range(len(told.models))
        if (kind := costliest(breakdown, model))
    ]
    confused = [
        (f"{pair.ground_truth} → {pair.prediction}", pair.amount, model)
        for model, pair in most_confused(confusions(result)).items()
    ]
    lines: list[RenderableType] = []
    for title, found in (("Most AP is lost to", lost), ("Confused most", confused)):
        if found:
            text = _said_once(found, told.models)
            apart = [Text(title), Text(f"  {text}")]
            lines.append(Fitting([[one_line(f"{title:<20}{text}")], apart]))
    return lines


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


def _notes(told: Digest, warnings: Sequence[str], most: int) -> Iterator[RenderableType]:
    if warnings:
        yield Text("Warnings", style="bold yellow")
        for warning in warnings[:most]:
            yield Text(f"  {warning}")
        yield from more(len(warnings) - most)
    for line in told.missing[:SIDE_BY_SIDE]:
        yield one_line(f"No predictions for labels of {line}")
    for line in told.ignored[:SIDE_BY_SIDE]:
        yield one_line(f"No ground truth for labels of {line}")
