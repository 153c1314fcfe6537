"""The worst samples with their texts, for Markdown; pages have all samples in the explorer."""

from __future__ import annotations

from collections.abc import Iterator

from valor_cli.reports.digests.digest import Digest
from valor_cli.reports.digests.formatting import clean, number, words
from valor_cli.reports.digests.naming import Names, frozen
from valor_cli.reports.digests.texts import titles
from valor_cli.reports.document import Card, Cards, Part, Samples, Section
from valor_cli.results import ExampleResult, RunResult

KINDS = ("worst_sample", "unreadable")
"""Examples that are shown."""

WORST = 3
"""Samples of each metric and model."""

PASS = "pass"  # noqa: S105 - the output of metrics that pass or fail


def samples(d: Digest) -> Section | None:
    """All samples, for pages."""
    return Section("Samples", "samples", (Samples(),))


def worst(d: Digest) -> Section | None:
    """By metric and model, worst first."""
    blocks = list(_cards(d, d.result))
    return Section("Worst samples", "worst-samples", blocks, folded=True) if blocks else None


def _cards(d: Digest, result: RunResult) -> Iterator[Cards]:
    examples = [one for one in result.examples if one.kind in KINDS and one.slice is None]
    calls = [(row.metric, row.parameters) for row in result.coverage]
    names = Names([*calls, *((one.metric, one.parameters) for one in examples)])
    primary: dict[str, tuple[str, str]] = {}
    for row in result.metrics:  # a metric's first output is its primary one
        primary.setdefault(row.metric, (row.output, row.unit))
    groups: dict[tuple[str, object], dict[str, list[ExampleResult]]] = {}
    for one in examples:
        of_call = groups.setdefault((one.metric, frozen(one.parameters)), {})
        of_call.setdefault(one.model, []).append(one)
    for by_model in groups.values():
        for name, model in zip(d.models, result.models, strict=True):
            if found := by_model.get(model):
                metric = names.title(found[0].metric, "", found[0].parameters)
                shown = [_card(one, *primary.get(one.metric, ("", ""))) for one in found[:WORST]]
                yield Cards(" · ".join([metric, *([name] * (len(d.models) > 1))]), shown)


def _card(one: ExampleResult, output: str, unit: str) -> Card:
    if one.value is None:
        value = words(one.kind)
    elif output == PASS and one.value in (0, 1):
        value = "passes" if one.value else "fails"
    else:
        value = number(one.value, unit or "fraction")
    told = f"{value} · {clean(one.reason, 400)}" if one.reason else value
    parts = [Part(title, shown) for title, shown in zip(titles(one.texts), one.texts, strict=True)]
    return Card(clean(str(one.sample_id), 80), told, parts, one.verdicts)
