"""slices.bin: which samples are in which slices, written and read."""

from __future__ import annotations

import re

import numpy as np
import pytest
from msgspec.structs import replace

from tests.reports.task_runs import run_of
from valor_cli.errors import DataError
from valor_cli.reports.files.slices_bin import from_bytes, to_blocks
from valor_cli.results import RunResult, SlicesResult

FRONT, REAR = [True, False, False], [False, True, False]


def sliced(*ids: int | str | None) -> RunResult:
    """Two models of the same slices, one of others."""
    one = SlicesResult("a", ("camera=front", "camera=rear"), ids, np.array([FRONT, REAR]))
    other = SlicesResult("c", ("camera=rear",), ids, np.array([REAR]))
    run = run_of("text_generation", ("a", "b", "c"))
    return replace(run, slices=(one, replace(one, model="b"), other))


@pytest.mark.parametrize("ids", [(1, 2, 3), ("x", 2, "\u202e")])
def test_what_is_written_is_read(ids: tuple[int | str, ...]) -> None:
    run = sliced(*ids)
    content = b"".join(to_blocks(run))
    assert content.count(b"camera=front") == 1
    for one, read in zip(run.slices, from_bytes(content, "slices.bin", run), strict=True):
        assert (read.model, read.names, read.sample_ids) == (one.model, one.names, one.sample_ids)
        assert np.array_equal(read.members, one.members)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda content: b"x" + content, "expected a file that begins with"),
        (lambda content: content[:-1], "the file is damaged or truncated"),
        (lambda content: content.replace(b"camera=front", b'cam","afront'), "not a slices file"),
        (lambda content: content.replace(b"[1,2,3]", b"[1,2,{}]"), "not a slices file"),
        (lambda content: content.replace(b'"model":"c"', b'"model":"d"'), "no model 'd' in"),
    ],
)
def test_other_files_are_refused(change: object, said: str) -> None:
    run = sliced(1, 2, 3)
    content = change(b"".join(to_blocks(run)))  # type: ignore[operator]
    with pytest.raises(DataError, match=re.escape(said)):
        from_bytes(content, "slices.bin", run)
