"""Terminal summary of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from valor_cli.reports.render.terminal.table_width import Fitting, Page, one_line, table
from valor_cli.reports.sections.comparison.digest import (
    ComparedDigest,
    Conclusion,
    ShownPair,
    compared_digest,
    notes_of,
)
from valor_cli.reports.sections.comparison.rows import ComparedValue, Outcome, remarks
from valor_cli.reports.sections.comparison.samples import (
    ShownSample,
    ShownSide,
    change_texts,
    shown_samples,
)
from valor_cli.reports.sections.formatting import clean
from valor_cli.results import ComparedRuns

PAIRS = 3
"""Pairs of models with a table of their own; the others get a line each."""

LISTED = 12
"""Pairs of models listed by a line."""

ROWS = 16
"""Headline values of a pair."""

FURTHER = 8
"""Others of a pair that are better or worse; half as many where there are several pairs."""

SAMPLES = 4
"""Samples shown with both answers."""

CHANGES = 3
"""Changes of a sample, as many of them as a line has room for."""

TEXT = 240
"""Characters of an answer, from a few words before the first that differs."""

BEFORE = 60

_MOST = {"warnings": 5, "only": 4, "changes": 10, "reasons": 4}

STYLES: dict[Outcome, str] = {
    "worse": "red",
    "better": "green",
    "equal": "dim",
    "cannot tell": "none",
    "not tested": "yellow",
}
_VERDICTS = {"worse": "bold red", "better": "bold green", "none": "bold yellow"}


class _Form(NamedTuple):
    """The columns of a table besides names, both values and the verdict."""

    interval: bool = True
    effect: bool = True
    n: bool = True
    p: bool = True
    difference: bool = True


_FORMS = (
    _Form(),
    _Form(n=False),
    _Form(n=False, effect=False),
    _Form(n=False, effect=False, interval=False),
    _Form(n=False, effect=False, interval=False, p=False),
    _Form(n=False, effect=False, interval=False, p=False, difference=False),
)


def compared_summary(compared: ComparedRuns, files: Sequence[str] = ()) -> RenderableType:
    """Verdict first, report paths last; colour only repeats the text."""
    digest = compared_digest(compared)
    parts: list[RenderableType] = [_head(digest.verdict), *_sides(digest)]
    parts += _section(_listed("Warnings", digest.warnings, _MOST["warnings"], "bold yellow"))
    for pair in digest.pairs[:PAIRS]:
        parts += _section(_pair(pair, _most(digest)))
    parts += _section(_other_pairs(digest.pairs[PAIRS:]))
    parts += _section(_notes(compared, digest))
    if len(digest.pairs) == 1:
        parts += _section(_changes(digest.pairs[0]))
    parts += _section(_samples(compared, digest))
    for title, names in digest.only:
        parts += _section(_listed(title, names, _MOST["only"], "bold"))
    if files:
        shown = [clean(file, 200) for file in files]
        whole = Text.assemble(("Report", "bold"), "  ", "\n        ".join(shown), no_wrap=True)
        apart = [Text("Report", "bold"), *(Text(file, overflow="fold") for file in shown)]
        parts += ["", Fitting([[whole], apart])]
    return Page(parts, [f"Report  {clean(file, 200)}" for file in files])


def _section(parts: Iterator[RenderableType]) -> list[RenderableType]:
    found = list(parts)
    return ["", *found] if found else []


def _head(verdict: Conclusion) -> Text:
    return Text.assemble((verdict.word, _VERDICTS.get(verdict.kind, "bold")), f"  {verdict.detail}")


def _sides(digest: ComparedDigest) -> Iterator[RenderableType]:
    if digest.one_run:
        side = digest.sides[0]
        yield one_line(f"{digest.task} · {side.path} · {side.models}")
        return
    yield Text(digest.task)
    made = Table.grid(padding=(0, 2, 0, 0))
    for side in digest.sides:
        judged = "judged" if side.letter == "B" else "to beat"
        made.add_row(
            Text(f"{side.letter}", style="bold"),
            Text(side.path, overflow="fold"),
            Text(side.models, overflow="fold"),
            Text(f"{judged}, {side.started[:16].replace('T', ' ')}", style="dim"),
        )
    yield made


def _listed(title: str, names: Sequence[str], most: int, style: str) -> Iterator[RenderableType]:
    if names:
        yield Text(title, style=style)
        for name in names[:most]:
            yield Text(f"  {clean(name, 300)}")
        yield from _more(len(names) - most)


def _more(count: int, of: str = "") -> Iterator[RenderableType]:
    if count > 0:
        yield Text(f"  … {count:,} more{of}", style="dim")


def _most(digest: ComparedDigest) -> int:
    return FURTHER if len(digest.pairs) == 1 else FURTHER // 2


def _shown(pair: ShownPair, most: int) -> tuple[Sequence[ComparedValue], Sequence[ComparedValue]]:
    """The headline values that have a line, and the further ones that are better or worse."""
    if not pair.headline:
        return (), pair.further[:ROWS]
    further = [one for one in pair.further if one.outcome in ("better", "worse")]
    return pair.headline[:ROWS], further[:most]


def _pair(pair: ShownPair, most: int) -> Iterator[RenderableType]:
    """The headline values, then what else is better or worse."""
    if pair.title:
        yield Text.assemble((pair.title, "bold"), f"  {pair.counts}" if pair.counts else "")
    headline, further = _shown(pair, most)
    shown = [*headline, *further]
    if not shown:
        return
    yield values_table(pair.other, pair.model, shown)
    yield from _more(len(pair.headline) - ROWS, " headline values")
    hidden = len(pair.further) - len(further)
    if hidden > 0:
        values = "1 further value" if hidden == 1 else f"{hidden:,} further values"
        yield Text(f"  … {values} in the reports", style="dim")
    reasons = remarks(shown)
    for reason in reasons[: _MOST["reasons"]]:
        yield Text(f"  {reason}", style="dim")
    yield from _more(len(reasons) - _MOST["reasons"], " such remarks")


def values_table(
    other: str, model: str, rows: Sequence[ComparedValue], *, named: bool = False
) -> Fitting:
    """A line per value, as much of it as there is room for.

    Args:
        other, model: Headings of both values.
        rows: What to show.
        named: Whether to say whose value it is.
    """
    effects = any(one.row.effect is not None for one in rows)
    forms = dict.fromkeys(form._replace(effect=form.effect and effects) for form in _FORMS)
    return Fitting([_table(("", other, model), rows, form, named=named)] for form in forms)


def _table(
    heads: tuple[str, str, str], rows: Sequence[ComparedValue], form: _Form, *, named: bool
) -> Table:
    headings = [*heads, *(["difference"] if form.difference else [])]
    headings += [name for name in ("p", "effect") if getattr(form, name)]
    made = table(*headings, "", *(["n"] if form.n else []), width=18)
    made.columns[-2 if form.n else -1].justify = "left"
    for one in rows:
        style = STYLES[one.outcome]
        cells = [Text(one.other), Text(one.value)]
        if form.difference:
            change = Text(one.difference, style=style)
            if form.interval and one.interval:
                change.append(f" {one.interval}", style="dim")
            cells.append(change)
        cells += [Text(one.p)] if form.p else []
        cells += [Text(one.effect)] if form.effect else []
        cells.append(Text(one.verdict, style=style))
        cells += [Text(one.n, style="dim")] if form.n else []
        made.add_row(_name(one, named=named), *cells)
    return made


def _name(one: ComparedValue, *, named: bool) -> Text:
    text = Text(one.name)
    if one.where:
        text.append(f" [{one.where}]", style="dim")
    if named:
        text.append(f"  {clean(one.row.model, 24)}", style="dim")
    return text


def _other_pairs(pairs: Sequence[ShownPair]) -> Iterator[RenderableType]:
    for pair in pairs[:LISTED]:
        yield one_line(f"{pair.title}: {pair.counts or 'nothing to compare'}")
    yield from _more(len(pairs) - LISTED, " pairs")


def _notes(compared: ComparedRuns, digest: ComparedDigest) -> Iterator[RenderableType]:
    """Notes on the values in this summary; reports may need more."""
    tables = (_shown(pair, _most(digest)) for pair in digest.pairs[:PAIRS])
    values = [one for headline, further in tables for one in (*headline, *further)]
    if notes := notes_of(compared, values):
        yield Text(" ".join(notes), style="dim")


def _changes(pair: ShownPair) -> Iterator[RenderableType]:
    """How many samples changed; nothing where none did."""
    shown = [one for one in pair.changes if one.better or one.worse]
    if not shown:
        return
    made = table("Samples", "worse", "better", "equal")
    for one in shown[: _MOST["changes"]]:
        worse = Text(f"{one.worse:,}", style="red" if one.worse else "none")
        better = Text(f"{one.better:,}", style="green" if one.better else "none")
        made.add_row(Text(one.name), worse, better, Text(f"{one.equal:,}", style="dim"))
    yield made
    yield from _more(len(shown) - _MOST["changes"], " metrics")


def _samples(compared: ComparedRuns, digest: ComparedDigest) -> Iterator[RenderableType]:
    shown = shown_samples(compared, SAMPLES)
    titles = {pair.key: pair for pair in digest.pairs}
    if not shown:
        return
    yield Text("Changed most", style="bold")
    for one in shown[:SAMPLES]:
        yield from _sample(one, titles[one.source.model, one.source.other])
    rest = len(compared.changed) - len(shown[:SAMPLES])
    yield from _more(rest, " in the reports (--out DIR)")


def _sample(one: ShownSample, pair: ShownPair) -> Iterator[RenderableType]:
    most = min(CHANGES, len(one.changes))
    yield Fitting([[_changed(one, pair, shown)] for shown in range(most, 0, -1)])
    made = Table.grid(padding=(0, 1, 0, 0))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for text in one.texts[:1]:
        for heading, side in ((pair.other, text.other), (pair.model, text.own)):
            made.add_row(Text(f"    {clean(heading, 20)}", style="dim"), _excerpt(side))
    if one.texts:
        yield made


def _changed(one: ShownSample, pair: ShownPair, shown: int) -> Text:
    """A line of that many changes, the widest ones; with one it is cut off where it must be."""
    text = Text.assemble("  ", (one.name, "bold"), f" · {pair.title}" if pair.title else "")
    for word, told in change_texts(one.changes[:shown]):
        text.append("  ").append(word, style="red" if word == "worse" else "green")
        text.append(f"  {told}")
    if len(one.changes) > shown:
        text.append(f", {len(one.changes) - shown} more", style="dim")
    text.no_wrap, text.overflow = True, "ellipsis" if shown == 1 else None
    return text


def _excerpt(side: ShownSide) -> Text:
    """An answer on a few lines, from shortly before the first word that differs."""
    if side.missing:
        return Text("(none)", style="dim")
    text = Text()
    at, first = 0, 0
    for part, differs in side.parts:
        if differs:
            first = at
            break
        at += len(part)
    start = max(first - BEFORE, 0) if first > TEXT - BEFORE else 0
    for part, differs in side.parts:
        text.append(part.replace("\n", " "), style="bold underline" if differs else "none")
    shown = text[start : start + TEXT]
    before, after = "… " if start else "", " …" if len(text) > start + TEXT or side.left_out else ""
    whole = Text.assemble(before, shown, after)
    return whole if whole.plain.strip() else Text("(empty)", style="dim")
