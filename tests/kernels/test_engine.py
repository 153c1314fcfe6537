"""Which engine computes, and why."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tests.engines import kernel, needs_kernel
from valor_cli.kernels.engine import REVISION, select_engine


@pytest.mark.parametrize(
    ("wish", "module", "reason"),
    [
        ("numpy", "valor_cli.kernels._compiled", "VALOR_KERNEL=numpy asks for it"),
        ("", "valor_cli.kernels.not_compiled", "no compiler found"),
    ],
)
def test_numpy_where_it_is_asked_for_or_nothing_was_compiled(
    wish: str, module: str, reason: str
) -> None:
    found = select_engine(wish, module)
    assert found.kernel is None
    assert found.reason.endswith(reason)


def test_numpy_where_the_kernel_is_older(monkeypatch: pytest.MonkeyPatch) -> None:
    older = SimpleNamespace(REVISION=REVISION - 1)
    monkeypatch.setitem(sys.modules, "valor_cli.kernels.older", older)
    found = select_engine("", module="valor_cli.kernels.older")
    assert found.kernel is None
    assert "another version" in found.reason


def test_numpy_where_the_kernel_is_none(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    # As on a system it was not compiled for.
    import valor_cli.kernels

    path = f"{tmp_path}/broken.abi3.so"
    with open(path, "wb") as file:
        file.write(b"no library")
    monkeypatch.setattr(valor_cli.kernels, "__path__", [str(tmp_path)])
    found = select_engine("", module="valor_cli.kernels.broken")
    assert found.kernel is None
    assert found.reason.startswith("the compiled kernel cannot be loaded (")


@needs_kernel
def test_the_kernel_where_it_is_there() -> None:
    assert select_engine("").kernel is kernel()
    assert kernel().REVISION == REVISION


@needs_kernel
@pytest.mark.parametrize(
    "columns",
    [
        (),
        (np.zeros(3, np.int64),),
        (np.zeros(3, np.int32), np.zeros(3, np.int64)),
        (np.zeros(3, np.float64), np.zeros(3, np.int64)),
        (np.zeros(6, np.int64)[::2], np.zeros(3, np.int64)),
        (np.zeros(3, np.int64), bytes(24)),
        (memoryview(bytearray(25))[1:].cast("q"), np.zeros(3, np.int64)),
        ([1, 2], np.zeros(2, np.int64)),
    ],
    ids=["none", "one", "narrow", "floats", "gaps", "read-only", "not aligned", "a list"],
)
def test_columns_of_another_form_are_refused(columns: tuple[object, ...]) -> None:
    with pytest.raises((TypeError, ValueError, BufferError)):
        kernel().order_by_group(*columns)  # type: ignore[arg-type]


@needs_kernel
def test_columns_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="as many rows"):
        kernel().order_by_group(np.zeros(3, np.int64), np.zeros(2, np.int64))
