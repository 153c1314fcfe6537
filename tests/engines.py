"""Both engines in one process, and memory that ends where a text ends."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from valor_cli.kernels import engine

T = TypeVar("T")

needs_kernel = pytest.mark.skipif(
    engine.ENGINE.kernel is None, reason=f"no compiled kernel: {engine.ENGINE.reason}"
)


def kernel() -> engine.Kernel:
    """The compiled kernel, of which a test has said that it needs it."""
    assert engine.ENGINE.kernel is not None
    return engine.ENGINE.kernel


@contextmanager
def computing(compiled: bool) -> Iterator[None]:
    """Compute with the compiled kernel or with numpy."""
    before = engine.compiled
    engine.compiled = engine.ENGINE.kernel if compiled else None
    try:
        yield
    finally:
        engine.compiled = before


def by_both(function: Callable[[], T]) -> tuple[T, T]:
    """What the compiled kernel makes of something, and what numpy does."""
    with computing(compiled=True):
        mine = function()
    with computing(compiled=False):
        return mine, function()


@contextmanager
def guarded(text: bytes) -> Iterator[memoryview]:
    """A text behind which there is no memory: to read a byte more ends the process."""
    size = -(-max(len(text), 1) // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(begin + size, mmap.PAGESIZE, 0) == 0
    memory[size - len(text) : size] = text
    view = memoryview(memory)
    try:
        yield view[size - len(text) : size]
    finally:
        protect(begin + size, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE)
        view.release()
