"""The report of a run as a document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from valor_cli.reports.digests.digest import Digest, digest
from valor_cli.reports.document import Document, Section, Tone
from valor_cli.reports.sections import comparisons, diagnostics, findings, gates, mistakes, values
from valor_cli.reports.sections.curves import curve_section
from valor_cli.reports.sections.headline import headline
from valor_cli.reports.sections.judges import judges
from valor_cli.reports.sections.run_details import coverage, run_record, warnings
from valor_cli.reports.sections.samples import samples, worst
from valor_cli.results import RunResult

TONES: Final[dict[str, Tone]] = {"PASSED": "good", "FAILED": "bad", "INCOMPLETE": "caution"}

SECTIONS: Final[tuple[Callable[[Digest], Section | None], ...]] = (
    lambda d: gates.section(d.gates, len(d.models)),
    headline,
    comparisons.models,
    comparisons.baseline,
    findings.failures,
    findings.problems,
    findings.insights,
    lambda d: warnings(d.result.warnings, d.missing, d.ignored),
    samples,
    values.slices,
    values.labels,
    mistakes.breakdown,
    mistakes.confusion,
    mistakes.images,
    curve_section,
    diagnostics.calibration,
    diagnostics.spread_of_values,
    worst,
    coverage,
    judges,
    run_record,
)
"""Is it good enough, is it better than before, where does it fail; then the details."""


def report(result: RunResult) -> Document:
    """All sections that the run has content for."""
    d = digest(result)
    return Document(
        word=d.verdict.word,
        symbol=d.verdict.symbol,
        detail=d.verdict.detail,
        tone=TONES.get(d.verdict.word, ""),
        title=d.task,
        scope=d.scope,
        alert=d.stopped,
        badges=gates.badges(d.gates, len(d.models)),
        models=d.models,
        sections=[one for one in (section(d) for section in SECTIONS) if one is not None],
    )
