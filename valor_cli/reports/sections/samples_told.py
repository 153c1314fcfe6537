"""The worst samples with their texts, for Markdown; pages have all samples in the explorer."""

from __future__ import annotations

from valor_cli.reports.digests.digest import Digest
from valor_cli.reports.digests.samples.texts import titles
from valor_cli.reports.digests.samples.worst_samples import WorstSample, worst_samples
from valor_cli.reports.document import Block, Card, Cards, Part, Samples, Section

WORST = 3
"""Samples of each metric and model."""


def worst(d: Digest) -> Section | None:
    """By metric and model, worst first."""
    blocks: list[Block] = [
        Cards(
            " · ".join([group.metric, *([d.models[group.model]] * (len(d.models) > 1))]),
            [_card(one) for one in group.samples],
        )
        for group in worst_samples(d.result, WORST)
    ]
    return Section("Worst samples", "worst-samples", blocks, folded=True) if blocks else None


def _card(one: WorstSample) -> Card:
    texts = one.example.texts
    parts = [Part(title, shown) for title, shown in zip(titles(texts), texts, strict=True)]
    told = " · ".join(filter(None, (one.value, one.reason)))
    return Card(one.name, told, parts, one.example.verdicts)


def samples(d: Digest) -> Section | None:
    """All samples, for pages."""
    return Section("Samples", "samples", (Samples(),))
