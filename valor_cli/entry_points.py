"""What installed packages offer by name: metrics, readers of formats, and judges.

Their metadata is read, and their code imported only when a config names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any, Final, NamedTuple

from valor_cli.errors import Problem, UnknownNameError, did_you_mean

METRICS: Final = "valor.metrics"
FORMATS: Final = "valor.formats"
JUDGES: Final = "valor.judges"

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


def one_of(known: Collection[str], what: str) -> Callable[[str], str]:
    """A check that a text is one of these names, or has the form of one that a package offers."""

    def checked(name: str) -> str:
        if name in known or NAME.fullmatch(name):
            return name
        near = did_you_mean(name, known)
        raise ValueError(
            f"expected one of {', '.join(known)}, or PACKAGE.NAME of an installed {what}, found "
            f"{name!r:.60}{near}"
        )

    return checked


def schema_of(known: Collection[str]) -> dict[str, Any]:
    """The JSON Schema of such a text."""
    return {"anyOf": [{"enum": [*known]}, {"type": "string", "pattern": rf"^{NAME.pattern}$"}]}


def one_line(error: BaseException) -> str:
    """What a package's code raised, for a message."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def offered(group: str, name: str, place: str = "") -> Offered:
    """The function that an installed package offers under a name.

    Raises:
        UnknownNameError: None does, or several do; at `place`.
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
        raise UnknownNameError(Problem(place, message))
    names = sorted({one.name for one in found})
    listed = f"installed packages offer {', '.join(names) or 'none'} as {group}"
    raise UnknownNameError(
        Problem(place, f"unknown name {name!r}{did_you_mean(name, names)}; {listed}")
    )
