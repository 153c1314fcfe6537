"""Model comparisons in the Markdown report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from valor_cli.reports.render.html.differences import Differences
from valor_cli.reports.render.html.worst_slices import search_texts
from valor_cli.reports.render.markdown.escaping import escaped, folded, table
from valor_cli.reports.sections.comparison.rows import OF_BOTH, UNADJUSTED, ComparedValue
from valor_cli.reports.sections.digest import Digest
from valor_cli.reports.sections.formatting import NO_VALUE, clean
from valor_cli.results import RunResult

LINES = 12
COLUMNS = 6
"""Lines and columns of the table of pairs, and leading values of a baseline."""

FURTHER = 40
"""Further values listed of a baseline."""

SEARCHES = 4
"""Searches told in full."""

REASONS = 2
"""Reasons told why it cannot be told."""

UNDECIDED = ("cannot tell", "not tested")


def notes(compared: Differences, digest: Digest) -> Iterator[str]:
    """How two models were compared, clause by clause."""
    if compared.of_two and compared.tests:
        yield _tests(compared.tests, compared.level, digest)
        if any(one.p.endswith(UNADJUSTED) for one in compared.of_two.values()):
            yield f"{UNADJUSTED} not adjusted"
    if any(one.row.unpaired and one.row.n for one in compared.of_two.values()):
        yield OF_BOTH
    yield from _why(compared.of_two.values())


def _why(values: Iterable[ComparedValue]) -> Iterator[str]:
    """Why a difference was not tested or is not significant, most frequent reason first."""
    reasons = Counter(
        (one.outcome, one.reason) for one in values if one.reason and one.outcome in UNDECIDED
    )
    for (outcome, reason), _ in reasons.most_common(REASONS):
        yield f"{outcome}: {reason}"


def _tests(tests: str, level: str, digest: Digest) -> str:
    many = "over the headline values" if digest.leading > 1 else "over the values"
    return f"p: {tests}, adjusted by Holm's method {many}; better or worse below {level}"


def pairs(compared: Differences, digest: Digest) -> Iterator[str]:
    """Pairwise comparisons of more than two models by the first headline values."""
    found = compared.pairs
    if found is None:
        return
    yield "### Models against each other"
    yield ""
    rows: Sequence[tuple[str, Sequence[ComparedValue | None]]] = found["rows"]
    lines = [
        [escaped(name), *(_told(one) for one in values[:COLUMNS])] for name, values in rows[:LINES]
    ]
    headings = [str(found["first"]).lower(), *map(escaped, found["heads"][:COLUMNS])]
    yield from table(headings, lines)
    yield ""
    told_of = [_tests(compared.tests, compared.level, digest)] if compared.tests else []
    if found["unadjusted"]:
        told_of.append(f"{UNADJUSTED} not adjusted")
    told_of += _why(one for _, values in rows for one in values if one)
    if len(rows) > LINES or len(found["heads"]) > COLUMNS or found["left_out"]:
        told_of.append("all of them stand in results.json")
    yield f"<sub>{escaped('; '.join(told_of))}.</sub>" if told_of else ""


def _told(one: ComparedValue | None) -> str:
    if one is None:
        return NO_VALUE
    p = "" if one.p == NO_VALUE else f", p {escaped(one.p)}"
    return f"{one.verdict} {one.difference}{p}"


def baseline(compared: Differences) -> Iterator[str]:
    """The comparison with the baseline."""
    found = compared.baseline
    if found is None:
        return
    yield "### Against the baseline"
    yield ""
    leading, further = found["leading"][:LINES], found["further"]
    further = [*found["leading"][LINES:], *further]
    yield from _values(leading, found)
    yield ""
    tests = f"p: {found['tests']}, adjusted by Holm's method over the headline values; "
    told_of = [f"{tests if found['tests'] else ''}better or worse below {found['level']}"]
    told_of += [f"{UNADJUSTED} not adjusted"] if found["unadjusted"] else []
    told_of += _why([*leading, *further])
    yield f"<sub>{escaped('; '.join(told_of))}.</sub>"
    if further:
        yield ""
        lines = list(_values(further[:FURTHER], found))
        left_out = len(further) - len(further[:FURTHER]) + found["left_out"]
        lines += [f"\n… and {left_out:,} more in results.json."] if left_out else []
        noun = "value" if len(further) == 1 else "values"
        yield from folded(f"{len(further):,} further {noun} against the baseline", lines)


def _values(values: Sequence[ComparedValue], found: Mapping[str, Any]) -> Iterator[str]:
    many = len({one.row.model for one in (*found["leading"], *found["further"])}) > 1
    lines = []
    for one in values:
        other = f" ({escaped(clean(one.row.other, 60))})" if found["renamed"] else ""
        model = [escaped(clean(one.row.model, 60))] if many or found["renamed"] else []
        change = f"{one.difference} {one.interval}".rstrip()
        cells = [f"{one.other}{other}", one.value, change, escaped(one.p), one.verdict]
        lines.append([escaped(one.name), *model, *cells])
    names = ["", *(["model"] if many or found["renamed"] else [])]
    headings = [*names, "baseline", "now", "difference", "p", "now it is"]
    yield from table(headings, lines, left=len(names))


def searches(result: RunResult, digest: Digest) -> Iterator[str]:
    """The slices that searches report as worse than the rest."""
    found = search_texts(result, digest.unit)
    if not found:
        return
    yield "### Found slices"
    for one in found[:SEARCHES]:
        yield ""
        yield escaped(one.where)
        if one.found:
            yield ""
        for name, what in one.found:
            yield f"- **{escaped(name)}**: {escaped(what)}"
        if one.left_out:
            yield f"- … and {one.left_out:,} more in results.json"
    if len(found) > SEARCHES:
        yield ""
        yield f"… and {len(found) - SEARCHES:,} more searches in results.json."
