"""Read text samples from columns, whatever format these come from."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
import orjson
from msgspec.structs import replace

from valor_cli.data.batch import Batch, Block, FaultyRow
from valor_cli.data.partition.pieces import Span
from valor_cli.data.schema import Path, column_at, dotted
from valor_cli.data.shapes.samples.columns import Logprobs, SampleColumns, numbered
from valor_cli.data.shapes.samples.other_tools import expected_answer, one_shape, other_tools
from valor_cli.data.shapes.samples.sample_file import ALL, PartOfFile, SampleReading
from valor_cli.data.shapes.samples.schema import (
    LOGPROB,
    LOGPROBS,
    ROUNDING,
    SCHEMA,
    TEXT_KEYS,
    in_milliseconds,
    metadata_ways,
)
from valor_cli.data.shapes.samples.values import (
    RowCheck,
    Unread,
    faults,
    faults_of,
    value_of_cell,
)
from valor_cli.data.table import Problems
from valor_cli.data.tape import (
    DUPLICATE,
    INVALID,
    LIST,
    NOTHING,
    NULL,
    NUMBER,
    OBJECT,
    SCALARS,
    TEXT,
    Bools,
    Column,
    Floats,
    Ints,
    json_tape,
    tape_of,
    tape_of_some,
)
from valor_cli.data.value_rows import batch_of
from valor_cli.kernels.columns.text_columns import ListColumn, TextColumn, ends_of
from valor_cli.results import Scalar

_T = TypeVar("_T")

_LARGEST: Final = 2**64

_LISTED: Final = ("texts", "contexts", "logprobs")
"""Types whose cells in a table may hold a list."""


_Part: TypeAlias = tuple[SampleColumns, Ints]


class _Found(NamedTuple):
    """The values of a field.

    Attributes:
        column: One for each row.
        names: Keys that they may be under.
        which: (n,) the position of each row's key in `names`.
    """

    column: Column
    names: Sequence[str]
    which: Ints

    def named(self, holds: Callable[[str], bool]) -> Bools:
        """(n,) rows whose key is of some kind."""
        return np.array([*map(holds, self.names), False], np.bool_)[self.which]


class SampleParser:
    """Reads the rows of a file, or of a part of it, in batches."""

    def __init__(self, reading: SampleReading, problems: Problems, names: Sequence[str] = ()):
        """Initialise.

        Args:
            reading: How to read.
            problems: Where faults are noted.
            names: Columns that are known beforehand.
        """
        self._names = {name: (0, at) for at, name in enumerate(names)}
        self._count = len(names)
        self._reading = reading
        self._problems = problems
        self._found: set[str] = set()
        self._plain_contexts = 0
        self._faulty = 0
        self._columns: list[SampleColumns] = []
        self._numbers = array("q")
        self._words: dict[str, str] = {}

    def add(self, block: Block) -> None:
        """Add the rows of a block."""
        told = list(block.wrong)
        parts: list[_Part] = []
        for batch in block.batches:
            for own, broken in of_one_shape(without_nulls(batch)):
                self._parse(own, broken, parts, told)
        self._faulty += len(told)
        self._problems.add_rows(told)
        parts = [part for part in parts if len(part[1])]
        if not parts:
            return
        rows = SampleColumns.joined([rows for rows, _ in parts])
        number = np.concatenate([number for _, number in parts])
        if len(parts) > 1:
            order = np.argsort(number)
            rows, number = rows.take(order), number[order]
        self._columns.append(rows)
        self._numbers.extend(number.tolist())

    def part(self, lines: int = 0, span: Span = ALL) -> PartOfFile:
        """All rows, and what is known of them; `lines` and `span` as in `PartOfFile`."""
        names = sorted(self._names, key=self._names.__getitem__)
        return PartOfFile(
            SampleColumns.joined(self._columns, emptied=True),
            numbered(self._numbers.tolist()),
            self._problems,
            faulty=self._faulty,
            names=tuple(names),
            metadata=frozenset(self._found),
            plain_contexts=self._plain_contexts,
            lines=lines,
            span=span,
        )

    def _parse(
        self, batch: Batch, broken: Bools, parts: list[_Part], told: list[FaultyRow]
    ) -> None:
        """Add the rows of a batch that are right to `parts`, the faults of others to `told`."""
        for name, line in batch.names.items():
            if name not in self._names or line < self._names[name][0]:
                self._count += 1
                self._names[name] = line, self._count
        if not len(batch):
            return
        wrong = broken.copy()
        columns = self._fields(batch, broken, wrong)
        rejected = np.flatnonzero(wrong)
        if not len(rejected):
            parts.append((columns, batch.number))
            return
        check = RowCheck(self._reading, cells=batch.form == "cells").faults
        lines, records = batch.line[rejected].tolist(), batch.records(rejected.tolist())
        for line, record in zip(lines, records, strict=True):
            told.append((line, check(record) or [("", "this row cannot be read")]))
        good = np.flatnonzero(~wrong)
        parts.append((columns.take(good).filled(), batch.number[good]))

    def _fields(self, batch: Batch, broken: Bools, wrong: Bools) -> SampleColumns:
        """The columns of all rows; those that are found to be wrong are marked."""
        cells = batch.form == "cells"
        joined_by = "|" if cells and _saved_by_deepeval(batch.names) else ""
        texts, lists, amounts = {}, {}, {}
        logprobs: Sequence[Logprobs | None] | None = None
        candidates = SCHEMA.candidates(batch.names, self._reading.columns)
        for field in SCHEMA.fields:
            found = _found(batch, candidates[field.name])
            if found is None or (field.name == LOGPROBS and not self._reading.logprobs):
                continue
            column = found.column
            if cells and field.type in _LISTED:
                column, unread = _listed_cells(column, field.type, joined_by)
                wrong |= unread
            if field.type == "amount":
                amounts[field.name] = _amounts(found, wrong)
            elif field.type == "logprobs":
                logprobs = _logprobs(column, wrong)
            elif field.type == "contexts":
                lists[field.name] = _contexts(column, wrong)
                plain = column.is_of(*SCALARS) & lists[field.name].there()
                self._plain_contexts += int(np.count_nonzero(plain & ~broken))
            elif field.type == "texts":
                wrong |= column.is_of(OBJECT, DUPLICATE, INVALID)
                answers = _lists(column, column.is_of(*SCALARS), wrong)
                ruled = found.named(lambda name: name.startswith("__"))
                lists[field.name] = _expected(answers, ruled) if ruled.any() else answers
            else:
                texts[field.name] = _texts(column, field.type, wrong)
        return SampleColumns(
            texts,
            lists,
            amounts,
            logprobs,
            self._metadata(batch, broken, wrong),
            numbered(batch.line.tolist()),
            np.zeros(len(batch), np.int32),
        ).filled()

    def _metadata(
        self, batch: Batch, broken: Bools, wrong: Bools
    ) -> list[tuple[Scalar, ...]] | None:
        """The metadata of each row."""
        columns = []
        for name in self._reading.metadata:
            column = _metadata_of(batch, name)
            if ((column.node >= 0) & ~broken).any():
                self._found.add(name)
            values = column.scalars().tolist()
            wrong |= column.is_of(DUPLICATE, INVALID)
            rows = np.flatnonzero(column.is_of(LIST, OBJECT))
            if name in self._reading.texts and len(rows):
                wrong[rows] |= column.take(rows).holds(INVALID)
                for text, at in zip(_written(column.take(rows)), rows.tolist(), strict=True):
                    values[at] = text
            else:
                wrong[rows] = True
            columns.append(map(self._known, values))
        return list(zip(*columns, strict=True)) or None

    def _known(self, value: Scalar) -> Scalar:
        # Most values of metadata are a few words, again and again.
        if isinstance(value, str):
            return self._words.setdefault(value, value)
        # Results hold no larger whole numbers.
        return float(value) if isinstance(value, int) and abs(value) >= _LARGEST else value


def without_nulls(batch: Batch) -> Batch:
    """A batch whose nulls are no values, where rows are typed."""
    if batch.form != "typed":
        return batch
    columns = {name: batch.column(name) for name in batch.names}
    held = {name: column.where(~column.is_of(NULL)) for name, column in columns.items()}
    return replace(
        batch,
        column=held.__getitem__,
        records=lambda some: [
            {name: value for name, value in record.items() if value is not None}
            for record in batch.records(some)
        ],
    )


def _broken(batch: Batch) -> Bools:
    """(n,) which rows are wrong as a whole."""
    broken = np.zeros(len(batch), np.bool_)
    if batch.objects is not None:
        broken = ~batch.objects.is_of(OBJECT)
    if batch.irregular:
        held = [batch.objects] if batch.objects is not None else map(batch.column, batch.names)
        suspect = reduce(or_, [one.holds(DUPLICATE, INVALID) for one in held], broken)
        rows = np.flatnonzero(suspect)
        broken[rows] = [bool(faults_of(one)) for one in batch.records(rows.tolist())]
    return broken


def of_one_shape(batch: Batch) -> Iterator[tuple[Batch, Bools]]:
    """A batch, with the rows apart that another tool wrote in a shape of its own; and which rows
    are wrong as a whole.
    """
    broken = _broken(batch)
    shaped = None if batch.form == "cells" else other_tools(batch.names, batch.column)
    rows = np.flatnonzero(False if shaped is None else shaped & ~broken)
    records = batch.records(rows.tolist()) if len(rows) else []
    ours = [one_shape(record) for record in records]
    changed = [at for at, one in enumerate(ours) if one is not records[at]]
    if not changed:
        yield batch, broken
        return
    at_row = rows[changed]
    kept = np.setdiff1d(np.arange(len(batch)), at_row)
    names = {}
    for name in batch.names:
        there = kept[batch.column(name).node[kept] >= 0]
        if len(there):
            names[name] = int(batch.line[there[0]])
    others = Batch(
        batch.form,
        batch.line[kept],
        batch.number[kept],
        names,
        lambda name: batch.column(name).take(kept),
        lambda some: batch.records(kept[some].tolist()),
    )
    yield others, broken[kept]
    converted = batch_of([ours[at] for at in changed], batch.line[at_row], batch.number[at_row], [])
    as_written = replace(converted, records=lambda some: [records[changed[at]] for at in some])
    yield as_written, np.zeros(len(changed), np.bool_)


def _found(batch: Batch, ways: Sequence[Path]) -> _Found | None:
    """The first value of each row on some ways."""
    if not ways:
        return None
    columns = [column_at(batch.column(str(key)), path) for key, *path in ways]
    which = np.full(len(batch), -1, np.int64)
    for at, column in reversed(list(enumerate(columns))):
        which[column.node >= 0] = at
    return _Found(reduce(Column.or_else, columns), [dotted(way) for way in ways], which)


def _metadata_of(batch: Batch, name: str) -> Column:
    """The values of a metadata name: under a key, in a metadata object, or at a path."""
    ways, paths = (
        [column_at(batch.column(str(key)), path) for key, *path in some]
        for some in metadata_ways(batch.names, name)
    )
    columns = [*ways, *(one.where(~one.is_of(NULL)) for one in paths)]
    if not columns:
        return Column(tape_of([]).tape, np.full(len(batch), -1, np.int64))
    return reduce(Column.or_else, columns)


def _saved_by_deepeval(names: Collection[str]) -> bool:
    """Whether a table is a data set saved by deepeval, which writes "|" between contexts."""
    known = {"input", "actual_output", "expected_output", "source_file"}
    return next(iter(names), "") == "input" and known <= set(names)


def _texts(column: Column, kind: str, wrong: Bools) -> TextColumn:
    """One text of each row."""
    there = column.is_of(*SCALARS)
    if kind == "id":
        there = column.is_of(TEXT, NUMBER)
        wrong |= (~there & (~column.is_of(*NOTHING) | column.is_cells)) | column.holding(0)
        wrong |= column.is_of(TEXT) & (column.length == 0)
    elif kind == "any":
        # An empty cell is an empty answer.
        there |= column.is_of(NULL) & column.is_cells
        rows = np.flatnonzero(column.is_of(LIST, OBJECT))
        if len(rows):
            wrong[rows] |= column.take(rows).holds(INVALID)
            texts = [text if one else None for text, one in _pairs(column.texts(), there)]
            wrong |= column.is_of(DUPLICATE, INVALID)
            for text, at in zip(_written(column.take(rows)), rows.tolist(), strict=True):
                texts[at] = text
            return TextColumn.of(texts)
    elif kind != "text":
        there &= ~column.blank()
        if kind == "path":
            wrong |= column.holding(0)
    wrong |= ~there & ~column.is_of(*SCALARS, *NOTHING)
    return _text_column(column, there)


def _text_column(column: Column, there: Bools | None = None) -> TextColumn:
    """The texts of single values; None where they are not there."""
    none = None if there is None or there.all() else ~there
    start, end = column.spans()
    if (column.is_of(NUMBER) & (start == end)).any():
        # What has only a number is written out.
        found = column.texts()
        if none is None:
            return TextColumn.of(found)
        return TextColumn.of(None if no else text for text, no in _pairs(found, none))
    if none is not None:
        end = np.where(none, start, end)
    view = memoryview(column.tape.text)
    content = b"".join([view[a:b] for a, b in zip(start.tolist(), end.tolist(), strict=True)])
    return TextColumn(np.frombuffer(content, np.uint8), ends_of([end - start]), none)


def _lists(
    column: Column,
    single: Bools,
    wrong: Bools,
    text_of: Callable[[Column], Column] = lambda items: items,
    none: Bools | None = None,
) -> ListColumn:
    """The texts of each row.

    Args:
        column: Lists, or single texts.
        single: (n,) which rows are single texts.
        wrong: Rows with an item that is no text are marked.
        text_of: The text of each item.
        none: (n,) which rows have no list at all.
    """
    count, items = column.where(column.is_of(LIST)).items()
    items = text_of(items)
    wrong[np.repeat(np.arange(len(count)), count)[~items.is_of(*SCALARS)]] = True
    ends = ends_of([count + single])
    nodes = np.empty(int(ends[-1]), np.int64)
    inside = np.ones(len(nodes), np.bool_)
    inside[ends[:-1][single]] = False
    nodes[ends[:-1][single]] = column.node[single]
    nodes[inside] = items.node
    return ListColumn(_text_column(Column(column.tape, nodes)), ends, none)


def _contexts(column: Column, wrong: Bools) -> ListColumn:
    """The contexts of each row: texts, or objects with a text, or a single text."""
    wrong |= column.is_of(OBJECT, DUPLICATE, INVALID)
    single = column.is_of(*SCALARS) & ~column.blank()
    return _lists(
        column,
        single,
        wrong,
        lambda items: _inside(items, *TEXT_KEYS),
        ~(single | column.is_of(LIST)),
    )


def _inside(items: Column, *keys: str) -> Column:
    """Items, those that are objects replaced by their value under the first of some keys."""
    objects = items.is_of(OBJECT, DUPLICATE)
    if not objects.any():
        return items
    return Column(items.tape, np.where(objects, items.field(*keys).node, items.node))


def _expected(lists: ListColumn, ruled: Bools) -> ListColumn:
    """The lists, those of some rows without rules that are no answers."""
    return ListColumn.of(
        tuple(one for text in texts or () if (one := expected_answer(text)) is not None)
        if rules
        else texts
        for texts, rules in _pairs(lists, ruled)
    )


def _amounts(found: _Found, wrong: Bools) -> Floats:
    """The number of each row; NaN for none."""
    column = found.column
    value, read = column.numbers()
    nothing = column.is_of(*NOTHING)
    if column.is_cells:
        left = np.flatnonzero(~read)
        nothing[left] = column.take(left).blank()
    wrong |= ~nothing & (~read | (value < 0))
    value = np.where(read, value, np.nan)
    scaled = found.named(in_milliseconds)
    value[scaled] /= 1000
    return value


def _logprobs(column: Column, wrong: Bools) -> list[Logprobs | None]:
    """The log-probabilities of each row."""
    lists = column.is_of(LIST)
    wrong |= ~lists & ~column.is_of(*NOTHING)
    count, items = column.where(lists).items()
    items = _inside(items, LOGPROB)
    value, read = items.numbers()
    null = items.is_of(NULL)
    bad = ~null & (~read | (value > ROUNDING))
    wrong[np.repeat(np.arange(len(count)), count)[bad]] = True
    values: list[float | None] = value.tolist()
    for at in np.flatnonzero(null).tolist():
        values[at] = None
    spans = pairwise(ends_of([count]).tolist())
    return [tuple(values[a:b]) if one else None for (a, b), one in _pairs(spans, lists)]


def _written(values: Column) -> list[str]:
    """Lists and objects as compact JSON, numbers as written."""
    levels = [values]
    counts = []
    while len(levels[-1]):
        count, items = levels[-1].items()
        counts.append(count)
        levels.append(items)
    keys = [json.dumps(name, ensure_ascii=False) + ":" for name in values.tape.keys]
    inside: list[str] = []
    for depth in reversed(range(len(counts))):
        level, ends = levels[depth], ends_of([counts[depth]]).tolist()
        found = []
        for kind, text, (a, b) in zip(
            level.kind.tolist(), level.texts(), pairwise(ends), strict=True
        ):
            if kind == OBJECT:
                text = "{" + ",".join(inside[a:b]) + "}"
            elif kind == LIST:
                text = "[" + ",".join(inside[a:b]) + "]"
            elif kind == TEXT:
                text = json.dumps(text, ensure_ascii=False)
            found.append("null" if kind == NULL else text)
        if depth:
            codes = level.tape.key[level.node].tolist()
            found = [
                keys[code] + text if code >= 0 else text for code, text in _pairs(codes, found)
            ]
        inside = found
    return inside


def _listed_cells(column: Column, kind: str, joined_by: str) -> tuple[Column, Bools]:
    """Cells that hold lists as these, others as texts; and which are no such list."""
    cells = column.texts()
    listed = [cell.lstrip()[:1] == "[" for cell in cells]
    if kind != "logprobs" and not joined_by:
        if not any(listed):
            return column, np.zeros(len(cells), np.bool_)
        lines = [
            cell.encode() if one else orjson.dumps(cell or None)
            for cell, one in zip(cells, listed, strict=True)
        ]
        found = json_tape(b"\n".join(lines))
        if not found.left and len(found.values) == len(cells):
            return found.values, np.zeros(len(cells), np.bool_)
    values = [value_of_cell(kind, cell, joined_by) for cell in cells]
    unread = np.array([isinstance(one, Unread) or _has_faults(one) for one in values], np.bool_)
    read, deep = tape_of_some([None if isinstance(one, Unread) else one for one in values])
    return read, deep | unread


def _has_faults(value: Any) -> bool:
    try:
        return any(faults(value))
    except RecursionError:
        return True


def _pairs(one: Iterable[_T], other: Any) -> Iterator[tuple[_T, Any]]:
    return zip(one, other.tolist() if hasattr(other, "tolist") else other, strict=True)
