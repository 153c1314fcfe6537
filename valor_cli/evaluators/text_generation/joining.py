"""The samples of several models in; rows of the same samples for each of them out."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from valor_cli.errors import DataError, Problem, printable
from valor_cli.evaluators.text_generation.reading import ModelRows
from valor_cli.readers.csv_columns import listed, quoted
from valor_cli.readers.sample_file_of import COLUMNS_HINT
from valor_cli.readers.sample_files import SampleRow
from valor_cli.readers.sample_header import COLUMNS, layout_of, other_names
from valor_cli.results import Scalar

OF_SAMPLES = ("user_input", "references", "condition", "categories", "group", "perturbed_from")
"""The columns that say what a sample is, and not what a model made of it."""

_SHOWN = 3


class Joined(NamedTuple):
    """The rows of all models.

    Attributes:
        models: Their rows; of shared samples in one order.
        shared: Whether models have samples in common.
        warnings: What was odd and could be used all the same.
    """

    models: dict[str, ModelRows]
    shared: bool
    warnings: list[str]


def join_models(
    models: Mapping[str, ModelRows],
    metadata: Sequence[str],
    optional: Sequence[str] = (),
    of_answers: Sequence[str] = (),
) -> Joined:
    """Give every model a row for each sample that any has, if they have any in common.

    A sample that a model lacks has no response there. What only the files of other models say of a
    sample holds for all of them that were asked the same.

    Args:
        models: As read.
        metadata: Names of the metadata of their rows.
        optional: Those of them that may lack.
        of_answers: Those of them that models do not lend each other.

    Raises:
        DataError: No file has metadata of such a name.
    """
    required = [name for name in metadata if name not in optional]
    by_id = {model: {str(row.sample_id): row for row in own.rows} for model, own in models.items()}
    order = list(dict.fromkeys(one for rows in by_id.values() for one in rows))
    if len(order) == sum(map(len, by_id.values())):
        for own in models.values():
            _check_metadata([own], required)
        return Joined(dict(models), False, [])
    _check_metadata(list(models.values()), required)
    warnings = _differing(by_id)
    unlent = {at for at, name in enumerate(metadata) if name in of_answers}
    joined = {}
    for model, own in models.items():
        rows, lacks = by_id[model], _lacking(own, models, metadata, of_answers)
        filled = [one for one in order if one not in rows]
        if filled:
            warnings.append(
                f"{model}: no response to samples that other models have: {len(filled):,} of "
                f"{len(order):,} (the first: {_ids(filled)})"
            )
        if lacks.columns:
            warnings.append(f"{own.file.path}: {lacks}")
        whole = dict(rows)
        for one in order if any(lacks) else filled:
            said = [other[one] for other in by_id.values() if one in other]
            whole[one] = (
                lacks.completed(rows[one], said) if one in rows else _empty(_said(said), unlent)
            )
        joined[model] = replace(own, rows=[whole[one] for one in order], filled=frozenset(filled))
    return Joined(joined, True, warnings)


def check_needs(
    models: Mapping[str, ModelRows], needs: frozenset[str], columns: Mapping[str, str]
) -> None:
    """See that every model has the columns that metrics need.

    Args:
        models: Their rows.
        needs: Standard names of columns.
        columns: Standard name to that of the files, as the config maps them.

    Raises:
        DataError: No row of a model has a value of one of them.
    """
    problems: dict[Problem, None] = {}
    for model, own in models.items():
        alone = all(other is own or other.file is not own.file for other in models.values())
        row = "no row" if alone else f"no row of the model {quoted(model)}"
        layout = layout_of(own.file.names, columns)
        for name in COLUMNS:
            if name not in needs or _any_has(own, name):
                continue
            if layout.has(name):
                message = f"{row} has a value of {quoted(layout.name_of(name))}"
            else:
                there = listed(list(own.file.names))
                message = f"{row} has {other_names(name)}; there is: {there}"
            problems[Problem(own.file.path, message)] = None
    if problems:
        raise DataError(list(problems), hint=COLUMNS_HINT)


def absent_from_all(models: Mapping[str, ModelRows], wanted: frozenset[str]) -> frozenset[str]:
    """Those of some columns that no row of any model has."""
    return frozenset(
        name
        for name in wanted
        if name in COLUMNS and not any(row.has(name) for own in models.values() for row in own.rows)
    )


class _Lacks(NamedTuple):
    """What the file of a model does not say of samples: columns, and positions of metadata."""

    columns: tuple[str, ...]
    metadata: tuple[int, ...]

    def __str__(self) -> str:
        named = ", ".join(self.columns)
        return f"has no {named}; what other files say of the same samples is used"

    def completed(self, row: SampleRow, said: Sequence[SampleRow]) -> SampleRow:
        """A row with what is said of the sample, by itself and by others that ask the same."""
        common = _said([one for one in said if not _other_input(one, row)])
        values: dict[str, Any] = {name: getattr(common, name) for name in self.columns}
        if self.metadata:
            own: list[Scalar] = list(row.metadata)
            for at in self.metadata:
                own[at] = common.metadata[at]
            values["metadata"] = tuple(own)
        return row._replace(**values)


def _lacking(
    own: ModelRows,
    models: Mapping[str, ModelRows],
    metadata: Sequence[str],
    of_answers: Sequence[str],
) -> _Lacks:
    """What other models' files say, and that of this model does not."""
    return _Lacks(
        tuple(
            name
            for name in OF_SAMPLES
            if not _any_has(own, name) and any(_any_has(other, name) for other in models.values())
        ),
        tuple(
            at
            for at, name in enumerate(metadata)
            if name not in own.file.metadata and name not in of_answers
        ),
    )


def _any_has(own: ModelRows, name: str) -> bool:
    return any(row.has(name) for row in own.rows)


def _said(rows: Sequence[SampleRow]) -> SampleRow:
    """What models say of a sample, each thing as the first of them says it that does."""
    first = rows[0]
    values: dict[str, Any] = {
        name: next((getattr(row, name) for row in rows if row.has(name)), getattr(first, name))
        for name in (*OF_SAMPLES, "retrieved_contexts")
    }
    values["metadata"] = tuple(
        next((value for value in said if value is not None), None)
        for said in zip(*(row.metadata for row in rows), strict=True)
    )
    return first._replace(**values)


def _other_input(one: SampleRow, other: SampleRow) -> bool:
    """Whether both say what the model was asked, and it is not the same but for white space."""
    asked, also = one.user_input or "", other.user_input or ""
    return bool(asked and also) and asked.split() != also.split()


def _other_references(one: SampleRow, other: SampleRow) -> bool:
    return one.references != other.references


def _empty(common: SampleRow, unlent: Container[int]) -> SampleRow:
    """The row of a model that did not answer; metadata at `unlent` speak of others' answers."""
    kept = tuple(None if at in unlent else one for at, one in enumerate(common.metadata))
    return common._replace(
        response=None,
        duration_s=None,
        cost_usd=None,
        artifacts=None,
        token_logprobs=None,
        metadata=kept,
    )


def _differing(by_id: Mapping[str, Mapping[str, SampleRow]]) -> list[str]:
    """What to warn of where models were asked or held against something else under one id."""
    warnings = []
    for name, differ in (("user_input", _other_input), ("references", _other_references)):
        first: dict[str, SampleRow] = {}
        other: dict[str, None] = {}
        for rows in by_id.values():
            for one, row in rows.items():
                if getattr(row, name) and differ(first.setdefault(one, row), row):
                    other[one] = None
        if other:
            warnings.append(
                f"models have another {name} under the same sample_id: {len(other):,} samples "
                f"(the first: {_ids(list(other))})"
            )
    return warnings


def _ids(ids: Sequence[str]) -> str:
    return ", ".join(map(quoted, ids[:_SHOWN]))


def _check_metadata(models: Sequence[ModelRows], metadata: Sequence[str]) -> None:
    """See that some file of models has each column of metadata.

    Raises:
        DataError: None has.
    """
    problems = [
        Problem(
            models[0].file.path,
            f"there is no column {quoted(name)} for metadata.{printable(name)}; there is: "
            + listed(list(models[0].file.names)),
        )
        for name in metadata
        if not any(name in own.file.metadata for own in models)
    ]
    if problems:
        raise DataError(problems)
