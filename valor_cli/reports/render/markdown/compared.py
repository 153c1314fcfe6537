"""Markdown report of a comparison, for pull requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from valor_cli.reports.render.markdown.escaping import escaped, in_html, table
from valor_cli.reports.sections.comparison.digest import ComparedDigest, ShownPair, compared_digest
from valor_cli.reports.sections.comparison.rows import ComparedValue, remarks
from valor_cli.reports.sections.comparison.samples import (
    ShownSample,
    ShownSide,
    change_texts,
    shown_samples,
)
from valor_cli.reports.sections.formatting import clean
from valor_cli.results import ComparedRuns

SAMPLES = 12
"""Samples shown of each pair of models."""

PAIRS = 12
"""Pairs of models with a table of their own."""

ROWS = 60
"""Further values of a pair, and names that only one run has."""

TEXT = 700
"""Characters of an answer."""

ROOM = 24_000
"""Characters of samples: GitHub cuts a comment at 65,536."""


def compared_markdown(compared: ComparedRuns) -> str:
    """The report; all data is escaped."""
    digest = compared_digest(compared)
    many = len(digest.pairs) > 1
    sections = [
        _verdict(digest),
        _warnings(digest),
        *(_pair(pair, many=many) for pair in digest.pairs[:PAIRS]),
        _other_pairs(digest.pairs[PAIRS:]),
        _notes(digest),
        *(_changes(pair) for pair in digest.pairs[:PAIRS]),
        _samples(compared, digest),
        _only(digest),
        _runs(digest),
    ]
    return "\n\n".join("\n".join(lines) for lines in map(list, sections) if lines) + "\n"


def _verdict(digest: ComparedDigest) -> Iterator[str]:
    yield f"## {digest.verdict.symbol} {digest.verdict.word} · {digest.verdict.detail}"
    yield ""
    yield f"**{escaped(digest.task)}**"
    yield ""
    for side in digest.sides:
        letter = f"**{side.letter}** " if side.letter else ""
        yield f"- {letter}{escaped(side.path)} · {escaped(side.models)} · {escaped(side.started)}"


def _warnings(digest: ComparedDigest) -> Iterator[str]:
    if digest.warnings:
        yield "### Warnings"
        yield ""
        yield from (f"- {escaped(warning)}" for warning in digest.warnings)


def _pair(pair: ShownPair, *, many: bool) -> Iterator[str]:
    if many:
        yield f"### {escaped(pair.title)}" + (f": {pair.counts}" if pair.counts else "")
        yield ""
    first, rest = (pair.headline, pair.further) if pair.headline else (pair.further[:ROWS], ())
    if first:
        yield from _values(pair, first)
    for remark in remarks(first):
        yield f"\n{escaped(remark)}"
    if rest:
        told = [one for one in rest if one.outcome in ("better", "worse")]
        shown = sorted(rest, key=lambda one: one not in told)[:ROWS]
        yield f"\n<details><summary>{_further(len(rest), len(told))}</summary>\n"
        yield from _values(pair, shown)
        if len(rest) > len(shown):
            yield f"\n… and {len(rest) - len(shown):,} more in compared.json."
        yield "\n</details>"


def _further(values: int, clear: int) -> str:
    of = f", {clear:,} of them better or worse" if clear else ""
    return f"{values:,} further value{'' if values == 1 else 's'}{of}"


def _values(pair: ShownPair, values: Sequence[ComparedValue]) -> Iterator[str]:
    effects = any(one.row.effect is not None for one in values)
    rows = []
    for one in values:
        name = f"{one.name} [{one.where}]" if one.where else one.name
        clear = one.outcome in ("better", "worse")
        verdict = f"{one.verdict[0]} **{one.outcome}**" if clear else one.verdict
        cells = [one.other, one.value, f"{one.difference} {one.interval}".rstrip(), escaped(one.p)]
        rows.append([escaped(name), verdict, *cells, *([one.effect] if effects else []), one.n])
    headings = ["", "verdict", escaped(pair.other), escaped(pair.model), "difference", "p"]
    yield from table([*headings, *(["effect"] if effects else []), "n"], rows, left=2)


def _other_pairs(pairs: Sequence[ShownPair]) -> Iterator[str]:
    for pair in pairs:
        yield f"- {escaped(pair.title)}: {pair.counts or 'nothing to compare'}"


def _notes(digest: ComparedDigest) -> Iterator[str]:
    if digest.notes:
        yield f"<sub>{escaped(' '.join(digest.notes))}</sub>"


def _changes(pair: ShownPair) -> Iterator[str]:
    if not pair.changes:
        return
    yield f"### Samples that changed{f', {escaped(pair.title)}' if pair.title else ''}"
    yield ""
    rows = [
        [escaped(one.name), f"{one.worse:,}", f"{one.better:,}", f"{one.equal:,}"]
        for one in pair.changes
    ]
    yield from table(["", "worse", "better", "equal"], rows)


def _samples(compared: ComparedRuns, digest: ComparedDigest) -> Iterator[str]:
    """Both answers of each sample, folded, while there is room."""
    shown = shown_samples(compared, SAMPLES)
    if not shown:
        return
    pairs = {pair.key: pair for pair in digest.pairs}
    yield "### Changed most"
    yield ""
    room, written = ROOM, 0
    for one in shown:
        lines = list(_sample(one, pairs[one.source.model, one.source.other]))
        room -= sum(map(len, lines))
        if room < 0:
            break
        written += 1
        yield from lines
    if len(compared.changed) > written:
        yield ""
        yield f"{len(compared.changed) - written:,} more in compared.json."


def _sample(one: ShownSample, pair: ShownPair) -> Iterator[str]:
    of = f" · {pair.title}" if pair.title else ""
    changes = "; ".join(f"{word} {told}" for word, told in change_texts(one.changes[:4]))
    title = f"<b>{in_html(one.name)}</b>{in_html(of)} · {in_html(changes)}"
    if not one.shared and not one.texts:
        yield f"- {escaped(one.name + of)} · {escaped(changes)}"
        return
    yield f"<details><summary>{title}</summary>"
    yield ""
    for name, text, left_out in one.shared:
        yield f"- {escaped(name.lower())}: {_one_line(text, left_out)}"
    for pair_of in one.texts:
        for heading, side in ((pair.other, pair_of.other), (pair.model, pair_of.own)):
            yield f"- **{escaped(heading)}** {escaped(pair_of.title.lower())}: {_marked(side)}"
    yield ""
    yield "</details>"
    yield ""


def _one_line(text: str, left_out: str) -> str:
    more = " …" if len(text) > TEXT or left_out else ""
    return (escaped(" ".join(text[:TEXT].split())) or "*empty*") + more


def _marked(side: ShownSide) -> str:
    """The text in one line, words that differ in bold."""
    if side.missing:
        return "*none*"
    room = TEXT
    told = []
    for text, differs in side.parts:
        part = text[:room]
        room -= len(part)
        ready = escaped(" ".join(part.split()))
        before = " " if part[:1].isspace() else ""
        after = " " if part[-1:].isspace() else ""
        told.append(
            f"{before}<b>{ready}</b>{after}" if differs and ready else f"{before}{ready}{after}"
        )
        if room <= 0:
            break
    text = " ".join("".join(told).split())
    whole = sum(len(part) for part, _ in side.parts) <= TEXT and not side.left_out
    return (text or "*empty*") + ("" if whole else " …")


def _only(digest: ComparedDigest) -> Iterator[str]:
    for title, names in digest.only:
        yield f"<details><summary>{in_html(title)} ({len(names):,})</summary>"
        yield ""
        yield from (f"- {escaped(name)}" for name in names[:ROWS])
        if len(names) > ROWS:
            yield f"- … and {len(names) - ROWS:,} more in compared.json"
        yield ""
        yield "</details>"
        yield ""


def _runs(digest: ComparedDigest) -> Iterator[str]:
    yield f"<details><summary>{'Run' if digest.one_run else 'Runs'}</summary>"
    for side in digest.sides:
        yield ""
        facts = [[escaped(name), escaped(clean(text, 400))] for name, text in side.facts]
        yield from table([side.letter, ""], facts, left=2)
        yield ""
        yield from table(
            ["input", "rows", "sha256"],
            [[escaped(path), rows, sha] for path, rows, sha in side.inputs],
        )
    yield ""
    yield "</details>"
