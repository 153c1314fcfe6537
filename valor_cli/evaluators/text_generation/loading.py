"""Load text datasets."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping, Sequence
from math import fsum
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.column_names import quoted
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleRow
from valor_cli.data.source.files import STDIN
from valor_cli.data.table import SKIP_HINT
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.evaluators.selection import (
    among,
    filtered_columns,
    unknown_samples,
    values_hint,
)
from valor_cli.evaluators.text_generation.inputs import TextInputs
from valor_cli.evaluators.text_generation.joining import (
    absent_from_all,
    check_needs,
    having,
    join_models,
)
from valor_cli.evaluators.text_generation.reading import (
    ModelRows,
    metadata_there,
    read_inputs,
)
from valor_cli.metric import METADATA, Loaded, ModelUsage, NoOptions, Selection, written
from valor_cli.results import Scalar

_SHOWN = 3

Rows = Sequence[SampleRow]


def load_text(inputs: TextInputs, options: NoOptions, selection: Selection) -> Loaded[TextDataset]:
    """Read the samples of every model, and join them by sample id.

    Raises:
        DataError: A file cannot be used, a column that metrics need is missing, `perturbed_from`
            names no sample, or the selection leaves none.
    """
    if selection.every_metadata:
        # Not every file need have all of it.
        optional = dict.fromkeys([*selection.optional, *metadata_there(inputs)])
        selection = replace(selection, optional=tuple(optional))
    read = read_inputs(inputs, selection)
    columns = filtered_columns(selection)
    joined = join_models(read.models, columns, selection.optional, selection.of_answers)
    said = having(joined.models, selection.needs | selection.wanted)
    silent = check_needs(said, selection.needs - selection.wanted, inputs.columns)
    linking = {model: _linking(own) for model, own in joined.models.items()}
    links, warnings = links_of(linking, skip=inputs.on_invalid == "skip")
    kept = selected(joined.models, columns, selection)
    rows = {model: [own.rows[at] for at in kept[model]] for model, own in joined.models.items()}
    datasets = {
        model: _dataset(own, joined.models[model], links[model], inputs, selection)
        for model, own in rows.items()
    }
    named = any(one is not None for own in datasets.values() for one in own.artifacts)
    check_artifacts(inputs, named=named)
    ids = [one for dataset in datasets.values() for one in dataset.sample_ids]
    labelled = "labels" in selection.needs
    return Loaded(
        datasets=datasets,
        metadata={
            model: {name: [row.metadata[at] for row in own] for at, name in enumerate(columns)}
            for model, own in rows.items()
        },
        labels=labels_of(_named(rows.values()), selection) if labelled else (),
        sizes={"samples": len(set(ids)) if joined.shared else len(ids)},
        files=read.files,
        warnings=[*read.warnings, *silent, *joined.warnings, *warnings],
        known_labels=(
            labels_of(_named(own.rows for own in joined.models.values()), selection)
            if labelled
            else ()
        ),
        missing_columns=absent_from_all(said, selection.wanted),
        groups={model: dataset.group for model, dataset in datasets.items() if any(dataset.group)},
        perturbed={model: _perturbed(dataset) for model, dataset in datasets.items()},
        spent={model: _spent(own) for model, own in rows.items()},
    )


class Linking(NamedTuple):
    """Links between the samples of a model.

    Attributes:
        file: The file they are in.
        ids: All of them.
        copies: The rows that are changed copies of others.
        filled: Ids of samples that the model does not have, and another has.
    """

    file: SampleFile
    ids: Container[str]
    copies: Sequence[SampleRow]
    filled: Container[str] = frozenset()


def _linking(own: ModelRows) -> Linking:
    copies = [row for row in own.rows if row.perturbed_from is not None]
    ids = frozenset(str(row.sample_id) for row in own.rows) if copies else frozenset()
    return Linking(own.file, ids, copies, own.filled)


def links_of(
    models: Mapping[str, Linking], *, skip: bool
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """By model, links from perturbed copies to their originals, with warnings.

    Raises:
        DataError: `perturbed_from` names no sample of the model, or the copy itself.
    """
    links: dict[str, dict[str, str]] = {}
    problems: list[Problem] = []
    warnings: list[str] = []
    total = 0
    for model, own in models.items():
        links[model] = {}
        dangling = []
        for row in own.copies:
            copy, original = str(row.sample_id), str(row.perturbed_from)
            if original in own.ids and original != copy:
                links[model][copy] = original
            elif copy not in own.filled:
                dangling.append(row)
        total += len(dangling)
        problems += [_dangling(own.file, row) for row in dangling[:LISTED]]
        if dangling:
            first = quoted(dangling[0].perturbed_from or "")
            warnings.append(
                f"{model}: perturbed_from names no other sample of the model and was dropped: "
                f"{len(dangling):,} rows (the first names {first})"
            )
    if problems and not skip:
        hint = "perturbed_from holds the sample_id of the original, in the same file. " + SKIP_HINT
        raise DataError(problems[:LISTED], total=total, hint=hint)
    return links, warnings


def _dangling(file: SampleFile, row: SampleRow) -> Problem:
    name = row.perturbed_from or ""
    what = "the sample itself" if name == row.sample_id else f"{quoted(name)}, which is no sample"
    place = f"{file.place(row)}: perturbed_from"
    return Problem(place, f"expected the id of another sample of the model, found {what}")


def selected(
    models: Mapping[str, ModelRows], columns: Sequence[str], selection: Selection
) -> dict[str, Sequence[int]]:
    """By model, positions of the evaluated rows, ascending.

    Raises:
        DataError: The filter leaves no sample of a model, names a sample that no model has, or
            asks for what texts do not have.
    """
    _check_filter(models, selection)
    found: dict[str, Sequence[int]] = {}
    for model, own in models.items():
        if not selection.keep:
            found[model] = range(len(own.rows))[: selection.limit]
            continue
        kept = np.ones(len(own.rows), bool)
        for key, allowed in selection.keep.items():
            kept &= _kept(own.rows, key, allowed, columns)
        if not kept.any():
            values = {name: _values(own.rows, at) for at, name in enumerate(columns)}
            of = f" of the model {quoted(model)}" if len(models) > 1 else ""
            problem = Problem("filter", f"leaves no sample{of} of {own.file.path}")
            raise DataError(problem, hint=values_hint(values))
        found[model] = np.flatnonzero(kept).tolist()[: selection.limit]
    return found


def _check_filter(models: Mapping[str, ModelRows], selection: Selection) -> None:
    for key, allowed in selection.keep.items():
        if key == "sample_id":
            ids = {str(row.sample_id): 0 for own in models.values() for row in own.rows}
            unknown = [one for one in allowed if written(one) not in ids]
            if unknown:
                raise unknown_samples(unknown, key, "sample", list(ids)[:_SHOWN])
        elif not key.startswith(METADATA):
            message = f"text samples have no {key}; filter by sample_id, or by metadata.NAME"
            raise DataError(Problem(f"filter.{key}", message))


def _kept(
    rows: Rows, key: str, allowed: Sequence[Scalar], columns: Sequence[str]
) -> NDArray[np.bool_]:
    if key == "sample_id":
        return among([row.sample_id for row in rows], allowed)
    return among(_values(rows, columns.index(key.removeprefix(METADATA))), allowed)


def _values(rows: Rows, at: int) -> list[Scalar]:
    return [row.metadata[at] for row in rows]


def _dataset(
    rows: Rows,
    own: ModelRows,
    links: Mapping[str, str],
    inputs: TextInputs,
    selection: Selection,
) -> TextDataset:
    """The columns of a model's rows."""
    folders = [folder_of(inputs, one.path) for one in own.file.files]
    ids = tuple(str(row.sample_id) for row in rows)
    return TextDataset(
        number=np.arange(len(rows)),
        sample_ids=ids,
        user_input=tuple(row.user_input for row in rows),
        response=tuple(row.response for row in rows),
        references=tuple(row.references for row in rows),
        retrieved_contexts=tuple(row.retrieved_contexts for row in rows),
        condition=tuple(row.condition for row in rows),
        categories=tuple(row.categories for row in rows),
        group=tuple(row.group for row in rows),
        perturbed_from=tuple(map(links.get, ids)),
        artifacts=tuple(
            None if row.artifacts is None else os.path.join(folders[row.file], row.artifacts)
            for row in rows
        ),
        token_logprobs=tuple(
            # null becomes NaN.
            None if row.token_logprobs is None else np.array(row.token_logprobs, np.float64)
            for row in rows
        ),
        history=tuple(row.history for row in rows),
        label_map=selection.label_map,
    )


def folder_of(inputs: TextInputs, path: str) -> str:
    """The folder to which a file's artifact paths are relative."""
    return inputs.artifacts or ("" if path == STDIN else os.path.dirname(path))


def check_artifacts(inputs: TextInputs, *, named: bool) -> None:
    """Check that the artifacts folder exists if rows name one.

    Raises:
        DataError: It is not.
    """
    if named and inputs.artifacts is not None and not os.path.isdir(inputs.artifacts):
        raise DataError(
            Problem(inputs.artifacts, "no such folder"),
            hint="`artifacts` under `data:` is the folder that the paths of the rows start from.",
        )


def _named(models: Iterable[Rows]) -> set[str]:
    """The labels in references, stripped."""
    return {one.strip() for rows in models for row in rows for one in row.references}


def labels_of(texts: Iterable[str], selection: Selection) -> list[str]:
    """The labels in the references, sorted."""
    return sorted({selection.label_map.get(one, one) for one in texts if one})


def _perturbed(dataset: TextDataset) -> dict[Scalar, Scalar]:
    """From copies to originals, where both are under evaluation."""
    there = set(dataset.sample_ids)
    return {
        copy: original
        for copy, original in zip(dataset.sample_ids, dataset.perturbed_from, strict=True)
        if original in there
    }


def _spent(rows: Rows) -> ModelUsage:
    durations = [row.duration_s for row in rows if row.duration_s is not None]
    return total_usage(durations, [row.cost_usd for row in rows if row.cost_usd is not None])


def total_usage(durations: Sequence[float], costs: Sequence[float]) -> ModelUsage:
    """Total usage of the samples that report it."""
    seconds = _total(durations)
    return ModelUsage(None if seconds is None else seconds / len(durations), _total(costs))


def _total(values: Sequence[float]) -> float | None:
    """The sum; None of nothing, and of what no number can hold."""
    try:
        return fsum(values) if values else None
    except OverflowError:
        return None
