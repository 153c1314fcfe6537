"""Sample sections of the HTML report: problems, coverage, worst samples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from markupsafe import Markup, escape
from msgspec.structs import replace

from valor_cli.reports.charts.distribution_sheet import Spreads, spreads
from valor_cli.reports.render.html.leaderboard import breakable
from valor_cli.reports.sections.anchors import Anchors
from valor_cli.reports.sections.coverage import coverage_table
from valor_cli.reports.sections.formatting import clean
from valor_cli.reports.sections.problems import (
    MESSAGE,
    SAMPLES,
    counted,
    ordered_insights,
    shown_problems,
)
from valor_cli.reports.sections.samples.matrix import SampleMatrix, sample_matrices
from valor_cli.reports.sections.samples.texts import is_reply, left_out, parts, titles
from valor_cli.reports.sections.samples.verdicts import shown_verdicts
from valor_cli.reports.sections.samples.worst_samples import (
    UNREADABLE,
    WorstSample,
    WorstSamples,
    worst_samples,
)
from valor_cli.results import RunResult, Scalar, ShownText

PROBLEMS = 100
INSIGHTS = 40
COVERAGE = 200
"""Lines listed; results.json has all of them."""

CARDS = 10
"""Worst samples shown of each metric and model."""

TEXT = 900_000
"""Characters of all texts shown; the page says how many samples it left out."""

VERDICTS = 20
"""Verdicts listed of a sample."""

LONG = 400
"""Characters of a text that has no marks, above which it is folded."""

COLOURS = 6

MODELS = 6
"""Models drawn in one chart."""

CHARTS = 24
"""Metrics drawn; the page says how many it left out."""


def sample_section(result: RunResult, models: Sequence[str], anchors: Anchors) -> dict[str, Any]:
    """Context of the templates for problems, coverage, worst samples and sample values.

    Args:
        result: The run.
        models: Its models' names as they are shown.
        anchors: Names of the samples on the page; those of images are there already.
    """
    problems, insights = shown_problems(result), ordered_insights(result.insights)
    worst = worst_samples(result, CARDS)
    shown = _fitting(worst)
    metrics = list(dict.fromkeys(group.metric for group in worst))
    groups = [
        {
            "metric": metrics.index(group.metric),
            "title": " · ".join([group.metric, *([models[group.model]] * (len(models) > 1))]),
            "model": models[group.model],
            **_cards(kept, (models[group.model], group.metric), anchors),
        }
        for group, kept in zip(worst, shown, strict=True)
        if kept
    ]
    rows = [_linked(part, models[part.model], anchors) for part in sample_matrices(result)]
    return {
        "problems": [(one, _places(one.sample_ids, anchors)) for one in problems[:PROBLEMS]],
        "all_problems": len(problems),
        "severities": counted(problems),
        "named_samples": any(problem.samples for problem in problems[:PROBLEMS]),
        "insights": [
            (clean(one.message, MESSAGE), _places(one.sample_ids[:SAMPLES], anchors))
            for one in insights[:INSIGHTS]
        ],
        "all_insights": len(insights),
        "coverage": coverage_table(result) if result.coverage else None,
        "most_covered": COVERAGE,
        "worst_metrics": metrics,
        "worst_models": [
            model for i, model in enumerate(models) if any(g.model == i for g in worst)
        ],
        "worst_groups": groups,
        "worst_left_out": sum(len(group.samples) for group in worst) - sum(map(len, shown)),
        "sample_matrices": rows,
        "histograms": histogram_charts(result, models),
        "breakable": breakable,
    }


def _places(samples: Sequence[Scalar], anchors: Anchors) -> list[tuple[str, str]]:
    """Of each sample that the page shows the name of its first place, and its own."""
    named = ((anchors.first(sample), clean(str(sample), 40)) for sample in samples)
    return [(anchor, name) for anchor, name in named if anchor]


def _fitting(worst: Sequence[WorstSamples]) -> list[list[WorstSample]]:
    """Of each group the samples there is room for: every group's worst before any's second."""
    kept: list[list[WorstSample]] = [[] for _ in worst]
    room = TEXT
    for rank in zip_longest(*(group.samples for group in worst)):
        for group, sample in zip(kept, rank, strict=True):
            if sample is None:
                continue
            room -= _size(sample)
            if room >= 0:
                group.append(sample)
    return kept


def _size(sample: WorstSample) -> int:
    """Characters of all that a card shows of a sample."""
    shown = shown_verdicts(sample.example.verdicts, VERDICTS).lines
    judged = sum(len(one.text) + len(one.reason) for one in shown)
    return judged + sum(len(text.text) for text in sample.example.texts)


def _linked(part: SampleMatrix, model: str, anchors: Anchors) -> dict[str, Any]:
    """A table of samples whose rows can be linked to."""
    return {
        "model": part.model,
        "headings": part.headings,
        "rows": [
            (anchors.name(sample, model, "values"), *row)
            for sample, row in zip(part.sample_ids, part.rows, strict=True)
        ],
        "left_out": part.left_out,
    }


def _cards(
    samples: Sequence[WorstSample], place: tuple[str, str], anchors: Anchors
) -> dict[str, Any]:
    """Cards and the kinds of marks in them, each with the number of its colour."""
    kinds: dict[str, int] = {}
    cards = [
        {
            "name": sample.name,
            "anchor": anchors.name(sample.example.sample_id, *place),
            "value": sample.value,
            "unreadable": sample.example.kind == UNREADABLE,
            "reason": sample.reason,
            "verdicts": shown_verdicts(sample.example.verdicts, VERDICTS),
            "texts": _texts(sample, kinds, replies=False),
            "replies": _texts(sample, kinds, replies=True),
        }
        for sample in samples
    ]
    return {"cards": cards, "kinds": [(kind, n % COLOURS) for kind, n in kinds.items()]}


def _texts(sample: WorstSample, kinds: dict[str, int], *, replies: bool) -> list[dict[str, Any]]:
    """The sample's own texts, or what judges replied."""
    texts = sample.example.texts
    return [
        _text(shown, title, kinds)
        for shown, title in zip(texts, titles(texts), strict=True)
        if is_reply(shown) == replies
    ]


def _text(shown: ShownText, title: str, kinds: dict[str, int]) -> dict[str, Any]:
    html = []
    for characters, kind in parts(shown):
        if not kind:
            html.append(str(escape(characters)))
            continue
        colour = kinds.setdefault(kind, len(kinds)) % COLOURS
        html.append(f'<mark class="k{colour}" title="{escape(kind)}">{escape(characters)}</mark>')
    ready = "".join(html)
    size = len(shown.text) + shown.left_out
    return {
        "title": title,
        "ready": Markup(ready),  # noqa: S704 - escaped just before
        "empty": not shown.text,
        "left_out": left_out(shown),
        "folded": size > LONG or is_reply(shown),
        "open": bool(shown.marks),
        "size": f"{size:,} characters",
    }


def histogram_charts(result: RunResult, models: Sequence[str]) -> dict[str, Any]:
    """Context of histograms.html.j2: a chart for each metric that is not pass/fail.

    Args:
        result: The run; of images other charts show how they spread.
        models: Its models' names as they are shown.
    """
    judged = [one for one in result.samples if one.statuses is not None]
    found = [
        one
        for one in spreads(replace(result, samples=judged))
        if not all(value in (0, 1) for part in one.values for value in part.values)
    ]
    drawn = [replace(one, values=one.values[:MODELS]) for one in found[:CHARTS]]
    return {
        "charts": [(_heading(one), one.drawn(models)) for one in drawn],
        "left_out": len(found) - len(drawn),
        "more_models": max((len(one.values) for one in found), default=0) > MODELS,
    }


def _heading(one: Spreads) -> str:
    return f"{one.name} ({one.detail})" if one.detail else one.name
