"""Sample sections of the Markdown report: problems, coverage, worst samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from valor_cli.reports.render.markdown.escaping import escaped, folded, in_html, table
from valor_cli.reports.render.markdown.judges import verdict_lines
from valor_cli.reports.sections.coverage import CoverageTable, coverage_table
from valor_cli.reports.sections.digest import Digest
from valor_cli.reports.sections.problems import counted, shown_insights, shown_problems
from valor_cli.reports.sections.samples.texts import parts, titles
from valor_cli.reports.sections.samples.worst_samples import (
    WorstSample,
    WorstSamples,
    worst_samples,
)
from valor_cli.results import RunResult, ShownText

PROBLEMS = 15
INSIGHTS = 5
COVERAGE = 40
"""Lines listed."""

WORST = 3
TEXTS = 4
"""Worst samples of each metric and model, and texts of each."""

ROOM = 20_000
"""Characters of all worst samples together: GitHub cuts a comment at 65,536."""

BEFORE = 60
LENGTH = 240
"""Characters of a text that are shown, and how many of them before the first mark."""


def problems(result: RunResult) -> Iterator[str]:
    """Most severe first."""
    found = shown_problems(result)
    if not found:
        return
    yield "### Problems"
    yield ""
    yield f"{counted(found)}:"
    yield ""
    for problem in found[:PROBLEMS]:
        yield f"- **{problem.severity}** · {escaped(problem.message)}"
    if len(found) > PROBLEMS:
        yield f"- … and {len(found) - PROBLEMS:,} more in results.json"


def insights(result: RunResult) -> Iterator[str]:
    """Insights, one of each kind first."""
    found = shown_insights(result)  # the table of values shows these
    if not found:
        return
    yield "### Insights"
    yield ""
    for insight in found[:INSIGHTS]:
        yield f"- {escaped(insight)}"
    if len(found) > INSIGHTS:
        yield f"- … and {len(found) - INSIGHTS:,} more in results.json"


def coverage(result: RunResult, digest: Digest) -> Iterator[str]:
    """Where samples have no value."""
    if not result.coverage:
        return
    found = coverage_table(result)
    yield from folded("Coverage", _coverage(found, digest))


def _coverage(found: CoverageTable, digest: Digest) -> Iterator[str]:
    if found.lines:
        many = len(digest.models) > 1
        rows = [
            [
                escaped(line.metric),
                *([escaped(line.model)] if many else []),
                line.share,
                *(f"{count:,}" if count else "–" for count in line.counts),
            ]
            for line in found.lines[:COVERAGE]
        ]
        names = ["metric", *(["model"] if many else []), "coverage", *found.statuses]
        yield from table(names, rows, left=1 + many)
        if len(found.lines) > COVERAGE:
            yield f"\n… and {len(found.lines) - COVERAGE:,} more in results.json."
        yield ""
    yield found.remark or "Coverage is the part of the samples that have a value."


def worst_texts(result: RunResult, digest: Digest) -> Iterator[str]:
    """The worst samples by metric and model, folded, up to a limit."""
    found = worst_samples(result, WORST)
    if not found:
        return
    yield from folded("Worst samples", _worst(found, digest))


def _worst(found: Sequence[WorstSamples], digest: Digest) -> Iterator[str]:
    room, left_out = ROOM, 0
    for group in found:
        lines = [line for sample in group.samples for line in _sample(sample)]
        room -= sum(map(len, lines))
        if room < 0:
            left_out += 1
            continue
        yield from folded(_title(group, digest), lines)
        yield ""
    if left_out:
        yield f"Those of {left_out:,} more metrics and models stand in results.json."


def _title(group: WorstSamples, digest: Digest) -> str:
    model = [digest.models[group.model]] if len(digest.models) > 1 else []
    return in_html(" · ".join([group.metric, *model]))


def _sample(sample: WorstSample) -> Iterator[str]:
    reason = f" · {escaped(sample.reason)}" if sample.reason else ""
    yield f"- **{escaped(sample.name)}** · {sample.value}{reason}"
    texts = sample.example.texts
    named = list(zip(texts, titles(texts), strict=True))
    first = sorted(range(len(named)), key=lambda at: (not texts[at].marks, at))[:TEXTS]
    for shown, title in (named[at] for at in sorted(first)):
        yield f"  - {escaped(title.lower())}: {_quoted(shown) or '*empty*'}"
    yield from verdict_lines(sample.example.verdicts)


def _quoted(shown: ShownText) -> str:
    """The part around the first mark in one line, marks in bold."""
    first = shown.marks[0][0] if shown.marks else 0
    start = max(first - BEFORE, 0) if first > LENGTH - BEFORE else 0
    end = start + LENGTH
    marks = [(a - start, min(b, end) - start, kind) for a, b, kind in shown.marks if a < end]
    window = ShownText(shown.field, shown.text[start:end], marks)
    told: list[str] = []
    for characters, kind in parts(window):
        text = escaped(" ".join(characters.split()))
        before = " " if told and characters[:1].isspace() else ""
        after = " " if characters[-1:].isspace() else ""
        told.append(f"{before}<b>{text}</b>{after}" if kind and text else f"{before}{text}{after}")
    text = " ".join("".join(told).split())
    more = start > 0, end < len(shown.text) or shown.left_out > 0
    return f"{'… ' if more[0] else ''}{text}{' …' if more[1] else ''}"
