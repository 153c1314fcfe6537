"""Check that the kernel requested in VALOR_KERNEL is available."""

from __future__ import annotations

import os
from typing import Final

from valor_cli.errors import Problem, ValorError

VARIABLE: Final = "VALOR_KERNEL"
CHOICES: Final = ("compiled", "numpy")


def check_kernel() -> None:
    """Raise an error if the requested kernel is not available.

    Raises:
        ValorError: There is no such engine, or no compiled kernel is installed.
    """
    options = os.environ.get(VARIABLE, "")
    if not options:
        return
    if options not in CHOICES:
        problem = Problem(VARIABLE, f"expected {' or '.join(CHOICES)}, found {options!r}")
        raise ValorError(problem, hint=f"leave {VARIABLE} unset for the faster of those installed")
    if options == "compiled":
        # It imports numpy.
        from valor_cli.kernels.engine import ENGINE

        if ENGINE.kernel is None:
            raise ValorError(
                Problem(VARIABLE, f"asks for the compiled kernel, but {ENGINE.reason}"),
                hint=f"install valor where a C compiler is available, or leave {VARIABLE} unset",
            )
