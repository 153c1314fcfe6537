"""A run in; a Markdown report that reads well in a pull request out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

from valor_cli.reports.breakdown import Breakdown, Share, breakdowns
from valor_cli.reports.confusion import Confusion, confusions, first_of_each_key, top_pairs
from valor_cli.reports.digest import (
    SIDE_BY_SIDE,
    Cell,
    Digest,
    Grid,
    Measure,
    difference,
    digest,
    worst_first,
)
from valor_cli.reports.distribution import MARKS, distributions
from valor_cli.reports.formatting import number, plain, signed, span, words
from valor_cli.reports.outcomes import MISSED
from valor_cli.reports.reliability import calibrations
from valor_cli.reports.worst import worst_images
from valor_cli.results import RunInfo, RunResult

LABELS = 500
SLICES = 50
"""Lines shown in full: GitHub cuts a comment at 65,536 characters."""

MEASURES = 9
CELLS = 4_500
"""Measures shown of each label, and of all labels and models together."""

TABLES = 4
BINS = 50
"""Settings whose reliability is shown in full, and bins of each."""

PAIRS = 10
WORST = 5
"""Confusions and images shown of each model."""

_MARKS = {"passed": "✓ passed", "failed": "✗ **failed**", "not checked": "? not checked"}
_MENTION = re.compile(r"(?<!\w)@")
_SPECIAL = re.compile(r"([\\`*{}\[\]|~#$!]|(?<![^\W_])_|_(?![^\W_]))")


def to_markdown(result: RunResult) -> str:
    """The report; every word from the data is escaped."""
    told = digest(result)
    sections = [
        _verdict(told),
        _headline(told),
        _gates(told),
        _slices(told),
        *map(_breakdown, breakdowns(result), repeat(told)),
        _confusions(result, told),
        _calibration(result, told),
        _spread(result, told),
        _worst(result, told),
        _warnings(result.warnings, told),
        _labels(told),
        _run(result.run, told),
    ]
    return "\n\n".join("\n".join(lines) for lines in map(list, sections) if lines) + "\n"


def escaped(text: str) -> str:
    """Foreign text that shows as itself in GitHub's Markdown: no markup, links or mentions."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _SPECIAL.sub(r"\\\1", text)
    text = _MENTION.sub("@&#8203;", text)
    return text.replace("://", "&#58;//").replace("www.", "www&#46;")


def _verdict(told: Digest) -> Iterator[str]:
    yield f"## {told.verdict.symbol} {told.verdict.word} · {told.verdict.detail}"
    yield ""
    yield f"**{escaped(told.task)}** · " + " · ".join(map(escaped, told.scope))


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield "|" + "|".join([":--"] * left + ["--:"] * (len(headings) - left)) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _value(cell: Cell, measure: Measure, *, interval: bool = True) -> str:
    text = number(cell.value, measure.unit)
    text = f"**{text}**" if cell.best else text
    return f"{text} {span(cell.interval, measure.unit)}".rstrip() if interval else text


def _headline(told: Digest) -> Iterator[str]:
    if not told.headline.measures:
        return
    pair = ["difference"] if len(told.models) == 2 else []
    rows = []
    for measure, cells in zip(told.headline.measures, told.headline.lines[0].cells, strict=True):
        change = [signed(difference(cells), measure.unit)] if pair else []
        values = [_value(cell, measure) for cell in cells]
        rows.append([escaped(str(measure)), *values, *change])
    yield from _table(["", *map(escaped, told.models), *pair], rows)


def _gates(told: Digest) -> Iterator[str]:
    if not told.gates:
        return
    many = len(told.models) > 1
    rows = []
    for gate in told.gates:
        subject = escaped(f"{gate.subject} · {gate.where}" if gate.where else gate.subject)
        model = [escaped(gate.model)] if many else []
        cells = [gate.rule, gate.value, escaped(gate.reason)]
        rows.append([_MARKS[gate.status], subject, *model, *cells])
    yield "### Gates"
    yield ""
    headings = ["status", "metric", *(["model"] if many else []), "rule", "value", "reason"]
    yield from _table(headings, rows, left=len(headings))


def _lines(grid: Grid, told: Digest, first: str, most: int, *, intervals: bool) -> Iterator[str]:
    """Labels or slices: a column per measure and model."""
    many = len(told.models) > 1
    headings = [
        f"{escaped(str(measure))}<br>{escaped(model)}" if many else escaped(str(measure))
        for measure in grid.measures
        for model in told.models
    ]
    rows = []
    for line in grid.lines[:most]:
        pairs = zip(line.cells, grid.measures, strict=True)
        values = [
            _value(cell, measure, interval=intervals) for cells, measure in pairs for cell in cells
        ]
        rows.append([escaped(line.name), number(line.n, "count"), *values])
    yield from _table([first, told.n_name, *headings], rows)
    if len(grid.lines) > most:
        yield ""
        yield f"… and {len(grid.lines) - most:,} more."


def _slices(told: Digest) -> Iterator[str]:
    if not told.slices.lines:
        return
    yield "### Slices, worst first"
    yield ""
    few = slice(3)
    lines = tuple(
        type(line)(line.name, line.n, line.cells[few]) for line in worst_first(told.slices)
    )
    yield from _lines(Grid(told.slices.measures[few], lines), told, "slice", SLICES, intervals=True)


def _breakdown(found: Breakdown, told: Digest) -> Iterator[str]:
    yield f"### Average precision lost{f' ({escaped(found.detail)})' if found.detail else ''}"
    yield ""
    many = len(told.models) > 1
    names = [f"{escaped(model)}<br>" if many else "" for model in told.models]
    headings = ["error", *(f"{name}{what}" for name in names for what in ("AP lost", "errors"))]
    rows = [
        [kind.name, *(cell for share in kind.shares for cell in _share(share))]
        for kind in (*found.kinds, *found.sides)
    ]
    yield from _table(headings, rows)
    if any(kind.name == MISSED.words for kind in found.kinds):
        yield ""
        yield f"{MISSED.words.capitalize()}: {MISSED.meaning}."


def _share(share: Share) -> tuple[str, str]:
    count = "" if share.count is None else number(share.count, "count")
    return number(share.cost), count


def _confusions(result: RunResult, told: Digest) -> Iterator[str]:
    found = first_of_each_key(confusions(result))
    tops = [(one, top_pairs(one, PAIRS)) for one in found]
    if not any(pairs for _, pairs in tops):
        return
    yield "### Top confusions"
    for one, pairs in tops:
        if not pairs:
            continue
        shown = any(pair.sample_id for pair in pairs)
        model = f"**{escaped(told.models[one.model])}**" if len(told.models) > 1 else ""
        where = " at ".join(part for part in (model, escaped(one.settings)) if part)
        if where:
            yield ""
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
        headings = ["ground truth", "taken for", counted, f"of its {_of(one, told)}"]
        yield from _table([*headings, *([f"example {told.unit}"] if shown else [])], rows, left=2)


def _of(confusion: Confusion, told: Digest) -> str:
    return "pixels" if confusion.pixels else told.n_name if told.n_name != "n" else "ground truths"


def _calibration(result: RunResult, told: Digest) -> Iterator[str]:
    """A line for each model, and its table to open."""
    found = calibrations(result)
    if not found:
        return
    yield "### Calibration"
    yield ""
    rows = [
        [escaped(told.models[one.model]), escaped(part.title), number(one.error), one.leaning]
        for part in found
        for one in part.models
    ]
    if not any(part.title for part in found):
        rows = [[model, *rest] for model, _, *rest in rows]
    headings = ["model", "", escaped(words(found[0].metric)), "bins"]
    yield from _table(headings if len(rows[0]) == 4 else [headings[0], *headings[2:]], rows)
    for part in found[:TABLES]:
        for one in part.models[:SIDE_BY_SIDE]:
            model = escaped(" · ".join(filter(None, (told.models[one.model], part.title))))
            yield ""
            yield f"<details><summary>Reliability table, {model}</summary>"
            yield ""
            lines = [
                [
                    f"{at.low:.3g} to {at.high:.3g}",
                    number(at.n, "count"),
                    number(at.confidence),
                    number(at.accuracy),
                    signed(at.gap),
                ]
                for at in one.bins
                if at.n
            ]
            headings = ["confidence", "samples", "mean confidence", "accuracy", "gap"]
            yield from _table(headings, lines[:BINS])
            yield ""
            yield "</details>"


def _spread(result: RunResult, told: Digest) -> Iterator[str]:
    """How the values of single images or samples spread."""
    found = distributions(result)
    if not found:
        return
    yield f"### By {told.unit}"
    yield ""
    rows = [
        [
            escaped(f"{part.title} ({part.detail})" if part.detail else part.title),
            escaped(told.models[one.model]),
            *one.marks,
        ]
        for part in found[: 2 * TABLES]
        for one in part.spreads
    ]
    yield from _table(["", "model", *(name for _, name in MARKS)], rows, left=2)


def _worst(result: RunResult, told: Digest) -> Iterator[str]:
    found = worst_images(result, WORST)
    if not any(found):
        return
    yield "### Worst images"
    for model, images in zip(told.models, found, strict=True):
        if not images:
            continue
        yield ""
        if len(told.models) > 1:
            yield f"**{escaped(model)}**"
            yield ""
        for image in images:
            file = f" ({escaped(image.file)})" if image.file not in ("", image.name) else ""
            errors = f" · {image.errors}" if image.errors else ""
            others = f" · {escaped(image.others)}" if image.others else ""
            value = f"{escaped(image.measure)} {image.value}"
            yield f"- {escaped(image.name)}{file} · {value}{others}{errors}"


def _labels(told: Digest) -> Iterator[str]:
    if not told.labels.lines:
        return
    yield f"<details><summary>Labels ({len(told.labels.lines):,})</summary>"
    yield ""
    # Intervals would double the width of a table that is wide already; results.json has them.
    few = slice(MEASURES)
    lines = tuple(type(line)(line.name, line.n, line.cells[few]) for line in told.labels.lines)
    grid = Grid(told.labels.measures[few], lines)
    most = min(LABELS, CELLS // max(len(grid.measures) * len(told.models), 1))
    yield from _lines(grid, told, "label", most, intervals=False)
    if len(told.labels.measures) > MEASURES:
        yield ""
        yield f"… and {len(told.labels.measures) - MEASURES} more columns in results.json."
    yield ""
    yield "</details>"


def _warnings(warnings: Sequence[str], told: Digest) -> Iterator[str]:
    notes = [f"- {escaped(plain(warning, 400))}" for warning in warnings]
    notes += [f"- No predictions for labels of {escaped(line)}" for line in told.missing]
    notes += [f"- No ground truth for labels of {escaped(line)}" for line in told.ignored]
    if notes:
        yield "### Warnings"
        yield ""
        yield from notes


def _run(run: RunInfo, told: Digest) -> Iterator[str]:
    yield "<details><summary>Run</summary>"
    yield ""
    facts = {
        "valor": run.valor_version,
        "started": run.started_at,
        "duration": f"{run.duration_s:.2f} s",
        "command": run.command,
        "config": run.config,
        "config sha256": run.config_sha256,
        **dict(told.settings),
        **run.packages,
    }
    named = [[escaped(plain(k)), escaped(plain(v, 400))] for k, v in facts.items()]
    yield from _table(["", ""], named, left=2)
    yield ""
    inputs = [
        [escaped(plain(file.path, 200)), f"{file.rows:,}", f"{file.skipped:,}", file.sha256[:12]]
        for file in run.inputs
    ]
    yield from _table(["input", "rows", "skipped", "sha256"], inputs)
    yield ""
    yield "</details>"
