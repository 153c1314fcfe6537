"""Complete the samples that several models answered with what any of them says."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.column_names import COLUMNS_HINT, listed, quoted
from valor_cli.data.schema import dotted
from valor_cli.data.shapes.samples.columns import SampleColumns, SampleRow
from valor_cli.data.shapes.samples.sample_file import SampleFile
from valor_cli.data.shapes.samples.schema import COLUMNS, SCHEMA, other_names
from valor_cli.errors import DataError, Problem, did_you_mean, printable
from valor_cli.evaluators.id_mismatch import SHOWN, Ids, few_matches_warning
from valor_cli.results import Scalar

Ints = NDArray[np.int64]

OF_SAMPLES = ("user_input", "references", "condition", "categories", "group", "perturbed_from")
"""The columns that say what a sample is, and not what a model made of it."""

OF_ANSWERS = ("response", "duration_s", "cost_usd", "artifacts", "token_logprobs")
"""Those of a model's answer."""

CONTEXTS = "retrieved_contexts"


class ModelColumns(NamedTuple):
    """What the rows of a model contain.

    Attributes:
        file: The file they are in.
        names: The standard columns that some row has a value of.
    """

    file: SampleFile
    names: frozenset[str]


def join_warnings(
    files: Mapping[str, SampleFile], ids: Mapping[str, Ids], shared: Mapping[str, int]
) -> list[str]:
    """Warnings if models have few samples in common with the first one.

    Args:
        files: By model, where its samples stand.
        ids: Their ids.
        shared: How many of these the first model has.
    """
    first = next(iter(ids.values()))
    found = []
    for model, own in ids.items():
        there = listed(list(files[model].names))
        mend = (
            "write them alike, or name the column that holds them under `data:` as "
            f"`columns: {{sample_id: …}}` (there is: {there})"
        )
        found.append(few_matches_warning(own, first, shared[model], mend))
    return [one for one in found if one]


def completed(
    by_id: Mapping[str, Mapping[str, SampleRow]],
    order: Sequence[str],
    missing: Mapping[str, MissingColumns],
    unlent: Container[int],
) -> dict[str, list[SampleRow]]:
    """By model, a row for each sample of `order`.

    Args:
        by_id: By model, its rows by their samples. Models lend each other what they say of the same
            question.
        order: All samples.
        missing: By model, what it does not say of samples.
        unlent: Positions of metadata that models do not lend each other.
    """
    whole = {}
    for model, lacks in missing.items():
        rows = by_id[model]
        own = dict(rows)
        for one in order if any(lacks) else [one for one in order if one not in rows]:
            said = [other[one] for other in by_id.values() if one in other]
            if one in rows:
                said = [other for other in said if not _other_input(other, rows[one])]
            own[one] = (
                lacks.completed(rows[one], said) if one in rows else _empty(_said(said), unlent)
            )
        whole[model] = [own[one] for one in order]
    return whole


def with_ground_truth(
    own: SampleColumns,
    at: Ints,
    truth: SampleColumns,
    lacks: MissingColumns,
    unlent: Container[int],
) -> SampleColumns:
    """A model's row for each sample, completed with what the ground truth says of it.

    Args:
        own: The rows of the model.
        at: (samples,) which of them is of each sample; -1 for none.
        truth: The row of the ground truth of each sample.
        lacks: What the model does not say of samples.
        unlent: Positions of metadata that say something of answers.
    """
    answered, silent = np.flatnonzero(at >= 0), np.flatnonzero(at < 0)
    rows = lacks.lent(own.take(at[answered]), truth.take(answered))
    if len(silent):
        said = truth.take(silent)
        said = said.only({*said.texts, *said.lists, "metadata"}.difference(OF_ANSWERS))
        metadata = [_not_of_answers(one, unlent) for one in said.metadata or ()]
        rows = SampleColumns.joined([rows, replace(said, metadata=metadata or None)])
        rows = rows.take(np.argsort(np.concatenate([answered, silent])))
    return rows.filled()


def filled_in_warnings(
    said: Mapping[str, ModelColumns],
    missing: Mapping[str, MissingColumns],
    filled: Mapping[str, tuple[int, Sequence[str]]],
    samples: int,
    truth: ModelColumns | None,
) -> list[str]:
    """Warnings about rows or columns that were filled in from other models.

    Args:
        said: What each model says.
        missing: What it does not say.
        filled: How many samples it lacks, and the first of them.
        samples: How many there are.
        truth: What a file of the ground truth says: what it has, predictions need not have.
    """
    warnings = []
    others = "other models have" if truth is None else "the ground truth has"
    for model, own in said.items():
        count, first = filled[model]
        if count:
            warnings.append(
                f"{model}: no response to samples that {others}: {count:,} of "
                f"{samples:,} (the first: {_ids(first)})"
            )
        if missing[model].columns and truth is None:
            warnings.append(f"{own.file.path}: {missing[model]}")
    return warnings


def unlent_of(metadata: Sequence[str], of_answers: Sequence[str]) -> set[int]:
    """Positions of metadata that is not shared between models."""
    return {at for at, name in enumerate(metadata) if name in of_answers}


def check_needs(
    models: Mapping[str, ModelColumns], needs: frozenset[str], columns: Mapping[str, str]
) -> list[str]:
    """Check that every model has the columns that metrics need.

    A column that is there and says nothing of any sample is what a model, or a data set, made of
    them: no sample has a value, and that is warned of.

    Args:
        models: What their rows say.
        needs: Standard names of columns.
        columns: Standard name to that of the files, as the config maps them.

    Returns:
        What to warn of.

    Raises:
        DataError: A model has no such column, or a path into objects leads to no value.
    """
    problems: dict[Problem, str] = {}
    warnings: dict[str, None] = {}
    for model, own in models.items():
        alone = all(other is own or other.file is not own.file for other in models.values())
        row = "no row" if alone else f"no row of the model {quoted(model)}"
        layout = SCHEMA.layout(own.file.names, columns)
        for name in COLUMNS:
            if name not in needs or name in own.names:
                continue
            if name in layout:
                message = f"{row} has a value of {quoted(dotted(layout[name]))}"
                if len(layout[name]) == 1:
                    warnings[f"{own.file.path}: {message}"] = None
                    continue
                # Or the path leads nowhere, which cannot be told from that.
            else:
                there = listed(list(own.file.names))
                message = f"{row} has {other_names(name)}; there is: {there}"
            problems[Problem(own.file.path, message)] = name
    if problems:
        raise DataError(list(problems), hint=COLUMNS_HINT % next(iter(problems.values())))
    return list(warnings)


def absent_from_all(models: Mapping[str, ModelColumns], wanted: frozenset[str]) -> frozenset[str]:
    """Columns that no row of any model has."""
    there = frozenset().union(*(own.names for own in models.values()))
    return frozenset(name for name in wanted if name in COLUMNS and name not in there)


class MissingColumns(NamedTuple):
    """Columns and metadata that are missing in one model's file."""

    columns: tuple[str, ...]
    metadata: tuple[int, ...]

    def __str__(self) -> str:
        named = ", ".join(self.columns)
        return f"has no {named}; what other files say of the same samples is used"

    def completed(self, row: SampleRow, said: Sequence[SampleRow]) -> SampleRow:
        """A row completed with what other rows of the same sample have."""
        common = _said(said)
        own: list[Scalar] = list(row.metadata)
        for at in self.metadata:
            own[at] = common.metadata[at]
        values = {name: common.of(name) for name in self.columns}
        return row.saying(**values)._replace(metadata=tuple(own))

    def lent(self, rows: SampleColumns, truth: SampleColumns) -> SampleColumns:
        """Rows completed with what rows of the ground truth say of the same samples."""
        texts = {name: truth.texts[name] for name in self.columns if name in truth.texts}
        lists = {name: truth.lists[name] for name in self.columns if name in truth.lists}
        metadata = rows.metadata
        if self.metadata and rows.metadata and truth.metadata:
            metadata = [
                tuple(right[at] if at in self.metadata else one for at, one in enumerate(own))
                for own, right in zip(rows.metadata, truth.metadata, strict=True)
            ]
        return replace(rows, texts=rows.texts | texts, lists=rows.lists | lists, metadata=metadata)


def missing_columns(
    said: Mapping[str, ModelColumns],
    metadata: Sequence[str],
    of_answers: Sequence[str],
    truth: ModelColumns | None,
) -> dict[str, MissingColumns]:
    """By model, what other models' files, or that of the ground truth, have and its own does not.

    Contexts are of a sample where the ground truth has them; otherwise a model found them.
    """
    if truth is None:
        lenders, lent = list(said.values()), frozenset(OF_SAMPLES)
    else:
        lenders, lent = [truth], frozenset((*OF_SAMPLES, CONTEXTS))
    there = lent.intersection(chain.from_iterable(own.names for own in lenders))
    return {
        model: MissingColumns(
            tuple(
                name for name in (*OF_SAMPLES, CONTEXTS) if name in there and name not in own.names
            ),
            tuple(
                at
                for at, name in enumerate(metadata)
                if name not in own.file.metadata and name not in of_answers
            ),
        )
        for model, own in said.items()
    }


def _said(rows: Sequence[SampleRow]) -> SampleRow:
    """The inputs of a sample, each from the first model that has it."""
    first = rows[0]
    values = {
        name: next((row.of(name) for row in rows if row.has(name)), first.of(name))
        for name in (*OF_SAMPLES, CONTEXTS)
    }
    metadata = tuple(
        next((value for value in said if value is not None), None)
        for said in zip(*(row.metadata for row in rows), strict=True)
    )
    return first.saying(**values)._replace(metadata=metadata)


def _other_input(one: SampleRow, other: SampleRow) -> bool:
    """Whether the inputs of both differ by more than white space."""
    asked, also = one.of("user_input") or "", other.of("user_input") or ""
    return bool(asked and also) and asked.split() != also.split()


def _other_references(one: SampleRow, other: SampleRow) -> bool:
    return bool(one.of("references") != other.of("references"))


def _empty(common: SampleRow, unlent: Container[int]) -> SampleRow:
    """The row of a model that did not answer; metadata at `unlent` speak of others' answers."""
    values = {name: one for name, one in common.values.items() if name not in OF_ANSWERS}
    return common._replace(values=values, metadata=_not_of_answers(common.metadata, unlent))


def _not_of_answers(metadata: tuple[Scalar, ...], unlent: Container[int]) -> tuple[Scalar, ...]:
    return tuple(None if at in unlent else one for at, one in enumerate(metadata))


COMPARED = ("user_input", "references")
"""The columns of which models should say the same."""


class Difference(NamedTuple):
    """A sample for which two models disagree on an input.

    Attributes:
        name: What: "user_input", "references".
        model: Which model, from 0.
        row: What it says.
    """

    name: str
    model: int
    row: SampleRow


def differing(by_id: Mapping[str, Mapping[str, SampleRow]]) -> Iterator[Difference]:
    """Samples whose inputs or references differ between models; each once.

    Args:
        by_id: By model, its rows by their samples.
    """
    for name, differ in zip(COMPARED, (_other_input, _other_references), strict=True):
        first: dict[str, SampleRow] = {}
        other: set[str] = set()
        for model, rows in enumerate(by_id.values()):
            for one, row in rows.items():
                if not row.of(name) or one in other:
                    continue
                if differ(first.setdefault(one, row), row):
                    other.add(one)
                    yield Difference(name, model, row)


def differences(found: Mapping[str, tuple[int, Sequence[str]]]) -> list[str]:
    """Warnings about differences: the field, the number of samples, and the first of them."""
    return [
        f"models have another {name} under the same sample_id: {count:,} samples "
        f"(the first: {_ids(first)})"
        for name, (count, first) in found.items()
    ]


def _ids(ids: Sequence[str]) -> str:
    return ", ".join(map(quoted, ids[:SHOWN]))


def check_metadata(
    files: Sequence[SampleFile],
    metadata: Sequence[str],
    optional: Sequence[str] = (),
    texts: Sequence[str] = (),
    *,
    shared: bool,
) -> None:
    """Check that each metadata column exists.

    Args:
        files: Where the samples of each model stand.
        metadata: Names of columns.
        optional: Those of them that may lack.
        texts: Those of them that metrics read.
        shared: Whether it is enough if one of the files has it.

    Raises:
        DataError: None has.
    """
    required = [name for name in metadata if name not in optional]
    for some in [files] if shared else [[one] for one in files]:
        problems = [
            Problem(
                some[0].path,
                f"there is no column {quoted(name)} for "
                + ("a prompt" if name in texts else f"metadata.{printable(name)}")
                + f"{did_you_mean(name, some[0].names)}; there is: {listed(list(some[0].names))}",
            )
            for name in required
            if not any(name in one.metadata for one in some)
        ]
        if problems:
            raise DataError(problems)
