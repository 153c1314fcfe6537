"""Write and read slices.bin: which samples are in which slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from valor_cli.errors import DataError, Problem
from valor_cli.reports.files.packed_arrays import MISSHAPEN, ArrayReader, ArrayWriter, check_models
from valor_cli.reports.files.sample_columns import NEXT
from valor_cli.results import RunResult, SlicesResult

_NAME = b"valor slices 1\n"


def to_blocks(result: RunResult) -> Iterator[bytes | memoryview]:
    """The file content; what equals the first model's, as samples of images do, is not repeated."""
    arrays = ArrayWriter()
    first = result.slices[0] if result.slices else None
    document = [
        {"model": one.model}
        if first is not None and one is not first and _alike(one, first)
        else {
            "model": one.model,
            "names": list(one.names),
            "ids": list(one.sample_ids),
            "members": arrays.add(one.members),
        }
        for one in result.slices
    ]
    yield from arrays.blocks(_NAME, {"slices": document})


def _alike(one: SlicesResult, first: SlicesResult) -> bool:
    same = one.names == first.names and one.sample_ids == first.sample_ids
    return same and np.array_equal(one.members, first.members)


def from_bytes(content: bytes, path: str, result: RunResult) -> tuple[SlicesResult, ...]:
    """Read what `to_blocks` wrote.

    Args:
        content: The file's bytes.
        path: The file they were read from, for messages.
        result: The run, as results.json has it.

    Raises:
        DataError: No such file, or that of another run.
    """
    found: list[SlicesResult] = []
    try:
        arrays = ArrayReader(content, path, _NAME)
        for record in arrays.document["slices"]:
            found.append(
                _read({**record, "like": found[0]} if len(record) == 1 else record, arrays)
            )
    except MISSHAPEN:
        raise DataError(Problem(path, "not a slices file of valor"), hint=NEXT) from None
    check_models([one.model for one in found], path, result.models)
    return tuple(found)


def _read(record: Mapping[str, Any], arrays: ArrayReader) -> SlicesResult:
    """The slices of a model, whose array comes next.

    Raises:
        LookupError, TypeError, ValueError: They do not fit together.
    """
    like = record.get("like")
    if like is not None:
        return SlicesResult(record["model"], like.names, like.sample_ids, like.members)
    names, ids, members = record["names"], record["ids"], arrays.take(record["members"])
    if members.dtype != bool or members.shape != (len(names), len(ids)):
        raise ValueError(members.shape)
    if not {*map(type, names)} <= {str} or {*map(type, ids)} & {list, dict}:
        raise TypeError(names)
    return SlicesResult(record["model"], tuple(names), tuple(ids), members)
