"""Link perturbed copies of samples to their originals."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from valor_cli.data.column_names import quoted
from valor_cli.data.shapes.samples.columns import SampleRow
from valor_cli.data.shapes.samples.sample_file import SampleFile
from valor_cli.data.table import SKIP_HINT
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.results import Scalar


class Linking(NamedTuple):
    """The samples of a model, and which of them are copies.

    Attributes:
        file: The file they are in.
        ids: All of them.
        copies: The rows that are changed copies of others.
        filled: Ids of samples that the model does not have, and another has.
    """

    file: SampleFile
    ids: Container[str | None]
    copies: Sequence[SampleRow]
    filled: Container[str] = frozenset()


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
            copy, original = str(row.of("sample_id")), str(row.of("perturbed_from"))
            if original in own.ids and original != copy:
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
