"""Render a document in Markdown, for pull requests: details are folded, all data is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from valor_cli.reports.digests.texts import excerpt, parts, shown_verdicts
from valor_cli.reports.document import (
    Block,
    Card,
    Cards,
    Cell,
    Column,
    Document,
    Item,
    Items,
    Note,
    Section,
    Table,
)
from valor_cli.results import ShownText

_NUMBERS = re.compile(r"(?:p )?[][0-9.,e+−*< -]*")

CELLS = 4_500
COLUMNS = 24
"""Cells and columns of a table."""

WHOLE = 65_000
ROOM = 22_000
"""Characters of all of it, and of all cards together: GitHub cuts a comment at 65,536."""

TEXTS = 4
VERDICTS = 5
"""Texts and verdicts of a card."""


def to_markdown(document: Document) -> str:
    """The verdict and the gates in brief, then the sections."""
    room = [ROOM]
    parts = [(one, "\n".join(_section(one, room))) for one in document.sections]
    left_out = []
    head = "\n".join(_head(document))
    while sum(len(text) + 2 for _, text in parts) + len(head) > WHOLE:
        # What is folded gives way first, the longest of it before the others.
        longest = max(parts, key=lambda part: (part[0].folded, len(part[1])))
        parts.remove(longest)
        left_out.append(longest[0].title.lower())
    texts = [head, *(text for _, text in parts if text)]
    if left_out:
        told = escaped(", ".join(left_out))
        texts.append(f"Left out for want of room: {told}. The HTML report has all of it.")
    return "\n\n".join(texts) + "\n"


def _head(document: Document) -> Iterator[str]:
    yield f"## {document.symbol} {document.word} · {escaped(document.detail)}"
    yield ""
    if document.alert:
        yield f"**STOPPED**: {escaped(document.alert)}"
        yield ""
    if document.badges:
        yield " ".join(f"<kbd>{mark} {escaped(told)}</kbd>" for mark, told in document.badges)
        yield ""
    yield " · ".join([f"**{escaped(document.title)}**", *map(escaped, document.scope)])


def _section(section: Section, room: list[int]) -> Iterator[str]:
    blocks = [list(_block(one, room)) for one in section.blocks]
    pairs = zip(section.blocks, blocks, strict=True)
    without = sum(isinstance(one, Cards) and not lines for one, lines in pairs)
    if without:
        blocks.append([f"Those of {without:,} more metrics and models are left out here."])
    body = "\n\n".join("\n".join(lines) for lines in blocks if lines)
    if not body:
        return
    if section.folded:
        told = f" ({in_html(section.told)})" if section.told else ""
        yield from _folded(f"{in_html(section.title)}{told}", [body])
        return
    if not section.plain:
        told = f": {escaped(section.told)}" if section.told else ""
        yield f"### {escaped(section.title)}{told}"
        yield ""
    yield body


def _folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    """A folded block; the blank lines keep GitHub from showing tables as source."""
    yield f"<details><summary>{summary}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"


def _block(block: Block, room: list[int]) -> Iterator[str]:
    if isinstance(block, Table):
        yield from _titled(block.title, block.folded, _table(block) if block.rows else ())
    elif isinstance(block, Items):
        yield from _titled(block.title, block.folded, _items(block) if block.items else ())
    elif isinstance(block, Note):
        yield f"<sub>{escaped(block.text)}</sub>"
    elif isinstance(block, Cards):
        yield from _cards(block, room)


def _titled(title: str, folded: str, lines: Iterable[str]) -> Iterator[str]:
    shown = list(lines)
    if not shown:
        return
    if title and not folded:
        yield f"**{escaped(title)}**"
        yield ""
    yield from _folded(in_html(folded), shown) if folded else shown


def _table(table: Table) -> Iterator[str]:
    width = min(len(table.columns), COLUMNS)
    columns = table.columns[:width]
    most = min(table.page, CELLS // width)
    if not most:
        return
    yield f"| {' | '.join(map(_heading, columns))} |"
    yield "|" + "|".join(":--" if one.kind == "text" else "--:" for one in columns) + "|"
    for row in table.rows[:most]:
        yield f"| {' | '.join(map(_cell, row[:width]))} |"
    left_out = [_count(len(table.rows) - most + table.left_out, "rows")] * (
        len(table.rows) > most or table.left_out > 0
    )
    left_out += [_count(len(table.columns) - width, "columns")] * (len(table.columns) > width)
    if left_out:
        yield f"\n… and {' and '.join(left_out)} more in {table.where}."


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun if count > 1 else noun.removesuffix('s')}"


def _heading(column: Column) -> str:
    name = f"{column.name} ({column.detail})" if column.detail else column.name
    if column.over:
        return f"{escaped(column.over)}<br>{escaped(name)}"
    return escaped(f"{name} {column.arrow}".strip())


def _cell(cell: Cell) -> str:
    text = escaped(cell.text) + escaped(cell.mark)
    text = f"**{text}**" if cell.tone == "strong" and text else text
    before = f"{cell.symbol} " if cell.symbol else ""
    after = f" {_numbers(cell.small)}" if cell.small else ""
    share = f" ({escaped(cell.share)})" if cell.share else ""
    return f"{before}{text}{after}{share}"


def _numbers(text: str) -> str:
    """An interval or a p-value as it is; escaped if it is anything else."""
    if _NUMBERS.fullmatch(text):
        return text.replace("<", "&lt;").replace("*", r"\*")
    return escaped(text)


def _items(block: Items) -> Iterator[str]:
    if not block.page:
        return
    yield from map(_item, block.items[: block.page])
    left_out = max(len(block.items) - block.page, 0) + block.left_out
    if left_out:
        yield f"- … and {left_out:,} more in {block.where}"


def _item(item: Item) -> str:
    label = f"**{escaped(item.label)}** · " if item.label else ""
    return f"- {label}{escaped(item.text)}"


def _cards(block: Cards, room: list[int]) -> Iterator[str]:
    """While there is room."""
    lines: list[str] = []
    left_out = block.left_out
    for card in block.cards:
        own = list(_card(card))
        room[0] -= sum(map(len, own))
        if room[0] < 0:
            left_out += 1
        else:
            lines += own
    if not lines:
        return
    if left_out:
        lines.append(f"- … {left_out:,} more are left out here")
    yield from _folded(in_html(block.title), lines)


def _card(card: Card) -> Iterator[str]:
    yield f"- **{escaped(card.title)}** · {escaped(card.told)}"
    texts = [part.text for part in card.parts]
    telling = [part.apart or bool(part.text and part.text.marks) for part in card.parts]
    first = sorted(range(len(texts)), key=lambda at: (not telling[at], at))[:TEXTS]
    for at in sorted(first):
        shown = texts[at]
        told = "*none*" if shown is None else _quoted(shown) or "*empty*"
        yield f"  - {escaped(card.parts[at].title)}: {told}"
    verdicts = shown_verdicts(card.verdicts, VERDICTS)
    for line in verdicts.lines:
        text = f": {escaped(line.text)}" if line.text else ""
        reason = f" – {escaped(line.reason)}" if line.reason else ""
        yield f"  - {line.mark} **{escaped(line.word)}**{text}{reason}"
    if verdicts.left_out:
        yield f"  - … and {verdicts.left_out:,} more verdicts"


def _quoted(shown: ShownText) -> str:
    """The part around the first mark in one line, marks in bold."""
    part = excerpt(shown)
    told = [_span(characters, bool(kind)) for characters, kind in parts(part.shown)]
    text = " ".join("".join(told).split())
    return f"{'… ' if part.before else ''}{text}{' …' if part.after else ''}"


def _span(characters: str, marked: bool) -> str:
    text = escaped(" ".join(characters.split()))
    before = " " if characters[:1].isspace() else ""
    after = " " if characters[-1:].isspace() else ""
    return f"{before}<b>{text}</b>{after}" if marked and text else f"{before}{text}{after}"


_LINKED = re.compile(
    r"(?<=@)(?!\d[\d.]*+(?![\w-]))"  # people and e-mail addresses, and not AR@100
    r"|(?<=[#!%$])(?=\d)|(?<=&amp;)(?=\d)|(?<=\bgh-)(?=\d)"  # issues, merge requests, epics
    r"|(?<=\b[0-9a-f]{20})(?=[0-9a-f]{20}\b)",  # commits
    re.IGNORECASE,
)
"""Where a space of no width keeps GitHub and GitLab from a link; backslashes do not."""

_SPECIAL = re.compile(r"([\\`*{}\[\]|~#$!]|(?<![^\W_])_|_(?![^\W_]))")


def escaped(text: str) -> str:
    """Untrusted text, escaped for GitHub's Markdown: no markup, links or mentions."""
    return _unlinked(_SPECIAL.sub(r"\\\1", _as_html(text)))


def in_html(text: str) -> str:
    """Untrusted text, escaped for a line that starts with an HTML tag."""
    return _unlinked(_as_html(text))


def _as_html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _unlinked(text: str) -> str:
    text = _LINKED.sub("&#8203;", text)
    return text.replace("://", "&#58;//").replace("www.", "www&#46;")
