"""The objects of several inputs of one side come in; those that are unlike most of them go out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from valor_cli.errors import DataError, Problem
from valor_cli.readers.objects import ObjectFile
from valor_cli.readers.shards import unlike_most


class _Kind(NamedTuple):
    """What the objects of an input must have in common with those of others.

    Attributes:
        image_ids: "numbers" or "text".
        named: Whether it names its categories.
        category_ids: "numbers" or "text", where they have no names.
    """

    image_ids: str
    named: bool
    category_ids: str


def odd_objects(parts: Sequence[ObjectFile]) -> dict[int, DataError]:
    """Parts whose ids are of another type than those of most, or which alone have no names.

    A part without objects is like any other.
    """
    filled = [at for at, part in enumerate(parts) if len(part.objects)]
    if not filled:
        return {}
    kinds = [_kind(parts[at]) for at in filled]

    def error(at: int, usual: int) -> DataError:
        message = f"{_difference(kinds[at], kinds[usual])} in {parts[filled[usual]].path}"
        return DataError(Problem(parts[filled[at]].path, message))

    return {filled[at]: problem for at, problem in unlike_most(kinds, error).items()}


def _kind(part: ObjectFile) -> _Kind:
    named = part.categories is not None
    categories = "" if named else _type(part, "category_id")
    return _Kind(_type(part, "image_id"), named, categories)


def _type(part: ObjectFile, column: str) -> str:
    return "numbers" if part.objects[column].dtype.kind == "i" else "text"


def _difference(own: _Kind, usual: _Kind) -> str:
    if own.image_ids != usual.image_ids:
        return f"image ids are {own.image_ids} here and {usual.image_ids}"
    if own.named != usual.named:
        there, here = ("are", "not ") if usual.named else ("are not", "")
        return f"categories are {here}named here, and {there}"
    return f"category ids are {own.category_ids} here and {usual.category_ids}"
