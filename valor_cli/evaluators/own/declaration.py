"""What an own metric declares of its values: `@valor_cli.sample_metric(…)`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar

from msgspec import Struct

from valor_cli.evaluators.own.sample import COLUMNS
from valor_cli.metric import Output

F = TypeVar("F", bound=Callable[..., Any])

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""What a metric, or an output, may be called."""

PASSES: Final = (bool, bool | None)
"""What a function returns that passes or fails a sample."""

_ATTRIBUTE: Final = "__valor_declaration__"


class Declaration(Struct, frozen=True):
    """The outputs of an own metric, and the columns it needs."""

    outputs: tuple[Output, ...]
    needs: tuple[str, ...]


def sample_metric(
    *,
    better: Literal["higher", "lower"] | None = "higher",
    bounds: tuple[float, float | None] = (0, None),
    outputs: tuple[str, ...] = ("value",),
    needs: tuple[str, ...] = ("response",),
    unit: str | None = None,
) -> Callable[[F], F]:
    """Declare what the values of a function are, for use as a metric of text samples.

    Args:
        better: Which direction is better; None: neither.
        bounds: The lowest and the highest value that there can be; None: no highest one.
        outputs: The names of what the function returns in a dict, the primary one first.
        needs: The columns without which a sample has no value; the function is not called then.
        unit: What tables call the unit; omitted: "fraction" for bounds 0 to 1, else "score".

    Raises:
        ValueError: A declaration that no metric can have.
    """
    if better not in ("higher", "lower", None):
        raise ValueError(f"better is 'higher', 'lower' or None, not {better!r}")
    low, high = _checked_bounds(bounds)
    names = _texts("outputs", outputs)
    wrong = [one for one in names if not NAME.fullmatch(one)]
    if not names or wrong or len(set(names)) < len(names):
        raise ValueError(f"outputs are one or more names, each once, not {outputs!r}")
    for need in _texts("needs", needs):
        if need not in COLUMNS:
            raise ValueError(f"needs has {need!r}; the columns are {', '.join(COLUMNS)}")
    unit = unit or ("fraction" if (low, high) == (0, 1) else "score")
    declared = Declaration(
        tuple(Output(name, better, (low, high), unit) for name in names), tuple(needs)
    )

    def declare(function: F) -> F:
        setattr(function, _ATTRIBUTE, declared)
        return function

    return declare


def declaration_of(function: Callable[..., Any], returns: object) -> Declaration:
    """What a function declares; without a declaration, by what it `returns`."""
    found = getattr(function, _ATTRIBUTE, None)
    if isinstance(found, Declaration):
        return found
    output = Output() if returns in PASSES else Output(bounds=(0, None), unit="score")
    return Declaration((output,), ("response",))


def _checked_bounds(bounds: Any) -> tuple[float, float | None]:
    if isinstance(bounds, (tuple, list)) and len(bounds) == 2:
        low, high = bounds
        known = [one for one in (low, high) if one is not None]
        numbers = all(isinstance(one, (int, float)) and math.isfinite(one) for one in known)
        if low is not None and numbers and (high is None or low < high):
            return low, high
    raise ValueError(f"bounds are (lowest, highest), or (lowest, None), not {bounds!r}")


def _texts(name: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, (tuple, list)) and all(isinstance(one, str) for one in given):
        return tuple(given)
    raise ValueError(f"{name} is a tuple of names, not {given!r}")
