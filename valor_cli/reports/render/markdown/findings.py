"""Error sections of the Markdown report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from valor_cli.reports.charts.distribution import MARKS, distributions
from valor_cli.reports.render.markdown.escaping import escaped, folded, in_html, table
from valor_cli.reports.sections.digest import SIDE_BY_SIDE, Digest
from valor_cli.reports.sections.errors.breakdown import Breakdown, Share, breakdowns
from valor_cli.reports.sections.errors.confusion import (
    Confusion,
    Pair,
    first_of_each_key,
    top_pairs,
)
from valor_cli.reports.sections.errors.confusion import confusions as tables_of
from valor_cli.reports.sections.errors.outcomes import MISSED
from valor_cli.reports.sections.errors.worst_images import WorstImage, worst_images
from valor_cli.reports.sections.formatting import number, signed, words
from valor_cli.reports.sections.reliability import Calibration, Reliability, calibrations
from valor_cli.results import RunResult

TABLES = 4
BINS = 50
"""Settings whose reliability is shown in full, and bins of each."""

PAIRS = 10
WORST = 5
"""Confusions and images shown of each model."""


def breakdown(result: RunResult, digest: Digest) -> Iterator[str]:
    """The cost of each kind of error, one block per setting."""
    for at, found in enumerate(breakdowns(result)[:TABLES]):
        if at:
            yield ""
        detail = f" ({in_html(found.detail)})" if found.detail else ""
        yield from folded(f"Average precision lost{detail}", _costs(found, digest))


def _costs(found: Breakdown, digest: Digest) -> Iterator[str]:
    many = len(digest.models) > 1
    names = [f"{escaped(model)}<br>" if many else "" for model in digest.models]
    headings = ["error", *(f"{name}{what}" for name in names for what in ("AP lost", "errors"))]
    rows = [
        [kind.name, *(cell for share in kind.shares for cell in _share(share))]
        for kind in (*found.kinds, *found.sides)
    ]
    yield from table(headings, rows)
    if any(kind.name == MISSED.words for kind in found.kinds):
        yield ""
        yield f"{MISSED.words.capitalize()}: {MISSED.meaning}."


def _share(share: Share) -> tuple[str, str]:
    count = "" if share.count is None else number(share.count, "count")
    return number(share.cost), count


def confusions(result: RunResult, digest: Digest) -> Iterator[str]:
    found = first_of_each_key(tables_of(result))
    tops = [(one, top_pairs(one, PAIRS)) for one in found]
    if not any(pairs for _, pairs in tops):
        return
    yield from folded("Top confusions", _confusions(tops, digest))


def _confusions(tops: Sequence[tuple[Confusion, Sequence[Pair]]], digest: Digest) -> Iterator[str]:
    for one, pairs in [each for each in tops if each[1]][: 2 * TABLES]:
        shown = any(pair.sample_id for pair in pairs)
        model = f"**{escaped(digest.models[one.model])}**" if len(digest.models) > 1 else ""
        where = " at ".join(part for part in (model, escaped(one.settings)) if part)
        if where:
            yield f"{where if model else f'At {where}'}:"
            yield ""
        rows = [
            [
                escaped(pair.ground_truth),
                escaped(pair.prediction),
                number(pair.count, "count"),
                f"{pair.share:.1%}",
                *([escaped(pair.sample_id or "")] if shown else []),
            ]
            for pair in pairs
        ]
        counted = "pixels" if one.pixels else "count"
        headings = ["ground truth", "taken for", counted, f"of its {_of(one, digest)}"]
        yield from table([*headings, *([f"example {digest.unit}"] if shown else [])], rows, left=2)
        yield ""


def _of(confusion: Confusion, digest: Digest) -> str:
    return (
        "pixels" if confusion.pixels else digest.n_name if digest.n_name != "n" else "ground truths"
    )


def calibration(result: RunResult, digest: Digest) -> Iterator[str]:
    """One line per model, with a folded table."""
    found = calibrations(result)
    if not found:
        return
    yield from folded("Calibration", _calibrations(found, digest))


def _calibrations(found: Sequence[Calibration], digest: Digest) -> Iterator[str]:
    rows = [
        [escaped(digest.models[one.model]), escaped(part.title), number(one.error), one.leaning]
        for part in found
        for one in part.models
    ]
    if not any(part.title for part in found):
        rows = [[model, *rest] for model, _, *rest in rows]
    headings = ["model", "", escaped(words(found[0].metric)), "bins"]
    yield from table(headings if len(rows[0]) == 4 else [headings[0], *headings[2:]], rows)
    for part in found[:TABLES]:
        for one in part.models[:SIDE_BY_SIDE]:
            model = in_html(" · ".join(filter(None, (digest.models[one.model], part.title))))
            yield ""
            yield from folded(f"Reliability table, {model}", _bins(one))


def _bins(one: Reliability) -> Iterator[str]:
    """The bins that have samples."""
    filled = [part for part in one.bins if part.n]
    lines = [
        [
            f"{part.low:.3g} to {part.high:.3g}",
            number(part.n, "count"),
            number(part.confidence),
            number(part.accuracy),
            signed(part.gap),
        ]
        for part in filled[:BINS]
    ]
    yield from table(["confidence", "samples", "mean confidence", "accuracy", "gap"], lines)


def spread(result: RunResult, digest: Digest) -> Iterator[str]:
    """The distribution of per-sample values."""
    found = distributions(result)
    if not found:
        return
    rows = [
        [
            escaped(f"{part.title} ({part.detail})" if part.detail else part.title),
            escaped(digest.models[one.model]),
            *one.marks,
        ]
        for part in found[: 2 * TABLES]
        for one in part.spreads
    ]
    shown = table(["", "model", *(name for _, name in MARKS)], rows, left=2)
    yield from folded(f"By {digest.unit}: how values spread", shown)


def worst(result: RunResult, digest: Digest) -> Iterator[str]:
    found = worst_images(result, WORST)
    if not any(found):
        return
    yield from folded("Worst images", _worst(found, digest))


def _worst(found: Sequence[Sequence[WorstImage]], digest: Digest) -> Iterator[str]:
    for model, images in [pair for pair in zip(digest.models, found, strict=True) if pair[1]]:
        if len(digest.models) > 1:
            yield ""
            yield f"**{escaped(model)}**"
            yield ""
        for image in images:
            file = f" ({escaped(image.file)})" if image.file not in ("", image.name) else ""
            errors = f" · {image.errors}" if image.errors else ""
            others = f" · {escaped(image.others)}" if image.others else ""
            value = f"{escaped(image.measure)} {image.value}"
            yield f"- {escaped(image.name)}{file} · {value}{others}{errors}"
