"""What installed packages offer by name: metrics and readers of formats.

Their metadata is read, and their code imported only when a config names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, NamedTuple

from valor_cli.errors import Problem, UnknownNameError, did_you_mean

METRICS: Final = "valor.metrics"
FORMATS: Final = "valor.formats"

NAME: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", re.ASCII)
"""What the names of entry points are: "package.name"."""


class Offered(NamedTuple):
    """A function of an installed package."""

    module: str
    function: str

    def load(self) -> Callable[..., Any]:
        """Import it."""
        found: Callable[..., Any] = getattr(import_module(self.module), self.function)
        return found


def offered(group: str, name: str) -> Offered:
    """The function that an installed package offers under a name.

    Raises:
        UnknownNameError: None does, or several do; it has no place.
    """
    # To read what is installed imports email, sockets and zip: 10 ms.
    from importlib.metadata import entry_points

    found = entry_points(group=group)
    values = {one.value for one in found if one.name == name}
    if len(values) == 1:
        module, _, function = values.pop().partition(":")
        return Offered(module.strip(), function.strip())
    if values:
        message = f"several installed packages offer {name} as {group}: {', '.join(sorted(values))}"
        raise UnknownNameError(Problem("", message))
    names = sorted({one.name for one in found})
    listed = f"installed packages offer {', '.join(names) or 'none'} as {group}"
    raise UnknownNameError(
        Problem("", f"unknown name {name!r}{did_you_mean(name, names)}; {listed}")
    )
