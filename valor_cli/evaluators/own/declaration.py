"""What an own metric declares of its values: `@valor_cli.sample_metric(…)` and others."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeVar

from msgspec import Struct

from valor_cli.evaluators.own.sample import COLUMNS
from valor_cli.metric import Output

Kind = Literal["sample", "column", "evidence"]
"""What a function reads: a text sample, the columns of all samples, or counts of labels."""

F = TypeVar("F", bound=Callable[..., Any])

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""What a metric, or an output, may be called."""

PASSES: Final = (bool, bool | None)
"""What a function returns that passes or fails a sample."""

KINDS_BY_NAME: Final[Mapping[str, Kind]] = {
    "sample": "sample",
    "columns": "column",
    "evidence": "evidence",
}
"""What a function reads by the name of its first parameter; under any other one, a sample."""

_ATTRIBUTE: Final = "__valor_declaration__"


Better = Literal["higher", "lower"] | None
Bounds = tuple[float, float | None]


class Declaration(Struct, frozen=True):
    """What an own metric declares.

    Attributes:
        outputs: What its values are.
        needs: Columns it reads.
        kind: What it is a function of.
        per_sample: Whether a function of columns returns a value of each sample.
        concurrency: How many samples are awaited at once.
    """

    outputs: tuple[Output, ...]
    needs: tuple[str, ...] = ()
    kind: Kind = "sample"
    per_sample: bool = False
    concurrency: int = 8


def sample_metric(
    *,
    better: Better = "higher",
    bounds: Bounds = (0, None),
    outputs: tuple[str, ...] = ("value",),
    needs: tuple[str, ...] = ("response",),
    unit: str | None = None,
    concurrency: int = 8,
) -> Callable[[F], F]:
    """Declare what the values of a function are, for use as a metric of text samples.

    Args:
        better: Which direction is better; None: neither.
        bounds: The lowest and the highest value that there can be; None: no highest one.
        outputs: The names of what the function returns in a dict, the primary one first.
        needs: The columns without which a sample has no value; the function is not called then.
        unit: What tables call the unit; omitted: "fraction" for bounds 0 to 1, else "score".
        concurrency: How many samples an async function has at once.

    Raises:
        ValueError: A declaration that no metric can have.
    """
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
        raise ValueError(f"concurrency is a whole number from 1, not {concurrency!r}")
    return _declaring(
        Declaration(_outputs(better, bounds, outputs, unit), _needs(needs), concurrency=concurrency)
    )


def column_metric(
    *,
    better: Better = "higher",
    bounds: Bounds = (0, None),
    outputs: tuple[str, ...] = ("value",),
    needs: tuple[str, ...] = (),
    unit: str | None = None,
    per_sample: bool = False,
) -> Callable[[F], F]:
    """Declare what the values of a function are, for use as a metric of columns.

    Args:
        better, bounds, outputs, unit: As of `sample_metric`.
        needs: The columns of text samples that it reads, where they are not read anyway:
            "token_logprobs".
        per_sample: Whether it returns an array with a value of each sample, or image (NaN: none);
            else one value of all of them.

    Raises:
        ValueError: A declaration that no metric can have.
    """
    return _declaring(
        Declaration(
            _outputs(better, bounds, outputs, unit),
            _needs(needs),
            "column",
            per_sample=bool(per_sample),
        )
    )


def evidence_metric(
    *,
    better: Better = "higher",
    bounds: Bounds = (0, None),
    outputs: tuple[str, ...] = ("value",),
    unit: str | None = None,
) -> Callable[[F], F]:
    """Declare what the values of a function are, for use as a metric of counts of labels.

    Args:
        better, bounds, outputs, unit: As of `sample_metric`.

    Raises:
        ValueError: A declaration that no metric can have.
    """
    return _declaring(Declaration(_outputs(better, bounds, outputs, unit), kind="evidence"))


def _declaring(declared: Declaration) -> Callable[[F], F]:
    def declare(function: F) -> F:
        setattr(function, _ATTRIBUTE, declared)
        return function

    return declare


def _outputs(
    better: Better, bounds: Bounds, outputs: tuple[str, ...], unit: str | None
) -> tuple[Output, ...]:
    if better not in ("higher", "lower", None):
        raise ValueError(f"better is 'higher', 'lower' or None, not {better!r}")
    low, high = _checked_bounds(bounds)
    names = _texts("outputs", outputs)
    wrong = [one for one in names if not NAME.fullmatch(one)]
    if not names or wrong or len(set(names)) < len(names):
        raise ValueError(f"outputs are one or more names, each once, not {outputs!r}")
    unit = unit or ("fraction" if (low, high) == (0, 1) else "score")
    return tuple(Output(name, better, (low, high), unit) for name in names)


def _needs(needs: tuple[str, ...]) -> tuple[str, ...]:
    for need in _texts("needs", needs):
        if need not in COLUMNS:
            raise ValueError(f"needs has {need!r}; the columns are {', '.join(COLUMNS)}")
    return tuple(needs)


def declaration_of(function: Callable[..., Any], returns: object) -> Declaration:
    """What a function declares; without a declaration, by its first parameter and what it
    `returns`.
    """
    found = getattr(function, _ATTRIBUTE, None)
    if isinstance(found, Declaration):
        return found
    output = Output() if returns in PASSES else Output(bounds=(0, None), unit="score")
    kind = KINDS_BY_NAME.get(next(iter(inspect.signature(function).parameters), ""), "sample")
    return Declaration((output,), ("response",) if kind == "sample" else (), kind)


def is_metric(function: Callable[..., Any]) -> bool:
    """Whether a function declares what it is, or its first parameter does."""
    if isinstance(getattr(function, _ATTRIBUTE, None), Declaration):
        return True
    return next(iter(inspect.signature(function).parameters), "") in KINDS_BY_NAME


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
