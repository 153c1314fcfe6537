"""Read labels and scores of rows from columns, whatever format these come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from valor_cli.data.column_names import indicator_in
from valor_cli.data.shapes.scores.columns import ScoreColumns
from valor_cli.data.shapes.scores.label_lists import named_labels, says_labels
from valor_cli.data.shapes.scores.layout import probable
from valor_cli.data.shapes.scores.schema import ITEM_LABELS, ITEM_SCORES
from valor_cli.data.shapes.scores.score_file import Side
from valor_cli.data.tape import (
    ABSENT,
    DUPLICATE,
    FALSE,
    INVALID,
    LIST,
    NOTHING,
    NULL,
    NUMBER,
    OBJECT,
    SCALARS,
    TEXT,
    TRUE,
    Bools,
    Column,
    Floats,
    Ints,
    nth,
    taken,
)
from valor_cli.kernels.columns.grouping import offsets as starts
from valor_cli.kernels.columns.spans import Spans, Vocabulary
from valor_cli.kernels.ranking.sparse_scores import SparseScores


class ScoreFields(Struct, frozen=True):
    """The columns of some rows, by meaning.

    Attributes:
        line: (n,) number of each row.
        sample_id: The ids.
        truth: The true labels, or objects of them by label key; None if the file says none.
        key: The label keys; None for none.
        many: All predictions of a row, as an object or a list, perhaps by label key.
        pairs: Predicted labels, perhaps objects by label key, and their scores (None: 1).
        wide: The scores of each class; of ground truth, 1 or true where a sample has the label.
        metadata: By name.
        cells: Whether values are cells of a table: an empty one is no label, and neither a score
            nor a label key.
        unusable: (n,) rows that are known to be wrong.
    """

    line: Ints
    sample_id: Column
    truth: Column | None
    key: Column | None
    many: Column | None
    pairs: Sequence[tuple[Column, Column | None]]
    wide: Sequence[Column]
    metadata: Mapping[str, Column]
    cells: bool
    unusable: Bools


class ParsedScores(NamedTuple):
    """Rows that could be read, and the positions of the others."""

    piece: ScoreColumns
    rejected: Ints


class _Rows(NamedTuple):
    """A row for each line, or for each label key of a line.

    Attributes:
        line: (m,) the line of each, ascending.
        key: (m,) the code of its label key; -1 for none.
        truth: The true labels.
        many, single, score: What the line says of this key.
    """

    line: Ints
    key: Ints
    truth: Column
    many: Column
    single: Column
    score: Column


class _Listed(NamedTuple):
    """Labels that rows list.

    Attributes:
        row: (e,) the row that lists each.
        start, end: (e,) where its name is.
        code: (e,) its code where it is a class by position, else -1.
        score: (e,) its score.
        read: (e,) whether it can be used.
    """

    row: Ints
    start: Spans
    end: Spans
    code: Ints
    score: Floats
    read: Bools


class ScoreParser:
    """Reads rows of a file. Labels and label keys are numbered as they appear."""

    def __init__(
        self,
        side: Side,
        classes: Sequence[str],
        labels: Vocabulary,
        keys: Vocabulary,
        *,
        probabilities: bool,
        several: bool = False,
        separator: str = "",
    ) -> None:
        """Initialise with the columns to fill.

        Args:
            side: What the file holds.
            classes: Those of a list of bare numbers: the first of `labels`.
            labels, keys: Names seen so far; new ones are added.
            probabilities: Whether scores must be from 0 to 1, but for rounding.
            several, separator: As in `ScoreReading`.
        """
        self._side = side
        self._classes = len(classes)
        self._labels = labels
        self._keys = keys
        self._probabilities = probabilities
        self._several = several
        self._separator = separator

    def parse(self, fields: ScoreFields) -> ParsedScores:
        """The valid rows; what is wrong with the others is not said."""
        ids = fields.sample_id
        wrong = fields.unusable | ~ids.is_of(NUMBER, TEXT) | (ids.length == 0) | ids.holding(0)
        for column in fields.metadata.values():
            wrong |= column.is_of(LIST, OBJECT, DUPLICATE, INVALID)
        while True:
            before, labels, keys = np.count_nonzero(wrong), len(self._labels), len(self._keys)
            piece = self._piece(fields, wrong)
            if np.count_nonzero(wrong) == before:
                return ParsedScores(piece, np.flatnonzero(wrong))
            # Rows that may be refused leave no names behind.
            self._labels.forget(labels)
            self._keys.forget(keys)

    def _rows(self, fields: ScoreFields, wrong: Bools) -> _Rows:
        """The lines, apart by label key."""
        n = len(fields.line)
        absent = Column(fields.sample_id.tape, np.full(n, -1, np.int64))
        truth = absent if fields.truth is None else fields.truth
        if fields.truth is not None:
            needed = (ABSENT,) if self._side == "ground_truth" else ()
            wrong |= truth.is_of(INVALID, DUPLICATE, *needed)
            wrong |= truth.is_of(LIST) & (not self._several)
            if fields.many is None and fields.pairs:
                # Pairs of names say nothing of label keys.
                wrong |= truth.is_of(OBJECT)
        many, single, score = absent, absent, absent
        if fields.many is not None:
            many, (single, given) = fields.many, fields.pairs[0]
            score = absent if given is None else given
            if self._several:
                # A list of labels, which has no score of its own.
                listing = single.is_of(LIST) & many.is_of(*NOTHING)
                wrong |= listing & ~score.is_of(*NOTHING)
                many = Column(many.tape, np.where(listing, single.node, many.node))
            lists = many.is_of(LIST, OBJECT) | (many.is_of(NULL) & single.is_of(ABSENT))
            wrong |= ~lists & ~many.is_of(*NOTHING)
            if self._side == "predictions" and not fields.wide:
                wrong |= many.is_of(ABSENT) & single.is_of(ABSENT)
            if fields.wide:
                # A line has a score for each class, or predictions of its own.
                wrong |= ~many.is_of(ABSENT) | ~single.is_of(ABSENT)
            single = single.where(~lists)
            wrong |= single.is_of(LIST, INVALID, DUPLICATE)
        key = np.full(n, -1, np.int64)
        if fields.key is not None:
            there = fields.key.length > 0
            wrong |= ~(there | (fields.key.is_of(*NOTHING) & (not fields.cells)))
            chosen = np.flatnonzero(there & ~wrong)
            key[chosen] = fields.key.take(chosen).codes(self._keys)
        rows = _Rows(np.arange(n), key, truth, many, single, score)
        return rows if fields.cells else self._by_key(rows, wrong)

    def _by_key(self, rows: _Rows, wrong: Bools) -> _Rows:
        """Lines whose labels are objects by label key become a row for each key."""
        held = [_members(column) for column in (rows.truth, rows.many, rows.single)]
        # An object of scores is none by label key.
        held[1] = taken(held[1], _any(held[1], held[1].value.is_of(OBJECT, LIST, DUPLICATE)))
        keyed = np.zeros(len(rows.line), np.bool_)
        for one in held:
            keyed[one.row] = True
        empty = rows.truth.is_of(OBJECT)
        empty[held[0].row] = False
        wrong |= empty
        if not keyed.any():
            return rows
        wrong[held[2].row[held[2].value.is_of(NUMBER)]] = True
        true = (*SCALARS, LIST) if self._several else SCALARS
        for one, kinds in zip(held, (true, (OBJECT, LIST), SCALARS), strict=True):
            wrong[one.row[~one.value.is_of(*kinds, NULL) | (one.start == one.end)]] = True
        # Labels of a line are by label key, all or none.
        bare = (rows.truth.length > 0) | rows.truth.is_of(LIST) | (rows.single.length > 0)
        wrong |= keyed & ((rows.key >= 0) | bare)
        by_key = np.zeros(len(rows.line), np.bool_)
        by_key[held[1].row] = True
        listing = rows.many.is_of(OBJECT, LIST) & (rows.many.items()[0] > 0)
        wrong |= keyed & ~by_key & listing
        chosen = keyed & ~wrong
        held = [taken(one, chosen[one.row]) for one in held]
        codes = [self._keys.codes(one.value.tape.text, one.start, one.end) for one in held]
        width = len(self._keys) + 1
        own = [one.row * width + code + 1 for one, code in zip(held, codes, strict=True)]
        cells, first = np.unique(
            np.concatenate([np.flatnonzero(~chosen) * width, *own]), return_index=True
        )
        # The keys of a line in the order of their appearance.
        order = np.lexsort((first, cells // width))
        place = np.empty(len(cells), np.int64)
        place[order] = np.arange(len(cells))
        row, key = cells[order] // width, cells[order] % width - 1
        columns = []
        for column, one, cell in zip((rows.truth, rows.many, rows.single), held, own, strict=True):
            node = np.where(chosen[row], -1, column.node[row])
            node[place[np.searchsorted(cells, cell)]] = one.value.node
            columns.append(Column(column.tape, node))
        truth, many, single = columns
        score = _scores_by_key(rows.score.take(row), chosen[row], key, self._keys)
        # A label key may have a score and no label; that must be a score all the same.
        unlabelled = chosen[row] & single.is_of(NULL, TEXT) & (single.length == 0)
        value, read = score.numbers()
        if self._probabilities:
            read &= probable(value)
        wrong[row[unlabelled & ~read & ~score.is_of(*NOTHING)]] = True
        score = score.where(~unlabelled)
        return _Rows(row, np.where(chosen[row], key, rows.key[row]), truth, many, single, score)

    def _by_class(self, fields: ScoreFields, wrong: Bools) -> Floats:
        """(n, classes) the scores of each class; all of them 0 without a prediction."""
        node = np.stack([column.node for column in fields.wide], axis=1)
        value, finite = Column(fields.sample_id.tape, node.ravel()).numbers()
        score, read = value.reshape(node.shape), finite.reshape(node.shape)
        left = np.flatnonzero(~read.all(axis=1))
        if len(left):
            empty = np.ones(len(left), np.bool_)
            for column in fields.wide:
                own = column.take(left)
                empty &= own.blank() if fields.cells else own.is_of(NULL)
            score[left[empty]] = 0.0
            read[left[empty]] = True
        if self._probabilities:
            read &= probable(score)
        wrong |= ~read.all(axis=1)
        return score

    def _indicated(self, fields: ScoreFields, wrong: Bools) -> _Listed:
        """The labels that are true of each row, by columns of 0 and 1."""
        node = np.stack([column.node for column in fields.wide], axis=1)
        held = Column(fields.sample_id.tape, node.ravel())
        value, _ = held.numbers()
        value = np.where(held.is_of(TRUE), 1.0, np.where(held.is_of(FALSE), 0.0, value))
        left = np.flatnonzero(~((value == 0) | (value == 1)))
        if len(left) and fields.cells:
            words = Vocabulary()
            code = held.take(left).codes(words)
            said = [indicator_in(word) for word in words.names]
            value[left] = np.array([*(np.nan if one is None else one for one in said), np.nan])[
                code
            ]
        wrong |= ~((value == 0) | (value == 1)).reshape(node.shape).all(axis=1)
        row, code = np.nonzero((value == 1).reshape(node.shape))
        none = np.zeros(len(row), np.int32)
        return _Listed(row, none, none, code, np.ones(len(row)), np.ones(len(row), np.bool_))

    def _listed(self, fields: ScoreFields, rows: _Rows, wrong: Bools) -> _Listed:
        """All labels that rows list, row after row."""
        pairs = list(fields.pairs) if fields.many is None else [(rows.single, rows.score)]
        # Labels of a cell are those of a list where they have no score.
        listing = self._several and fields.cells
        parts = [
            self._named(label, wrong[rows.line], cells=True)
            if listing and score is None
            else _pair(label, score, rows, fields, wrong)
            for label, score in pairs
        ]
        if fields.many is not None:
            parts += [_objects(rows.many), *self._lists(rows, wrong)]
        parts = [part for part in parts if len(part.row)]
        if not parts:
            return _NONE
        joined = parts[0]
        if len(parts) > 1:
            joined = _Listed(*(np.concatenate(column) for column in zip(*parts, strict=True)))
            joined = taken(joined, np.argsort(joined.row, kind="stable"))
        if self._probabilities:
            joined = joined._replace(read=joined.read & probable(joined.score))
        return joined

    def _lists(self, rows: _Rows, wrong: Bools) -> list[_Listed]:
        """Lists of labels with scores, or of bare scores."""
        chosen = np.flatnonzero(rows.many.is_of(LIST))
        if not len(chosen):
            return []
        count, items = rows.many.take(chosen).items()
        of = np.repeat(np.arange(len(chosen)), count)
        bare = np.bincount(of[~items.is_of(NUMBER)], minlength=len(chosen)) == 0
        bare &= count > 0
        wrong[rows.line[chosen[bare & (count != self._classes)]]] = True
        parts = []
        if bare.any():
            mine = np.flatnonzero(bare[of])
            place = mine - (np.cumsum(count) - count)[of[mine]]
            value, read = items.take(mine).numbers()
            none = np.zeros(len(mine), np.int32)
            parts.append(_Listed(chosen[of[mine]], none, none, place, value, read))
        if not bare.all():
            mine = np.flatnonzero(~bare[of])
            own = items.take(mine)
            label, score = own.field(*ITEM_LABELS), own.field(*ITEM_SCORES)
            read = own.is_of(OBJECT)
            if not read.all():
                inner, held = own.items()
                two = own.is_of(LIST) & (inner == 2)
                label = nth(inner, held, 0).where(two).or_else(label)
                score = nth(inner, held, 1).where(two).or_else(score)
                read |= two
            value, finite = score.numbers()
            read &= finite
            if self._several:
                bare = own.is_of(TEXT)
                label = own.where(bare).or_else(label)
                value[bare], read[bare] = 1.0, True
            read &= label.is_of(*SCALARS) & (label.length > 0)
            code = np.full(len(mine), -1, np.int64)
            parts.append(_Listed(chosen[of[mine]], *label.spans(), code, value, read))
        return parts

    def _named(self, column: Column, wrong: Bools, *, cells: bool) -> _Listed:
        """The labels that values name, each with a score of 1; those of wrong ones get no code."""
        parts = []
        for row, text, start, end, read in named_labels(
            column, ~wrong, self._separator, cells=cells
        ):
            code = np.full(len(row), -1, np.int64)
            code[read] = self._labels.codes(text, start[read], end[read])
            none = np.zeros(len(row), np.int32)
            parts.append(_Listed(row, none, none, code, np.ones(len(row)), read))
        joined = _Listed(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        return taken(joined, np.argsort(joined.row, kind="stable"))

    def _piece(self, fields: ScoreFields, wrong: Bools) -> ScoreColumns:
        """The rows that are not wrong; others that are found to be are marked."""
        rows = self._rows(fields, wrong)
        true, indicated = None, bool(fields.wide) and self._side == "ground_truth"
        if self._several and self._side != "predictions":
            if indicated:
                true, said = self._indicated(fields, wrong), np.ones(len(rows.line), np.bool_)
            else:
                true = self._named(rows.truth, wrong[rows.line], cells=fields.cells)
                wrong[rows.line[true.row[~true.read]]] = True
                said = says_labels(rows.truth, self._separator, cells=fields.cells)
        score = self._by_class(fields, wrong) if fields.wide and not indicated else None
        listed = self._listed(fields, rows, wrong)
        wrong[rows.line[listed.row[~listed.read]]] = True
        good = ~wrong[rows.line]
        if not good.all():
            listed = taken(listed, good[listed.row])
            place = np.cumsum(good) - 1
            listed = listed._replace(row=place[listed.row])
            rows = taken(rows, good)
            if true is not None:
                true, said = taken(true, good[true.row]), said[good]
                true = true._replace(row=place[true.row])
        truth, truths = None, None
        if true is not None:
            length = np.bincount(true.row, minlength=len(rows.line))
            wrong[rows.line[_twice(true.row, true.code, length)]] = True
            truths = SparseScores(starts(length), true.code.astype(np.int32), true.score)
            truth = said.astype(np.int64) - 1
        elif self._side != "predictions":
            truth = rows.truth.codes(self._labels)
        code = listed.code.copy()
        named = code < 0
        spans = listed.start[named], listed.end[named]
        code[named] = self._labels.codes(fields.sample_id.tape.text, *spans)
        count = np.bincount(listed.row, minlength=len(rows.line))
        wrong[rows.line[_twice(listed.row, code, count)]] = True
        line, listing = rows.line, self._side != "ground_truth" and score is None
        return ScoreColumns(
            sample_id=fields.sample_id.take(line).ids(),
            line=fields.line[line],
            key=rows.key if (rows.key >= 0).any() else None,
            truth=truth,
            truths=truths,
            count=count if listing else None,
            label=code if listing else None,
            score=listed.score if listing else None if score is None else score[line],
            metadata={
                name: column.take(line).scalars() for name, column in fields.metadata.items()
            },
        )


_EMPTY = np.zeros(0, np.int64)
_NONE = _Listed(
    _EMPTY,
    _EMPTY.astype(np.int32),
    _EMPTY.astype(np.int32),
    _EMPTY,
    np.zeros(0),
    np.zeros(0, np.bool_),
)


class _Members(NamedTuple):
    """Members of objects: the row of each, where its key is, and its value."""

    row: Ints
    start: Spans
    end: Spans
    value: Column


def _members(column: Column) -> _Members:
    """The members of all objects in a column."""
    chosen = np.flatnonzero(column.is_of(OBJECT))
    count, items = column.take(chosen).items()
    return _Members(np.repeat(chosen, count), *items.key_spans(), items)


def _any(members: _Members, some: Bools) -> Bools:
    """Which members are of an object with some member for which something holds."""
    found = np.zeros(int(members.row.max(initial=-1)) + 1, np.bool_)
    found[members.row[some]] = True
    return found[members.row]


def _pair(
    label: Column, score: Column | None, rows: _Rows, fields: ScoreFields, wrong: Bools
) -> _Listed:
    """One label of each row with its score, 1 if there is none."""
    there = label.length > 0
    row = np.flatnonzero(there)
    value, read = np.ones(len(row)), np.ones(len(row), np.bool_)
    if score is not None:
        own = score.take(row)
        value, read = own.numbers()
        if not fields.cells:
            nothing = own.is_of(*NOTHING)
            value[nothing], read[nothing] = 1.0, True
        # What lists no label may have no score.
        alone = np.flatnonzero(~there & ~label.is_of(ABSENT))
        if len(alone):
            left = score.take(alone)
            fine = left.blank() if fields.cells else left.is_of(OBJECT, DUPLICATE, *NOTHING)
            wrong[rows.line[alone[~fine]]] = True
    code = np.full(len(row), -1, np.int64)
    return _Listed(row, *label.take(row).spans(), code, value, read)


def _objects(many: Column) -> _Listed:
    """Objects of scores by label."""
    chosen = np.flatnonzero(many.is_of(OBJECT))
    if not len(chosen):
        return _NONE
    count, items = many.take(chosen).items()
    start, end = items.key_spans()
    value, read = items.numbers()
    code = np.full(len(items), -1, np.int64)
    return _Listed(np.repeat(chosen, count), start, end, code, value, read & (end > start))


def _scores_by_key(score: Column, keyed: Bools, key: Ints, keys: Vocabulary) -> Column:
    """The score of each row: of its label key where scores are an object by label key."""
    apart = np.flatnonzero(keyed & score.is_of(OBJECT, DUPLICATE))
    if not len(apart):
        return score
    node = score.node.copy()
    names = keys.names
    own = score.take(apart)
    node[apart] = -1
    for code in np.unique(key[apart]).tolist():
        mine = key[apart] == code
        node[apart[mine]] = own.take(mine).field(names[code]).node
    return Column(score.tape, node)


def _twice(row: Ints, code: Ints, count: Ints) -> Ints:
    """The rows that list a label more than once."""
    if count.max(initial=0) < 2:
        return row[:0]
    width = int(code.max()) + 1
    cell = np.sort(row * width + code)
    twice: Ints = cell[1:][cell[1:] == cell[:-1]] // width
    return twice
