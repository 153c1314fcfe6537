"""Graphs of a few nodes in; ONNX files, written byte by byte, out.

The fields are those of onnx.proto3; no package writes them, so that none is needed to test reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

FLOAT, INT64, BOOL = 1, 7, 9
_OPSET = 17
_IR = 8
_INT, _INTS = 2, 7


@dataclass(frozen=True)
class Node:
    """An operation; attributes are whole numbers, or lists of such."""

    operation: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: Mapping[str, int | Sequence[int]] = field(default_factory=dict)
    domain: str = ""


@dataclass(frozen=True)
class Port:
    """An input or output of a graph: its name, type of elements, and sizes or their names."""

    name: str
    kind: int
    shape: Sequence[int | str]


def onnx_bytes(
    nodes: Sequence[Node],
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    constants: Mapping[str, np.ndarray],
) -> bytes:
    """The bytes of a file `model.onnx`."""
    graph = b"".join(
        (
            *(_part(1, _node(each)) for each in nodes),
            _part(2, b"graph"),
            *(_part(5, _tensor(name, each)) for name, each in constants.items()),
            *(_part(11, _port(each)) for each in inputs),
            *(_part(12, _port(each)) for each in outputs),
        )
    )
    domains = sorted({"", *(each.domain for each in nodes)})
    opsets = b"".join(
        _part(8, _part(1, name.encode()) + _number(2, 1 if name else _OPSET)) for name in domains
    )
    return _number(1, _IR) + opsets + _part(7, graph)


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _number(place: int, number: int) -> bytes:
    return _varint(place << 3) + _varint(number)


def _part(place: int, content: bytes) -> bytes:
    return _varint(place << 3 | 2) + _varint(len(content)) + content


def _node(node: Node) -> bytes:
    return b"".join(
        (
            *(_part(1, each.encode()) for each in node.inputs),
            *(_part(2, each.encode()) for each in node.outputs),
            _part(4, node.operation.encode()),
            *(_part(5, _attribute(name, each)) for name, each in node.attributes.items()),
            _part(7, node.domain.encode()),
        )
    )


def _attribute(name: str, said: int | Sequence[int]) -> bytes:
    if isinstance(said, int):
        return _part(1, name.encode()) + _number(3, said) + _number(20, _INT)
    numbers = b"".join(_number(8, each) for each in said)
    return _part(1, name.encode()) + numbers + _number(20, _INTS)


def _tensor(name: str, tensor: np.ndarray) -> bytes:
    kind = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): INT64}[tensor.dtype]
    sizes = b"".join(_number(1, each) for each in tensor.shape)
    return sizes + _number(2, kind) + _part(8, name.encode()) + _part(9, tensor.tobytes())


def _port(port: Port) -> bytes:
    sizes = b"".join(
        _part(1, _number(1, each) if isinstance(each, int) else _part(2, each.encode()))
        for each in port.shape
    )
    tensor = _number(1, port.kind) + _part(2, sizes)
    return _part(1, port.name.encode()) + _part(2, _part(1, tensor))
