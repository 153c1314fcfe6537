"""Render a document for a terminal, on about one screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import Struct
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from valor_cli.reports.digests.formatting import clean, plural
from valor_cli.reports.digests.texts import excerpt, visible
from valor_cli.reports.document import (
    Block,
    Cards,
    Cell,
    Column,
    Document,
    Item,
    Items,
    Note,
    Part,
    Section,
    Table,
    Tone,
)
from valor_cli.reports.render.fitting import HEADING, Fitting, Name, Page, grid

SCREEN = 30
"""Lines that all of it should have at most."""

MESSAGE = 300
"""Characters of a list's text."""

FOLDED = 64
"""Characters of a list's line on a screen of 80 columns."""

NARROW = 14
"""Characters of a heading's line where there is little room."""

LABEL = 20
"""Characters of the labels that stand in a column of their own."""

STYLES: dict[Tone, str] = {
    "good": "green",
    "bad": "red",
    "caution": "yellow",
    "quiet": "dim",
    "strong": "bold",
    "": "none",
}


class _Shown(Struct):
    """A block with the lines that it wants at most, gets at least, and now has."""

    block: Block
    section: Section
    wanted: int
    least: int
    lines: int


def to_terminal(document: Document, files: Sequence[str] = ()) -> RenderableType:
    """The verdict first, the paths of the reports last; colours only repeat the words.

    Blocks share a screen: the longest give way until all fit.
    """
    shown = _fitted(document, len(files))
    parts: list[RenderableType] = [_verdict(document)]
    for section in document.sections:
        blocks = [one for one in shown if one.section is section]
        body = [
            part
            for one in blocks
            for part in _block(one.block, one.lines, _rest(section, one.block))
        ]
        if body or any(one.wanted for one in blocks):
            head = [] if section.plain else [_heading(section)]
            parts += ["", *head, *body]
    if files:
        paths = [clean(file, 200) for file in files]
        whole = Text.assemble(("Report", "bold"), "  ", "\n        ".join(paths), no_wrap=True)
        whole.overflow = "fold"
        apart = [Text("Report", "bold"), *(Text(path, overflow="fold") for path in paths)]
        parts += ["", Fitting([[whole], apart])]
    return Page(parts, [f"Report  {clean(file, 200)}" for file in files])


def _verdict(document: Document) -> RenderableType:
    style = f"bold {STYLES[document.tone]}".replace(" none", "")
    head = Text.assemble((document.word, style), f"  {document.detail}")
    scope = Text(" · ".join((document.title, *document.scope)))
    if not document.alert:
        return Group(head, scope)
    return Group(head, Text.assemble(("STOPPED", "bold yellow"), f": {document.alert}"), scope)


def _heading(section: Section) -> Text:
    told = f"  {section.told}" if section.told else ""
    return Text.assemble((section.title, "bold"), told)


def _height(block: Block) -> int:
    """The lines that a block would fill."""
    if isinstance(block, Table):
        return len(block.rows)
    if isinstance(block, Items):
        return len(block.items)
    return 3 * len(block.cards) if isinstance(block, Cards) else isinstance(block, Note)


def _fitted(document: Document, files: int) -> list[_Shown]:
    """How many lines each block gets."""
    shown = []
    for section in document.sections:
        for block in section.blocks:
            least, most = getattr(block, "screen", (0, 0))
            lines = min(_height(block), most)
            if most:
                shown.append(_Shown(block, section, lines, min(least, lines), lines))
    frame = 4 + files + sum(2 for one in document.sections if _on_screen(one, shown))
    frame += bool(document.alert) * (1 + _folds([document.alert]))
    while shown:
        longest = max(shown, key=lambda one: one.lines - one.least)
        taken = sum(map(_taken, shown))
        if taken + frame <= SCREEN or longest.lines <= longest.least:
            break
        longest.lines -= 1
    return shown


def _on_screen(section: Section, shown: Sequence[_Shown]) -> bool:
    return any(one.section is section and one.wanted for one in shown)


def _taken(one: _Shown) -> int:
    more = one.lines < _height(one.block)
    if isinstance(one.block, Items):
        return one.lines + more + _folds([_told(item) for item in one.block.items[: one.lines]])
    return one.lines + more + (isinstance(one.block, Table) and one.lines > 0)


def _folds(messages: Sequence[str]) -> int:
    """Extra lines that messages take on a screen of 80 columns."""
    return sum((min(len(message), MESSAGE) - 1) // FOLDED for message in messages if message)


def _rest(section: Section, block: Block) -> int:
    """Rows of the folded tables that follow a table, which only pages have."""
    if not isinstance(block, Table):
        return 0
    at = next(at for at, one in enumerate(section.blocks) if one is block)
    further = (one for one in section.blocks[at + 1 :] if isinstance(one, Table))
    same = takewhile(lambda one: bool(one.folded), further)
    return sum(len(one.rows) + one.left_out for one in same)


def in_full(blocks: Sequence[Block]) -> RenderableType:
    """Blocks one below the other, with all their lines; where there is no room, no intervals."""
    parts: list[RenderableType] = []
    for block in blocks:
        if isinstance(block, Table):
            parts.append(_table(block, len(block.rows)))
        else:
            parts += _block(block, _height(block), 0)
    return Group(*parts)


def _block(block: Block, lines: int, rest: int) -> Iterator[RenderableType]:
    if not lines:
        return
    if isinstance(block, Note):
        yield Text(block.text, STYLES[block.tone])
    elif isinstance(block, Table):
        yield _table(block, lines)
        yield from _more(len(block.rows) - lines + block.left_out + rest)
    elif isinstance(block, Items):
        if block.title:
            yield Text(block.title, "bold")
        yield _items(block.items[:lines])
        yield from _more(len(block.items) - lines + block.left_out)
    elif isinstance(block, Cards):
        yield from _cards(block, max(lines // 3, 1))


def _more(count: int) -> Iterator[Text]:
    if count > 0:
        yield Text(f"  … {count:,} more", "dim")


def _items(items: Sequence[Item]) -> RenderableType:
    """A column of labels, if there are any and they are short, and one of texts."""
    apart = max(map(len, (item.label for item in items))) <= LABEL
    made = Grid.grid(padding=(0, 2, 0, 0))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for item in items:
        label = Text(f"  {item.label}" if item.label and apart else "  •", STYLES[item.tone])
        made.add_row(label, Text(clean(item.text if apart else _told(item), MESSAGE)))
    return made


def _told(item: Item) -> str:
    return f"{item.label}: {item.text}" if item.label else item.text


class _Form(Struct, frozen=True):
    """How much of a table is shown: the less, the narrower.

    Attributes:
        drop: Columns of this order and lower ones are left out.
        small: Whether intervals are shown: 2 all, 1 those of columns that keep theirs, 0 none.
        heading: Characters of a heading's line.
    """

    drop: int = -1
    small: int = 2
    heading: int = HEADING


def _table(table: Table, lines: int) -> RenderableType:
    """The widest form that there is room for: p-values go before intervals, models last."""
    orders = sorted({column.drop for column in table.columns if column.drop})
    early = list(takewhile(lambda order: order < 10 and not _spans(table, order), orders))
    forms = [_Form(), _Form(heading=NARROW)]
    forms += [_Form(order, 1, NARROW) for order in (-1, *early)]
    forms += [_Form(order, 0, NARROW) for order in (-1, *orders)]
    numbers = [column.drop for column in table.columns if column.kind == "number"]
    forms = [one for one in forms if not numbers or any(_stays(drop, one) for drop in numbers)]
    rows = table.rows[:lines]
    made = (_grid(table, rows, form) for form in forms)
    return Fitting([*made, [_line(row, table.columns) for row in rows]])


def _spans(table: Table, order: int) -> bool:
    """Whether columns of that order have intervals, which go before they do."""
    places = [at for at, column in enumerate(table.columns) if column.drop == order]
    return any(row[at].small for row in table.rows for at in places)


def _stays(drop: int, form: _Form) -> bool:
    return not drop or drop > form.drop


def _line(row: Sequence[Cell], columns: Sequence[Column]) -> Text:
    """A row where there is no room for columns."""
    over = next((one.over for one in columns if one.over), "")
    told = []
    for cell, column in zip(row, columns, strict=True):
        if column.over in ("", over) and cell.text:
            name = f"{_named(column)} " if column.kind == "number" else ""
            told.append(Text.assemble((name, "dim"), _cell(cell, small=True)))
    return Text("  ").join(told)


def _grid(table: Table, rows: Sequence[Sequence[Cell]], form: _Form) -> list[RenderableType]:
    over = next((one.over for one in table.columns if one.over), "")
    kept = [
        at
        for at, one in enumerate(table.columns)
        if _stays(one.drop, form) and one.over in ("", over)
        # Of the rows that are shown none may have a reason.
        if not at or any(row[at].text or row[at].symbol for row in rows)
    ]
    columns = [table.columns[at] for at in kept]
    made = grid(*(_named(one) for one in columns), width=form.heading)
    for at, (column, one) in enumerate(zip(made.columns, columns, strict=True)):
        verdicts = any(row[kept[at]].symbol for row in rows)
        column.no_wrap = one.kind == "number" or verdicts
        if one.kind == "text":
            column.justify = "left"
    least = [1 + table.columns[at].spare for at in kept]
    texts = [
        [_cell(row[at], small=form.small >= most) for at, most in zip(kept, least, strict=True)]
        for row in rows
    ]
    for at, cells in enumerate(zip(*texts, strict=True)):
        if at and columns[at].kind == "number":
            _line_up(cells, [_tail(row[kept[at]]) for row in rows], str(made.columns[at].header))
    for row in texts:
        made.add_row(
            *(one if c.no_wrap else Name(one) for c, one in zip(made.columns, row, strict=True))
        )
    gone = [one for one in table.columns if one.model and one.over == over and one not in columns]
    told = f"  … {plural(len(gone), 'more model')}" if gone else ""
    return [made, *([Text(told, "dim")] if told else [])]


def _named(column: Column) -> str:
    name = f"{column.name} ({column.detail})" if column.detail else column.name
    return f"{name} {column.arrow}".strip() if not column.over else name


def _cell(cell: Cell, *, small: bool) -> Text:
    symbol = f"{cell.symbol} " if cell.symbol else ""
    text = Text.assemble((f"{symbol}{cell.text}", STYLES[cell.tone]))
    if small and cell.small:
        text.append(f" {cell.small}", "dim")
    return text.append(_tail(cell), "yellow")


def _tail(cell: Cell) -> str:
    return f"{cell.mark} ({cell.share})" if cell.share else cell.mark


def _line_up(column: Sequence[Text], tails: Sequence[str], heading: str) -> None:
    """Numbers below each other where some are followed by marks or their coverage."""
    if not any(tails):
        return
    for text, tail in zip(column, tails, strict=True):
        text.pad_right(max(map(len, tails)) - len(tail))
    widest = max(max(map(len, heading.split("\n"))), *(text.cell_len for text in column))
    for text in column:
        text.pad_left(widest - text.cell_len)
        text.justify = "left"  # to the right, Rich would take the room behind the number away


def _cards(block: Cards, most: int) -> Iterator[RenderableType]:
    """Samples, each with the texts that differ from shortly before their first mark."""
    for card in block.cards[:most]:
        yield Text(f"  {card.title} · {card.told}", overflow="fold")
        apart = [part for part in card.parts if part.apart]
        made = Grid.grid(padding=(0, 1, 0, 0))
        made.add_column(no_wrap=True)
        made.add_column(overflow="fold")
        for part in apart[:2]:
            made.add_row(Text(f"    {clean(part.title, 24)}", "dim"), _excerpt(part))
        if apart:
            yield made
    yield from _more(len(block.cards) - most + block.left_out)


def _excerpt(part: Part) -> Text:
    if part.text is None:
        return Text("(none)", "dim")
    found = excerpt(part.text)
    text = Text(found.shown.text.replace("\n", " "))
    for begin, end, _ in found.shown.marks:
        text.stylize("bold underline", begin, end)
    whole = Text.assemble("… " if found.before else "", text, " …" if found.after else "")
    return Text(visible(whole.plain)) if visible(whole.plain) != whole.plain else whole
