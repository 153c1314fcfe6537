"""Read requested metadata from the image objects of a COCO file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import isfinite
from typing import Any

from valor_cli.data.values import LineProblems, Problems, describe, is_text, stop_on
from valor_cli.errors import DataError, Problem, did_you_mean, printable

_LISTED_NAMES = 30


def metadata_of(
    images: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    path: str,
    lines: Sequence[int] | None = None,
    others: Iterable[str] = (),
) -> dict[str, list[Any]]:
    """Metadata by name, aligned with the images.

    A name is looked for in the image's "metadata" object, then in the image itself.

    Args:
        images: As in the file.
        names: What to look for.
        path: The file, for messages.
        lines: Position of each image; None where they are the list "images".
        others: Names that images have besides.

    Raises:
        DataError: No image has one of the names, or a value is not a single JSON value.
    """
    found = {name: [_value_of(image, name) for image in images] for name in names}
    unknown = [name for name in names if not any(_has(image, name) for image in images)]
    if unknown:
        there = {*others, *chain.from_iterable(map(_names_of, images))}
        seen = sorted(map(printable, there))
        listed = ", ".join(seen[:_LISTED_NAMES]) + (", …" if len(seen) > _LISTED_NAMES else "")
        problems = [
            Problem(
                f"{path}: images" if lines is None else path,
                f"no image has the metadata '{name}'{did_you_mean(name, seen)}; there is: {listed}",
            )
            for name in unknown
        ]
        raise DataError(problems)
    _check(found, path, lines)
    return found


def _check(metadata: Mapping[str, list[Any]], path: str, lines: Sequence[int] | None) -> None:
    """Only single values can be compared, counted and shown.

    Raises:
        DataError: A value is a list or an object, or no JSON (NaN, a lone surrogate), which the
            lenient parser lets in.
    """
    problems = Problems(path, "images") if lines is None else LineProblems(path)
    for name, values in metadata.items():
        for row, value in enumerate(values):
            if isinstance(value, list | dict):
                expected = "a single value"
            elif not _is_json(value):
                expected = "a JSON value"
            else:
                continue
            at, key = (row, f".{name}") if lines is None else (lines[row], name)
            problems.add(at, key, f"expected {expected}, found {describe(value)}")
    stop_on([problems])


def _is_json(value: object) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return not isinstance(value, str) or value.isascii() or is_text(value)


def _inner(image: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = image.get("metadata")
    return inner if isinstance(inner, dict) else {}


def _value_of(image: Mapping[str, Any], name: str) -> object:
    inner = _inner(image)
    return inner[name] if name in inner else image.get(name)


def _has(image: Mapping[str, Any], name: str) -> bool:
    return name in image or name in _inner(image)


def _names_of(image: Mapping[str, Any]) -> list[str]:
    return [name for name in image if name != "metadata"] + list(_inner(image))
