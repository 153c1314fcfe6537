"""Render a document as one self-contained HTML page; everything is escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from html import escape
from itertools import count, groupby
from pathlib import Path
from typing import Final

from valor_cli.reports.charts.plots import PLOT
from valor_cli.reports.document import (
    Block,
    Cards,
    Cell,
    Chart,
    Charts,
    Column,
    Curves,
    Document,
    Item,
    Items,
    Note,
    Samples,
    Section,
    Table,
)
from valor_cli.reports.explorer.data import Explorer

_PAGE: Final = Path(__file__).parents[1] / "page"
_SCRIPTS = ("report.js",)
_FRAMED = "framed.js"
_STYLES = ("report.css", "charts.css")
_CURVES = (("vendor/uplot.min.js", "plots.js", "curves.js"), ("vendor/uplot.min.css", "plots.css"))
_EXPLORER: Final = (
    *("elements", "data", "filters", "counting", "search", "selection", "drawing", "text"),
    *("list", "card", "panel", "threshold", "main"),
)
"""Modules of the explorer in the order in which they stand in the page, as one: their names are
its own."""
_CLASSES = {"good": "pass", "bad": "fail", "caution": "warn", "quiet": "quiet", "strong": "best"}

TALL = 14
"""Rows of a table above which it scrolls by itself and can be filtered."""


def to_html(
    document: Document,
    explored: Explorer | None = None,
    *,
    linked: bool = False,
    framed: bool = False,
) -> str:
    """The page: script, style and data are within.

    Args:
        document: What it shows.
        explored: All samples; scripts beside the page are loaded by its own script alone.
        linked: Whether it shows images that lie beside it.
        framed: Whether it stands in the `srcdoc` of a frame.
    """
    blocks = [block for section in document.sections for block in section.blocks]
    kinds = {type(block) for block in blocks}
    live = Curves in kinds or any(
        chart.kind == "spread" for one in blocks if isinstance(one, Charts) for chart in one.charts
    )
    scripts = (*((_FRAMED,) if framed else ()), *_SCRIPTS)
    script = "".join(map(_file, (*scripts, *(_CURVES[0] if live else ()))))
    style = "".join(map(_file, (*_STYLES, *(_CURVES[1] if live else ()))))
    data = ""
    if explored is not None:
        modules = "".join(_file(f"explorer/{name}.js") for name in _EXPLORER)
        script += f'(() => {{\n"use strict";\n{modules}}})();\n'
        style += _file("explorer/explorer.css")
        data = (
            f'<script type="application/json" id="explorer-data">{explored.data.decode()}</script>'
        )
    beside = " 'strict-dynamic'" if explored is not None and explored.files else ""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    numbered = count(1)
    shown = [one for one in document.sections if explored is not None or not _is_explorer(one)]
    sections = [(one, _section(one, document, numbered)) for one in shown]
    names = "".join(f"<li>{escape(model)}</li>" for model in document.models) if live else ""
    # Curves bring the size of a chart with their data; other charts need it, too.
    drawn = [block.data for block in blocks if isinstance(block, Curves)]
    numbers = (drawn or [json.dumps({"plot": PLOT})])[0]
    plot = f'<script type="application/json" id="curve-data">{numbers}</script>'
    return _file("page.html").format(
        digest=digest,
        scripts=beside,
        images=" 'self'" if linked else "",
        title=escape(f"{document.word} · {document.title} · valor"),
        style=style,
        nav="".join(_link(one) for one, body in sections if body),
        head=_head(document),
        sections="".join(body for _, body in sections),
        names=f'<ul id="model-names" hidden>{names}</ul>{plot}' if live else "",
        data=data,
        script=script,
    )


def _is_explorer(section: Section) -> bool:
    """Whether a section has nothing but the list of samples."""
    return all(isinstance(one, Samples | Cards) for one in section.blocks)


def _file(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")


def _link(section: Section) -> str:
    return f'<a href="#{section.anchor}">{escape(section.title)}</a>'


def _head(document: Document) -> str:
    title = escape(document.title[:1].upper() + document.title[1:])
    tone = _CLASSES.get(document.tone, "")
    stopped = f'<p class="stopped"><strong>STOPPED</strong> {_bdi(document.alert)}</p>'
    scope = [*document.scope]
    scope += [f"{len(document.models)} models"] if len(document.models) > 1 else []
    return (
        f'<div class="title"><h1>{title}</h1><p class="verdict {tone}">'
        f'<span aria-hidden="true">{document.symbol}</span> <strong>{document.word}</strong> '
        f"{escape(document.detail)}</p></div>"
        f"{stopped if document.alert else ''}"
        f'<p class="scope">{"".join(f"<span>{escape(one)}</span>" for one in scope)}</p>'
    )


def _bdi(text: str) -> str:
    """Text from data, whose direction must not change that of what stands around it."""
    return f"<bdi>{escape(text)}</bdi>"


def _section(section: Section, document: Document, numbered: Iterator[int]) -> str:
    body = "".join(_blocks(section, document, numbered))
    if not body:
        return ""
    told = f" <small>{escape(section.told)}</small>" if section.told else ""
    return (
        f'<section aria-labelledby="{section.anchor}"><h2 id="{section.anchor}">'
        f"{escape(section.title)}{told}</h2>{body}</section>\n"
    )


def _blocks(section: Section, document: Document, numbered: Iterator[int]) -> Iterator[str]:
    """Blocks one after the other; charts of several settings behind a choice."""
    chosen = lambda block: isinstance(block, Charts) and bool(block.choice)  # noqa: E731
    for several, blocks in groupby(section.blocks, chosen):
        shown = [_block(one, document, numbered) for one in blocks]
        if not several or len(shown) < 2:
            yield from shown
            continue
        titles = [one.choice for one in section.blocks if isinstance(one, Charts) and one.choice]
        panels = f"panels-{next(numbered)}"
        options = "".join(f"<option>{escape(title)}</option>" for title in titles)
        yield (
            f'<label class="pick" hidden><span class="vh">Setting</span>'
            f'<select data-panels="{panels}">{options}</select></label><div id="{panels}">'
        )
        pairs = zip(titles, shown, strict=True)
        yield "".join(f"<div><h3>{_bdi(title)}</h3>{one}</div>" for title, one in pairs)
        yield "</div>"


def _block(block: Block, document: Document, numbered: Iterator[int]) -> str:
    if isinstance(block, Table):
        shown = block.rows and block.page
        return _folded(block.folded, block.title, _table(block)) if shown else ""
    if isinstance(block, Items):
        return _folded(block.folded, block.title, _items(block)) if block.page else ""
    if isinstance(block, Note):
        return f'<p class="note">{escape(block.text)}</p>'
    if isinstance(block, Charts):
        return _folded(block.folded, "", _charts(block.charts, document, numbered))
    if isinstance(block, Curves):
        return _curves(block, document, numbered)
    if isinstance(block, Samples):
        listed = '<p class="note x-status">The samples are listed by a script.</p>'
        return f'<div id="explorer">{listed}</div>'
    return ""  # cards: the explorer has all samples


def _folded(summary: str, title: str, body: str) -> str:
    if summary:
        return f"<details><summary>{escape(summary)}</summary>{body}</details>"
    return f"<h3>{_bdi(title)}</h3>{body}" if title else body


def _table(table: Table) -> str:
    tall = len(table.rows) > TALL
    caption = escape(table.caption or table.title or table.folded)
    rows = "".join(_row(row, table.columns) for row in table.rows)
    more = ""
    if table.left_out:
        more = f'<p class="note">{table.left_out:,} more in {escape(table.where)}.</p>'
    return (
        f'<div class="scroll{" tall" if tall else ""}" tabindex="0" role="group" '
        f'aria-label="{caption}"><table{" class=sortable" if table.sortable else ""}>'
        f'<caption class="vh">{caption}</caption>{_thead(table.columns)}'
        f"<tbody>{rows}</tbody></table></div>{more}"
    )


def _thead(columns: Sequence[Column]) -> str:
    if not any(one.over for one in columns):
        return f"<thead><tr>{''.join(map(_heading, columns))}</tr></thead>"
    top, below = [], []
    for over, group in groupby(columns, lambda one: one.over):
        of = list(group)
        if over:
            arrow = f" {of[0].arrow}" if of[0].arrow else ""
            top.append(f'<th scope="colgroup" colspan="{len(of)}">{_broken(over)}{arrow}</th>')
            below += [_heading(one, arrow=False) for one in of]
        else:
            top += [_heading(one, rows=2) for one in of]
    return f"<thead><tr>{''.join(top)}</tr><tr>{''.join(below)}</tr></thead>"


def _heading(column: Column, rows: int = 1, *, arrow: bool = True) -> str:
    kind = "" if column.kind == "text" else " class=num"
    span = f' rowspan="{rows}"' if rows > 1 else ""
    detail = f" <small>{_broken(column.detail)}</small>" if column.detail else ""
    sign = f" {column.arrow}" if arrow and column.arrow else ""
    name = f"{_broken(column.name)}{detail}{sign}"
    if not column.name:
        return f"<td{span}></td>"
    return f'<th scope="col"{kind}{span}>{name}</th>'


def _broken(text: str) -> str:
    """A name that may wrap after underscores and equals signs."""
    return f"<bdi>{escape(text).replace('_', '_<wbr>').replace('=', '=<wbr>')}</bdi>"


def _row(row: Sequence[Cell], columns: Sequence[Column]) -> str:
    first, *rest = row
    cells = "".join(map(_td, rest, columns[1:]))
    title = f' title="{escape(first.title)}"' if first.title else ""
    return f'<tr><th scope="row"{title}>{_inner(first, _broken(first.text))}</th>{cells}</tr>'


def _td(cell: Cell, column: Column) -> str:
    classes = ["num"] if column.kind == "number" else []
    style = ""
    if column.full and cell.value is not None and 0 <= cell.value <= column.full:
        classes.append("bar")
        style = f' style="--v:{cell.value / column.full:.3g}"'
    named = f' class="{" ".join(classes)}"' if classes else ""
    title = f' title="{escape(cell.title)}"' if cell.title else ""
    text = escape(cell.text) if column.kind == "number" else _bdi(cell.text)
    return f"<td{named}{title}{style}>{_inner(cell, text)}</td>"


def _inner(cell: Cell, text: str) -> str:
    """What a cell holds: its link, sign, text and what belongs to it."""
    if cell.mark:
        text += f'<span class="few">{escape(cell.mark)}</span>'
    tone = _CLASSES.get(cell.tone, "")
    if cell.symbol:
        sign = f'<span aria-hidden="true">{cell.symbol}</span>'
        text = f'<span class="status {tone}">{sign} {text}</span>'
    elif tone == "best":
        text = f'<b class="best">{text}<span class="vh"> best</span></b>'
    elif tone:
        text = f'<span class="{tone}">{text}</span>'
    if cell.link:
        text = f'<a href="{escape(cell.link)}">{text}</a>'
    if cell.small:
        text += f" <small>{escape(cell.small)}</small>"
    if cell.share:
        text += f' <small class="warn">of {escape(cell.share)}</small>'
    return text


def _items(block: Items) -> str:
    more = f"<li>… and {block.left_out:,} more in {escape(block.where)}</li>"
    items = "".join(map(_item, block.items))
    return f'<ul class="items">{items}{more if block.left_out else ""}</ul>'


def _item(item: Item) -> str:
    tone = _CLASSES.get(item.tone, "")
    label = f'<b class="label {tone}">{escape(item.label)}</b> ' if item.label else ""
    text = _bdi(item.text)
    if item.link:
        text = f'<a href="{escape(item.link)}">{text}</a>'
    links = ", ".join(f'<a href="{escape(to)}">{_bdi(name)}</a>' for name, to in item.links)
    return f"<li>{label}{text}{f' <small>{links}</small>' if links else ''}</li>"


def _charts(charts: Sequence[Chart], document: Document, numbered: Iterator[int]) -> str:
    if not charts:
        return ""
    models = list(dict.fromkeys(model for one in charts for model in one.models))
    key = _key(models, document) if len(models) > 1 else ""
    extra = dict.fromkeys(pair for one in charts for pair in one.key)
    if extra:
        items = (f'<li><i class="{kind}-key"></i>{escape(name)}</li>' for kind, name in extra)
        key += f'<ul class="key">{"".join(items)}</ul>'
    plots = "".join(_plot(one, numbered) for one in charts)
    return f'{key}<div class="plots">{plots}</div>'


def _key(models: Sequence[int], document: Document) -> str:
    items = (
        f'<li><svg viewBox="0 0 22 8" aria-hidden="true"><path class="m{model % 6}" '
        f'd="M1 4h20"/></svg>{_bdi(document.models[model])}</li>'
        for model in models
    )
    return f'<ul class="key">{"".join(items)}</ul>'


def _plot(chart: Chart, numbered: Iterator[int]) -> str:
    """A drawing with its heading, and what it shows in words."""
    told = f"told-{next(numbered)}"
    role = "group" if "<a " in chart.svg else "img"
    return (
        f'<figure class="plot {chart.kind}">'
        f"<figcaption>{_bdi(chart.heading or chart.title)}</figcaption>"
        f'<svg class="chart" viewBox="0 0 {chart.width} {chart.height}" role="{role}" '
        f'aria-label="{escape(chart.title)}" aria-describedby="{told}" data-kind="{chart.kind}" '
        f'data-model="{chart.model}" style="max-width:{chart.width * 1.5:.0f}px">{chart.svg}</svg>'
        f'<p class="vh told" id="{told}">{escape(chart.told)}</p></figure>'
    )


def _reader(label: str, headings: Sequence[str], models: Sequence[tuple[int, str]]) -> str:
    """A slider, and what each model has at its place."""
    heads = "".join(f'<th scope="col" class="num">{head}</th>' for head in headings)
    empty = "<td class=num></td>" * len(headings)
    rows = "".join(
        f'<tr data-model="{model}"><th scope="row">{_bdi(name)}</th>{empty}</tr>'
        for model, name in models
    )
    return (
        f'<div class="reader" hidden><label>{label} <input type="range" min="0" max="1" value="0">'
        f'<output></output></label><div class="scroll" tabindex="0" role="group" '
        f'aria-label="{label}"><table><thead><tr><th scope="col">Model</th>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></div>"
    )


_COUNTS = (
    *("threshold", "true positives"),
    *("missed<small>misclassification</small>", "missed<small>no prediction</small>"),
    *("false positive<small>misclassification</small>", "false positive<small>background</small>"),
)


def _curves(block: Curves, document: Document, numbered: Iterator[int]) -> str:
    """The charts of the label that is chosen, with one cursor for all of them."""
    models = list(enumerate(document.models))
    options = "".join(f"<option>{escape(title)}</option>" for title in block.titles)
    key = _key([at for at, _ in models], document) if len(models) > 1 else ""
    pick = f'<span class="vh">Label</span><select id="curve">{options}</select>'
    parts = [f'<div class="head"><label class="pick" hidden>{pick}</label>{key}</div>']
    by_kind = {one.kind: one for one in block.charts}
    stage = "".join(_plot(one, numbered) for one in block.charts if one.kind != "roc")
    headings = ("threshold", "precision", "recall", "F1")
    parts.append('<div class="stages">')
    if stage:
        reader = _reader("Point on the curve", headings, models)
        parts.append(f'<div id="stage"><div class="plots">{stage}</div>{reader}</div>')
    if "roc" in by_kind:
        rates = ("TPR", "FPR", "AUC")
        reader = _reader("Score threshold", rates, models)
        parts.append(f'<div id="roc">{_plot(by_kind["roc"], numbered)}{reader}</div>')
    parts.append("</div>")
    if block.counts:
        counted = [(model, document.models[model]) for model in block.counts]
        reader = _reader("Score threshold", _COUNTS[: 6 if block.reasons else 5], counted)
        plots = "".join(_plot(one, numbered) for one in block.counted)
        parts.append(
            f'<div class="counted" id="counted"><h3>Counts by score threshold</h3>'
            f'<div class="plots">{plots}</div>{reader}</div>'
        )
    more = "".join(_charts(one, document, numbered) for one in block.more)
    parts.append(f'<div id="more">{more}</div>')
    if block.left_out:
        parts.append(f'<p class="note">{block.left_out:,} more curves in results.json.</p>')
    return "".join(parts)
