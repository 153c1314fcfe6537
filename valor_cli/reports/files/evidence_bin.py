"""Write and read evidence.bin: the evidence of values that were not resampled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from valor_cli.reports.files.packed_arrays import ArrayReader, ArrayWriter, read_records
from valor_cli.results import EvidenceResult, RunResult

_NAME = b"valor evidence 1\n"


def to_blocks(result: RunResult) -> Iterator[bytes | memoryview]:
    """The file content, array by array."""
    arrays = ArrayWriter()
    document = [_told(one, arrays) for one in result.evidence]
    yield from arrays.blocks(_NAME, {"evidence": document})


def _told(one: EvidenceResult, arrays: ArrayWriter) -> dict[str, Any]:
    """The document entry of some evidence, with its arrays appended."""
    texts = isinstance(one.unit_ids, np.ndarray)
    kept = [arrays.add(array) for array in [*one.arrays, *([one.unit_ids] if texts else [])]]
    return {
        "model": one.model,
        "wing": one.wing,
        "calls": [[name, dict(parameters)] for name, parameters in one.calls],
        # The last of the arrays, where they are texts of about one length.
        "unit_ids": None if texts else list(one.unit_ids),
        "groups": None if one.groups is None else list(one.groups),
        "tree": one.tree,
        "arrays": kept,
    }


def from_bytes(content: bytes, path: str, result: RunResult) -> tuple[EvidenceResult, ...]:
    """Read what `to_blocks` wrote, as `read_records`."""
    return read_records(content, path, result, _NAME, _read)[0]


def _read(record: Mapping[str, Any], arrays: ArrayReader) -> EvidenceResult:
    """Some evidence, whose arrays come next."""
    kept = [arrays.take(told) for told in record["arrays"]]
    groups = record["groups"]
    ids: Any = kept.pop() if record["unit_ids"] is None else tuple(record["unit_ids"])
    return EvidenceResult(
        record["model"],
        int(record["wing"]),
        [(str(name), _frozen(parameters)) for name, parameters in record["calls"]],
        ids,
        None if groups is None else tuple(groups),
        record["tree"],
        kept,
    )


def _frozen(value: Any) -> Any:
    """Lists as tuples, however deep."""
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return {name: _frozen(item) for name, item in value.items()}
    return value
