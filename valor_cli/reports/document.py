"""A report as a document: sections of tables, lists, notes, charts and cards, whatever the medium.

A section says what was found; a renderer knows its medium and these few kinds, and nothing of
metrics. All texts are cleaned (`formatting.clean`) and not escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias
from urllib.parse import quote, urlencode

from msgspec import Struct

from valor_cli.results import Scalar, ShownText, Verdict

Tone: TypeAlias = Literal["", "good", "bad", "caution", "quiet", "strong"]

Screen: TypeAlias = tuple[int, int]
"""Lines of a terminal that a block gets at least and at most; (0, 0): it is not shown there."""


class Cell(Struct, frozen=True):
    """A cell of a table.

    Attributes:
        text: What it says; `symbol` stands before it and `mark` behind it.
        small: What else belongs to the value, as its interval.
        share: The share of samples that the value rests on, if not all.
        value: As a number, for a bar.
        title: Why there is no value, or another remark.
        link: The part of the report that shows more: "#explore?label=person".
    """

    text: str
    tone: Tone = ""
    small: str = ""
    symbol: str = ""
    mark: str = ""
    share: str = ""
    value: float | None = None
    title: str = ""
    link: str = ""


EMPTY = Cell("")


class Column(Struct, frozen=True):
    """A column of a table.

    Attributes:
        name: Its heading; `detail` is what tells it from its siblings.
        kind: A number stands to the right and is never cut; a text to the left, and may be folded.
        over: A heading above it, shared by neighbours: a measure over its models.
        arrow: "↑" if higher is better, "↓" if lower is.
        drop: Where there is no room for all, columns with the lowest go first; 0 stay.
        full: The value that fills a bar behind its numbers; 0: no bar.
        model: Whether it is of a model; `spare`: whether its intervals are the first to go.
    """

    name: str
    kind: Literal["text", "number"] = "number"
    detail: str = ""
    over: str = ""
    arrow: str = ""
    drop: int = 0
    full: float = 0.0
    model: bool = False
    spare: bool = False


class Table(Struct, frozen=True):
    """A table whose first column names its rows.

    Attributes:
        title: Its own heading; `caption` says for screen readers what it is.
        page: Rows in Markdown at most.
        screen: Rows on a terminal; see `Screen`.
        left_out: Rows that there are beside these, and `where` they are.
        folded: Its summary, if it is to be unfolded first.
        sortable: Whether a reader may sort and filter it.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    title: str = ""
    page: int = 500
    screen: Screen = (0, 0)
    left_out: int = 0
    where: str = "results.json"
    folded: str = ""
    sortable: bool = False


class Item(Struct, frozen=True):
    """A line of a list: a word on its own, what it says, and samples with links to them."""

    text: str
    label: str = ""
    tone: Tone = ""
    links: Sequence[tuple[str, str]] = ()
    link: str = ""


class Items(Struct, frozen=True):
    """A list; attributes as those of `Table`."""

    items: Sequence[Item]
    page: int = 60
    screen: Screen = (0, 0)
    left_out: int = 0
    where: str = "results.json"
    folded: str = ""
    title: str = ""


class Note(Struct, frozen=True):
    """A remark; on a terminal, too, where `screen` is more than 0 lines."""

    text: str
    tone: Tone = "quiet"
    screen: Screen = (0, 0)


class Chart(Struct, frozen=True):
    """A drawing; only pages show it, and files of its own.

    Attributes:
        svg: Elements of it, ready: all that comes from data is escaped.
        told: What it shows, in words.
        models: Positions of the models that it shows, for the key.
        key: Further classes and words for the key: ("over", "overconfident").
        title: What it is called; `heading` is shown in place of it.
        kind: What the page's script and style call it.
        model: The position of the model that it is of.
    """

    width: int
    height: int
    svg: str
    told: str
    models: Sequence[int] = ()
    key: Sequence[tuple[str, str]] = ()
    title: str = ""
    kind: str = ""
    heading: str = ""
    model: int = 0


class Charts(Struct, frozen=True):
    """Charts side by side.

    Attributes:
        choice: The setting that they are of, where there are several.
        folded: Their summary, if they are to be unfolded first.
    """

    charts: Sequence[Chart]
    choice: str = ""
    folded: str = ""


class Curves(Struct, frozen=True):
    """Curves of one label at a time, with a cursor that all charts share; only pages show them.

    Attributes:
        titles: Of the labels.
        charts: Of the first label by kind: "pr", "f1", "roc".
        counted: Counts by threshold of the first label, two charts a model.
        counts: The models that have counts; `reasons`: whether counts tell false positives apart.
        more: Charts of further labels, where no script runs.
        data: JSON for the script: numbers alone.
        left_out: Labels that are left out.
    """

    titles: Sequence[str]
    charts: Sequence[Chart]
    counted: Sequence[Chart]
    counts: Sequence[int]
    reasons: bool
    more: Sequence[Sequence[Chart]]
    data: str
    left_out: int


class Samples(Struct, frozen=True):
    """Where a page lists all samples."""

    note: str = ""


class Part(Struct, frozen=True):
    """A text with its marks, or None where a side has none; `apart`: one of two that differ."""

    title: str
    text: ShownText | None
    apart: bool = False


class Card(Struct, frozen=True):
    """A sample with its texts and verdicts; pages have an explorer of all samples instead."""

    title: str
    told: str
    parts: Sequence[Part] = ()
    verdicts: Sequence[Verdict] = ()


class Cards(Struct, frozen=True):
    """Cards of samples, folded under their summary."""

    title: str
    cards: Sequence[Card]
    left_out: int = 0
    screen: Screen = (0, 0)


Block: TypeAlias = Table | Items | Note | Charts | Curves | Samples | Cards


class Section(Struct, frozen=True):
    """A finding with its heading.

    Attributes:
        title: The heading; `told` follows it in plain type.
        anchor: What links call it.
        folded: Whether Markdown folds it.
        plain: Whether a terminal leaves the heading out.
    """

    title: str
    anchor: str
    blocks: Sequence[Block]
    told: str = ""
    folded: bool = False
    plain: bool = False


class Document(Struct, frozen=True):
    """A report.

    Attributes:
        word, symbol, detail: The verdict, its sign, and of how many it is.
        tone: Of the verdict.
        title: The task; `scope` says of how much data.
        alert: Why not everything was asked of judges; empty if all was.
        badges: Gates in brief: symbol and words.
        models: Their names, for the keys of charts.
    """

    word: str
    symbol: str
    detail: str
    tone: Tone
    title: str
    scope: Sequence[str]
    alert: str
    badges: Sequence[tuple[str, str]]
    models: Sequence[str]
    sections: Sequence[Section]


def explore(**filters: object) -> str:
    """The link to a filtered list of samples; a filter that is None or empty is left out."""
    kept = {name: value for name, value in filters.items() if value not in (None, "")}
    return "#explore?" + urlencode(kept, doseq=True, quote_via=quote, errors="replace")


def sample(sample_id: Scalar) -> str:
    """The link to one sample."""
    return explore(sample=sample_id)
