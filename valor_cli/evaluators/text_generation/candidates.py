"""Link perturbed copies to their originals, and select the samples under evaluation."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.column_names import quoted
from valor_cli.data.shapes.samples.columns import SampleRow
from valor_cli.data.shapes.samples.sample_file import SampleFile
from valor_cli.data.table import SKIP_HINT
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.evaluators.id_mismatch import SHOWN
from valor_cli.evaluators.selection import among, unknown_samples, values_hint
from valor_cli.metric import METADATA, Selection, written
from valor_cli.results import Scalar


class Candidates(NamedTuple):
    """The samples of a model.

    Attributes:
        file: The file they are in.
        total: How many there are.
        ids: (n,) of each, where some are copies, or a filter looks at them.
        metadata: (n,) likewise, for a filter.
        copies: The rows that are changed copies of others.
        filled: Ids of samples that the model does not have, and another has.
    """

    file: SampleFile
    total: int
    ids: Sequence[str] = ()
    metadata: Sequence[tuple[Scalar, ...]] = ()
    copies: Sequence[SampleRow] = ()
    filled: Container[str] = frozenset()


def links_of(
    models: Mapping[str, Candidates], *, skip: bool
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
        known = frozenset(own.ids) if own.copies else frozenset()
        dangling = []
        for row in own.copies:
            copy, original = str(row.of("sample_id")), str(row.of("perturbed_from"))
            if original in known and original != copy:
                links[model][copy] = original
            elif copy not in own.filled:
                dangling.append(row)
        total += len(dangling)
        problems += [_dangling(own.file, row) for row in dangling[:LISTED]]
        if dangling:
            first = quoted(dangling[0].of("perturbed_from") or "")
            warnings.append(
                f"{model}: perturbed_from names no other sample of the model and was dropped: "
                f"{len(dangling):,} rows (the first names {first})"
            )
    if problems and not skip:
        hint = "perturbed_from holds the sample_id of the original, in the same file. " + SKIP_HINT
        raise DataError(problems[:LISTED], total=total, hint=hint)
    return links, warnings


def links_between(ids: Iterable[str], links: Mapping[str, str]) -> dict[Scalar, Scalar]:
    """The links of some samples to others of them."""
    there = dict.fromkeys(ids) if links else {}
    return {one: links[one] for one in there if one in links and links[one] in there}


def _dangling(file: SampleFile, row: SampleRow) -> Problem:
    name = row.of("perturbed_from") or ""
    itself = name == row.of("sample_id")
    what = "the sample itself" if itself else f"{quoted(name)}, which is no sample"
    place = f"{file.place(row.file, row.line)}: perturbed_from"
    return Problem(place, f"expected the id of another sample of the model, found {what}")


def selected(
    models: Mapping[str, Candidates], columns: Sequence[str], selection: Selection
) -> dict[str, Sequence[int]]:
    """By model, positions of the evaluated samples, ascending.

    Args:
        models: All samples.
        columns: The names of their metadata.
        selection: What is asked for.

    Raises:
        DataError: The filter leaves no sample of a model, names a sample that no model has, or
            asks for what texts do not have.
    """
    _check_filter(models, selection)
    found: dict[str, Sequence[int]] = {}
    for model, own in models.items():
        if not selection.keep:
            found[model] = range(own.total)[: selection.limit]
            continue
        kept = np.ones(own.total, bool)
        for key, allowed in selection.keep.items():
            kept &= _kept(own, key, allowed, columns)
        if not kept.any():
            values = {name: _values(own, at) for at, name in enumerate(columns)}
            of = f" of the model {quoted(model)}" if len(models) > 1 else ""
            problem = Problem("filter", f"leaves no sample{of} of {own.file.path}")
            raise DataError(problem, hint=values_hint(values))
        found[model] = np.flatnonzero(kept).tolist()[: selection.limit]
    return found


def _check_filter(models: Mapping[str, Candidates], selection: Selection) -> None:
    for key, allowed in selection.keep.items():
        if key == "sample_id":
            ids = dict.fromkeys(chain.from_iterable(own.ids for own in models.values()))
            unknown = [one for one in allowed if written(one) not in ids]
            if unknown:
                raise unknown_samples(unknown, key, "sample", list(ids)[:SHOWN])
        elif not key.startswith(METADATA):
            message = f"text samples have no {key}; filter by sample_id, or by metadata.NAME"
            raise DataError(Problem(f"filter.{key}", message))


def _kept(
    own: Candidates, key: str, allowed: Sequence[Scalar], columns: Sequence[str]
) -> NDArray[np.bool_]:
    if key == "sample_id":
        return among(own.ids, allowed)
    return among(_values(own, columns.index(key.removeprefix(METADATA))), allowed)


def _values(own: Candidates, at: int) -> list[Scalar]:
    return [values[at] for values in own.metadata]
