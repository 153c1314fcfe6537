"""Find the labels that lists name: lists of values, texts that hold JSON, texts with separators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from valor_cli.data.json_records import json_or_none
from valor_cli.data.tape import (
    LIST,
    NULL,
    SCALARS,
    TEXT,
    Bools,
    Column,
    Ints,
    json_tape,
    tape_of_some,
)
from valor_cli.kernels.columns.grouping import spread
from valor_cli.kernels.columns.spans import Spans, Text

_BLANK = 32


class NamedLabels(NamedTuple):
    """Labels that rows name.

    Attributes:
        row: (e,) the row that names each.
        text: What spans point into.
        start, end: (e,) where its name is.
        read: (e,) whether it is one.
    """

    row: Ints
    text: Text
    start: Spans
    end: Spans
    read: Bools


def says_labels(column: Column, separator: str, *, cells: bool) -> Bools:
    """(n,) which values say what the labels are; an empty list says that there are none.

    So does an empty cell, where labels are between separators; arguments as for `named_labels`.
    """
    said = column.is_of(LIST) | (column.length > 0)
    return said | column.is_of(NULL, TEXT) if cells and separator else said


def named_labels(
    column: Column, usable: Bools, separator: str, *, cells: bool
) -> Iterator[NamedLabels]:
    """The labels of each value: of a list, or a single one.

    Args:
        column: The values.
        usable: (n,) those to read.
        separator: What is between the labels of a cell; empty: a cell may hold a list of JSON.
        cells: Whether texts are cells of a table.
    """
    listing = np.flatnonzero(usable & column.is_of(LIST))
    yield from _items(listing, column.take(listing))
    single = np.flatnonzero(usable & column.is_of(*SCALARS) & (column.length > 0))
    if cells and separator:
        yield _separated(single, column.take(single), separator)
        return
    if cells:
        begins = np.frombuffer(column.tape.text, np.uint8)[column.tape.start[column.node[single]]]
        lists = single[begins == ord("[")]
        yield from _items(lists, _json_cells(column.take(lists)))
        single = single[begins != ord("[")]
    own = column.take(single)
    yield NamedLabels(single, own.tape.text, *own.spans(), np.ones(len(single), np.bool_))


def _items(rows: Ints, lists: Column) -> Iterator[NamedLabels]:
    """The items of the lists of rows; what is no list is a label that cannot be read."""
    count, items = lists.items()
    read = items.is_of(*SCALARS) & (items.length > 0)
    listed = lists.is_of(LIST)
    row = np.repeat(rows, count)
    yield NamedLabels(row, items.tape.text, *items.spans(), read & np.repeat(listed, count))
    other = rows[~listed]
    none = np.zeros(len(other), np.int32)
    yield NamedLabels(other, b"", none, none, np.zeros(len(other), np.bool_))


def _json_cells(cells: Column) -> Column:
    """The JSON of cells; null where there is none."""
    texts = [text.replace("\n", " ").replace("\r", " ").encode() for text in cells.texts()]
    found = json_tape(b"\n".join(texts))
    if not found.left and len(found.values) == len(cells):
        return found.values
    return tape_of_some(list(map(json_or_none, texts)))[0]


def _separated(rows: Ints, cells: Column, separator: str) -> NamedLabels:
    """What is between separators, without blanks around it; an empty cell has nothing."""
    text = np.frombuffer(cells.tape.text, np.uint8)
    places = np.flatnonzero(text == ord(separator))
    start, end = cells.spans()
    first = places.searchsorted(start)
    count = places.searchsorted(end) - first
    inner = places[spread(first, count)]
    last = np.cumsum(count + 1) - 1
    # A piece begins where its cell does or behind a separator, and ends there or with its cell.
    size = len(inner) + len(rows)
    begins, ends = np.empty(size, np.int32), np.empty(size, np.int32)
    begins[last - count], begins[np.delete(np.arange(size), last - count)] = start, inner + 1
    ends[last], ends[np.delete(np.arange(size), last)] = end, inner
    while (blank := (begins < ends) & (text.take(begins, mode="clip") == _BLANK)).any():
        begins[blank] += 1
    while (blank := (begins < ends) & (text.take(ends - 1, mode="clip") == _BLANK)).any():
        ends[blank] -= 1
    named = NamedLabels(np.repeat(rows, count + 1), cells.tape.text, begins, ends, ends > begins)
    # A cell of blanks alone has no label.
    kept = named.read | np.repeat(count > 0, count + 1)
    return NamedLabels(named.row[kept], named.text, begins[kept], ends[kept], named.read[kept])
