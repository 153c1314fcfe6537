"""Write and read slices.bin: which samples are in which slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace

from valor_cli.reports.files.packed_arrays import ArrayReader, ArrayWriter, read_records
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
    """Read what `to_blocks` wrote, as `read_records`."""
    first: list[SlicesResult] = []

    def read(record: Mapping[str, Any], arrays: ArrayReader) -> SlicesResult:
        if len(record) == 1:
            return replace(first[0], model=record["model"])
        first.append(_read(record, arrays))
        return first[-1]

    return read_records(content, path, result, _NAME, read)[0]


def _read(record: Mapping[str, Any], arrays: ArrayReader) -> SlicesResult:
    """The slices of a model, whose array comes next.

    Raises:
        LookupError, TypeError, ValueError: They do not fit together.
    """
    names, ids, members = record["names"], record["ids"], arrays.take(record["members"])
    if members.dtype != bool or members.shape != (len(names), len(ids)):
        raise ValueError(members.shape)
    if not {*map(type, names)} <= {str} or {*map(type, ids)} & {list, dict}:
        raise TypeError(names)
    return SlicesResult(record["model"], tuple(names), tuple(ids), members)
