"""Ways to give one data set to one config come in; whether they say the same, to the byte, out."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import zstandard
from msgspec import Struct

from tests.same_bytes.record import differences, recorded
from valor_cli.cli.app import _called

FILES = ("results.json", "samples.jsonl", "resamples.jsonl")
"""What a run writes for programs."""

PIECE_BYTES = "VALOR_PIECE_BYTES"
"""The variable of the environment that says where large inputs are cut."""


def exact(value: Any) -> Any:
    """A value as plain tuples in which two numbers are equal only if all their bits are.

    -0.0 is not 0.0, 1 is not 1.0, and NaN is itself; sequences of one content are equal, mappings
    where their order is the same too.
    """
    scalar = _SCALARS.get(type(value))
    if scalar is not None:
        return scalar(value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return ("array", value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, np.generic):
        return exact(value.item())
    if isinstance(value, (int, float, str, bytes)):
        return next(_SCALARS[one](value) for one in type(value).__mro__ if one in _SCALARS)
    if is_dataclass(value) and not isinstance(value, type):
        columns = ((one.name, exact(getattr(value, one.name))) for one in fields(value))
        return (type(value).__name__, *columns)
    if isinstance(value, Struct):
        names = type(value).__struct_fields__
        return (type(value).__name__, *((name, exact(getattr(value, name))) for name in names))
    if isinstance(value, Mapping):
        return ("mapping", *((exact(key), exact(one)) for key, one in value.items()))
    if isinstance(value, Set):
        return ("set", *sorted(map(exact, value), key=repr))
    if isinstance(value, (Sequence, np.ndarray)):
        kinds = set(map(type, value))
        return (
            "sequence",
            *map(_SCALARS.get(kinds.pop(), exact) if len(kinds) == 1 else exact, value),
        )
    raise TypeError(f"{type(value).__name__} cannot be compared bit by bit")


_SCALARS: Mapping[type, Callable[[Any], Any]] = {
    bool: lambda value: ("bool", value),
    int: int,
    float: lambda value: ("float", value.hex()),
    str: str,
    bytes: bytes,
    type(None): lambda value: value,
}
"""By type, the tuple of a value that holds no others; most values by far are of these types."""


@dataclass(frozen=True)
class Cut:
    """One input that can be cut into files.

    Attributes:
        stem: What the names of its files begin with; the config names `data/STEM*`.
        extension: What they end with.
        rows: What can stand in any file, in any order.
        text: Some of the rows to the content of a file.
        whole: Whether it stays one plain file, whatever others become.
    """

    stem: str
    extension: str
    rows: Sequence[Any]
    text: Callable[[Sequence[Any]], str]
    whole: bool = False


@dataclass(frozen=True)
class Case:
    """A config and its inputs.

    Attributes:
        config: YAML, that names inputs as `data/STEM*`.
        inputs: Those.
        ordered: Whether samples are told in the order of the rows: those of text, which may stand
            in the order of time.
        numbered: Whether objects without an id are told by their position in the files.
    """

    config: str
    inputs: tuple[Cut, ...]
    ordered: bool = False
    numbered: bool = False


@dataclass(frozen=True)
class Layout:
    """How the rows of inputs stand in files.

    Attributes:
        shards: How many files, at most; as the generator draws it between 2 and that.
        shuffled: Whether rows stand in another order, and files under names in another order.
        ending: ".gz" or ".zst" compresses them.
    """

    shards: int = 1
    shuffled: bool = False
    ending: str = ""


def lay_out(case: Case, folder: Path, layout: Layout | None = None, seed: int = 0) -> Path:
    """The inputs of a case as files in `folder/data`, in the place of any that are there.

    Returns:
        The config.
    """
    layout = layout or Layout()
    data = folder / "data"
    rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    for one in case.inputs:
        for name, rows in _files(one, layout, rng):
            (data / name).write_bytes(_stored(one.text(rows).encode(), Path(name).suffix))
    config = folder / "run.yaml"
    config.write_text(case.config, encoding="utf-8")
    return config


def _files(
    cut: Cut, layout: Layout, rng: np.random.Generator
) -> Iterator[tuple[str, Sequence[Any]]]:
    """The files of one input, by name."""
    rows = list(cut.rows)
    if layout.shuffled:
        rows = [rows[at] for at in rng.permutation(len(rows)).tolist()]
    count = 1 if cut.whole or layout.shards == 1 else int(rng.integers(2, layout.shards + 1))
    edges = [0, *sorted(rng.choice(np.arange(1, len(rows)), count - 1, replace=False)), len(rows)]
    numbers = rng.permutation(count).tolist() if layout.shuffled else range(count)
    ending = "" if cut.whole else layout.ending
    for number, low, high in zip(numbers, edges, edges[1:], strict=False):
        mark = "" if count == 1 else f"-{number:03}"
        yield f"{cut.stem}{mark}{cut.extension}{ending}", rows[low:high]


def _stored(content: bytes, ending: str) -> bytes:
    if ending == ".gz":
        return gzip.compress(content, mtime=0)
    if ending == ".zst":
        return zstandard.compress(content)
    return content


class Told(NamedTuple):
    """What a run said: its exit code, and the files that it wrote for programs."""

    code: int
    files: Mapping[str, bytes]


def told(config: Path, *arguments: str, piece_bytes: int | None = None) -> Told:
    """Run `valor evaluate` in this process.

    Args:
        config: The config.
        arguments: Further ones of the command line.
        piece_bytes: Where large inputs are cut; None: where they always are.
    """
    out = config.parent / "out"
    rmtree(out, ignore_errors=True)
    asked = ["evaluate", str(config), "--out", str(out), "--format", "json", "-q", *arguments]
    with patch.dict(os.environ, {} if piece_bytes is None else {PIECE_BYTES: str(piece_bytes)}):
        code = _called(asked)(asked, prog_name="valor", standalone_mode=False)
    return Told(int(code or 0), files_of(out))


def files_of(out: Path) -> Mapping[str, bytes]:
    """The files of a run by name."""
    return {name: (out / name).read_bytes() for name in FILES if (out / name).exists()}


def in_any_order(told: Told) -> Told:
    """The same with the lines of samples sorted."""
    lines = sorted(told.files["samples.jsonl"].splitlines())
    return Told(told.code, {**told.files, "samples.jsonl": b"\n".join(lines)})


def assert_same(one: Told, other: Told, *, ids: bool = True) -> None:
    """Two runs said the same, less what may differ between them; rows that differ are named.

    Args:
        one: A run.
        other: Another one.
        ids: Whether the ids of objects in examples count, which are their positions in files.
    """
    first, second = (recorded(each.code, each.files, "", ids=ids) for each in (one, other))
    if first.hash != second.hash:
        assert differences(first.rows, second.rows) == []
        raise AssertionError("the order of rows or how they are written differs; no row does")
