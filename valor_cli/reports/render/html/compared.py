"""HTML report of a comparison, as one self-contained page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from valor_cli.reports.explorer import page as explorer_page
from valor_cli.reports.explorer.data import Explorer
from valor_cli.reports.render.html.compared_cards import cards, drawn_names
from valor_cli.reports.render.html.compiled_templates import CompiledTemplates
from valor_cli.reports.render.html.leaderboard import breakable
from valor_cli.reports.sections.comparison.digest import ShownCount, ShownPair, compared_digest
from valor_cli.reports.sections.comparison.rows import MARKS, ComparedValue, remarks
from valor_cli.reports.sections.comparison.samples import ShownSample, metrics_of, shown_samples
from valor_cli.reports.sections.errors.outcomes import legend
from valor_cli.results import ComparedRuns

SAMPLES = 50
"""Samples shown of each pair of models."""

TEXT = 900_000
"""Characters of all texts shown; the page says how many samples it left out."""

FURTHER = 500
"""Further values shown of each pair."""

PAIRS = 20
"""Pairs of models shown with all their values; the others are summarised."""

NAMES = 200
"""Values named that only one run has."""

PAPER = 25
"""Samples that a printer gets."""

FOREST = 120
"""Width of a drawn difference in its own units; 0 is in the middle."""

_TEMPLATES = Path(__file__).parents[2] / "page" / "templates"
_SCRIPTS = ("report.js", "errors.js", "compared.js")
_STYLES = ("report.css", "errors.css", "samples.css", "compared.css")


def compared_html(compared: ComparedRuns, explored: Explorer | None = None) -> str:
    """A self-contained page; all data is escaped.

    Args:
        compared: The comparison.
        explored: All samples of both runs.
    """
    digest = compared_digest(compared)
    script = "".join(map(_file, _SCRIPTS)) + (explorer_page.script() if explored else "")
    every = shown_samples(compared, SAMPLES)
    shown = _fitting(every)
    metrics = metrics_of(shown)
    page = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        bytecode_cache=CompiledTemplates(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return page.get_template(
        "compared.html.j2"
    ).render(
        told=digest,
        css=Markup("".join(map(_file, _STYLES)) + (explorer_page.style() if explored else "")),  # noqa: S704 - files of this package
        script=Markup(script),  # noqa: S704 - files of this package
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        **explorer_page.context(explored),
        marks=MARKS,
        breakable=breakable,
        pairs=[_pair(pair) for pair in digest.pairs[:PAIRS]],
        more_pairs=digest.pairs[PAIRS:],
        metrics=metrics,
        cards=cards(shown, digest.pairs, metrics),
        paper=PAPER,
        legend=legend(drawn_names(shown)),
        left_out=len(compared.changed) - len(shown),
        only=[(title, names[:NAMES], len(names)) for title, names in digest.only],
    )


def _file(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _fitting(samples: Sequence[ShownSample]) -> list[ShownSample]:
    """Those there is room for, the widest changes first."""
    kept, room = [], TEXT
    for one in samples:
        room -= one.size
        if room >= 0:
            kept.append(one)
    return kept


def _pair(pair: ShownPair) -> dict[str, Any]:
    headline, further = (pair.headline, pair.further)
    leading = headline or further[:FURTHER]
    rest = further[:FURTHER] if headline else ()
    return {
        "title": pair.title,
        "counts": pair.counts,
        "other": pair.other,
        "model": pair.model,
        "headline": _drawn(leading),
        "further": _drawn(rest),
        "left_out": len(further) - len(rest) if headline else len(further) - len(leading),
        "differ": sum(one.outcome in ("better", "worse") for one in rest),
        "remarks": remarks(leading),
        "changes": [(one, _shares(one)) for one in pair.changes if one.better or one.worse],
        "still": [one.name for one in pair.changes if not one.better and not one.worse],
    }


def _drawn(values: Sequence[ComparedValue]) -> list[tuple[ComparedValue, Markup]]:
    """Each value with its difference drawn; those of one unit to one scale."""
    scales = _scales(values)
    return [(one, _forest(one, scales)) for one in values]


def _scales(values: Sequence[ComparedValue]) -> dict[str, float]:
    """By unit, the farthest from 0 that any difference or end of an interval is."""
    scales: dict[str, float] = {}
    for one in values:
        points = [one.row.difference or 0.0, *(one.row.interval or ())]
        farthest = max(map(abs, points))
        scales[one.row.unit] = max(scales.get(one.row.unit, 0.0), farthest)
    return scales


def _forest(one: ComparedValue, scales: dict[str, float]) -> Markup:
    """The difference as a point and its interval as a line, 0 in the middle; empty without one."""
    scale = scales[one.row.unit]
    if one.row.difference is None or not scale:
        return Markup("")
    half = FOREST / 2
    at = [
        half + end / scale * (half - 4) for end in (one.row.difference, *(one.row.interval or ()))
    ]
    line = f'<path class="reach" d="M{at[1]:.1f} 8H{at[2]:.1f}"/>' if one.row.interval else ""
    kind = one.outcome.replace(" ", "-")
    ready = (
        f'<svg class="forest {kind}" viewBox="0 0 {FOREST} 16" aria-hidden="true">'
        f'<path class="zero" d="M{half:.0f} 0v16"/>{line}<circle cx="{at[0]:.1f}" cy="8" r="3"/>'
        "</svg>"
    )
    return Markup(ready)  # noqa: S704 - numbers and words of ours alone


def _shares(one: ShownCount) -> tuple[float, float]:
    """The parts of the samples that are worse and better."""
    total = max(one.worse + one.better + one.equal, 1)
    return round(one.worse / total * 100, 2), round(one.better / total * 100, 2)
