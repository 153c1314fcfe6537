"""Select the compiled kernel where it is installed, otherwise NumPy.

Both give the same bits. A kernel that has a compiled version checks `compiled` at each call, so
that a test can use either.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple, cast

if TYPE_CHECKING:
    # Types alone: at run time the module itself is what has them.
    from valor_cli.kernels.kernel_functions import Kernel as Kernel

REVISION: Final = 8
"""Of the functions below; those of another one are not called."""

VARIABLE: Final = "VALOR_KERNEL"
"""Says "numpy" or "compiled" to have one engine and no other."""


class Engine(NamedTuple):
    """The compiled kernel if it is used, and why or why not."""

    kernel: Kernel | None
    reason: str


def select_engine(wish: str, module: str = "valor_cli.kernels._compiled") -> Engine:
    """Select the engine.

    Args:
        wish: "numpy"; anything else for the faster one that is there.
        module: Where the compiled kernel is looked for.
    """
    if wish == "numpy":
        return Engine(None, f"{VARIABLE}=numpy asks for it")
    try:
        kernel = cast("Kernel", import_module(module))
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError):
            return Engine(None, "the compiled kernel is not installed: no compiler found")
        return Engine(None, f"the compiled kernel cannot be loaded ({error})")
    if kernel.REVISION != REVISION:
        return Engine(None, "the compiled kernel is of another version of valor; install it again")
    return Engine(kernel, "in valor_cli/kernels/c; results have the same bits with numpy")


ENGINE: Final = select_engine(os.environ.get(VARIABLE, ""))
compiled: Kernel | None = ENGINE.kernel
