"""Bound the time that jsonschema takes to validate a value.

Time is counted in steps, applied keywords, which are the same on every machine, so circular
references end too. Only for patterns is it measured.

The package searches user patterns with `re`, which cannot be interrupted, keeps what it has seen
in lists, and collects every error of an alternative. Its own keywords are used, so that drafts,
messages and results stay its own, with replacements for the functions they call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from time import process_time
from types import FunctionType
from typing import Any

from valor_cli.kernels.patterns.regex import LIMIT_S, Patience, PatternTimeout, parse_pattern

FEW = 10
"""Errors of one alternative that are kept; whether there is any is what counts."""

_KEYWORDS = (
    "additionalProperties",
    "anyOf",
    "oneOf",
    "pattern",
    "patternProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
)
_FINDERS = (
    "find_additional_properties",
    "find_evaluated_item_indexes_by_schema",
    "find_evaluated_property_keys_by_schema",
)


STEPS = 50_000
STEPS_A_CHARACTER = 20
"""Steps that one value may take, and how many more for each of its characters."""

RUN_STEPS = 5_000_000
RUN_STEPS_A_VALUE = 1_000
"""Steps that all values may take together beyond those of their characters, and more for each."""

RUN_S = 30.0
RUN_S_A_VALUE = 0.01
"""Seconds that patterns may take on all values together, and more for each."""

S_A_CHARACTER = 2e-6
"""Seconds more, in both, for each character of a value: a few searches for each of its texts."""


class TooManyStepsError(Exception):
    """Validation that exceeded its step limit."""


class Budget:
    """Remaining steps for one value and for all; replaces the module `re`, too."""

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        """Initialise; `limit_s` is the time limit for patterns per value."""
        self._patience = Patience(limit_s)
        self._run_steps = RUN_STEPS
        self._run_s = RUN_S
        self._allowed = self._steps = STEPS
        self._allowed_s = self._s = limit_s

    def begin(self, characters: int) -> None:
        """Start another value, whose JSON has this many characters."""
        self._allowed = self._steps = STEPS + STEPS_A_CHARACTER * characters
        self._allowed_s = self._s = self._patience.limit_s + S_A_CHARACTER * characters
        self._run_steps += RUN_STEPS_A_VALUE + STEPS_A_CHARACTER * characters
        self._run_s += RUN_S_A_VALUE + S_A_CHARACTER * characters

    def step(self) -> None:
        """Count a step.

        Raises:
            TooManyStepsError: There is none left.
        """
        self._steps -= 1
        self._run_steps -= 1
        if self._steps < 0:
            raise TooManyStepsError(f"the schema takes more than {self._allowed:,} steps on it")
        if self._run_steps < 0:
            raise TooManyStepsError(
                f"was not validated: the schema took {RUN_STEPS:,} steps too many on those before"
            )

    def search(self, pattern: str, text: str) -> tuple[int, int] | None:
        """The first match of a pattern, if any.

        Raises:
            PatternTimeout: That takes too long, or all patterns did together.
        """
        limit_s = self._patience.limit_s
        if self._s <= 0:
            raise PatternTimeout(
                f"the schema's patterns took longer than {self._allowed_s:.3g} s together"
            )
        if self._run_s <= 0:
            raise PatternTimeout(
                "the schema's patterns were not tried: they took too long on those before"
            )
        begun = process_time()
        try:
            return self._patience.search(parse_pattern(pattern), text, min(self._s, limit_s))
        except PatternTimeout as why:
            # What others left of the time is not the same twice.
            said = f"took longer than {limit_s:g} s" if why.late else str(why)
            raise PatternTimeout(f'the schema\'s pattern "{pattern}" {said}') from None
        finally:
            taken = process_time() - begun
            self._s -= taken
            self._run_s -= taken


def bounded(keywords: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
    """A validator's keywords with bounded time.

    Args:
        keywords: `VALIDATORS` of a class of the jsonschema package.
        budget: What they may take.
    """
    return {
        name: _counted(_bounded(one, budget) if name in _KEYWORDS else one, budget)
        for name, one in keywords.items()
    }


def _counted(function: Callable[..., Any], budget: Budget) -> Callable[..., Any]:
    """A function of which each call is a step."""

    def counted(*arguments: Any) -> Any:
        budget.step()
        return function(*arguments)

    return counted


def _bounded(keyword: FunctionType, budget: Budget) -> FunctionType:
    finders = {
        name: _in_order(_recursive(keyword.__globals__[name], budget))
        for name in _FINDERS
        if name in keyword.__globals__
    }
    # A set has its order from a random seed; a mapping's keys are a set in order.
    names = {"re": budget, "set": dict.fromkeys, "list": _first, "uniq": all_differ}
    return _over(keyword, {**names, **finders})


def _recursive(find: FunctionType, budget: Budget) -> Callable[..., Iterable[Any]]:
    """A copy of a function that calls itself; each call is a step."""
    copy = _over(find, {"re": budget})
    counted = _counted(copy, budget)
    copy.__globals__[find.__name__] = counted
    return counted


def _over(function: FunctionType, names: Mapping[str, Any]) -> FunctionType:
    """A copy of a function to which some global names, and its own, mean other things."""
    scope = {**function.__globals__, **names}
    copy = FunctionType(
        function.__code__,
        scope,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    scope[function.__name__] = copy
    return copy


def _in_order(find: Callable[..., Iterable[Any]]) -> Callable[..., dict[Any, None]]:
    return lambda *arguments: dict.fromkeys(find(*arguments))


def _first(errors: Iterable[Any]) -> list[Any]:
    return list(islice(errors, FEW))


def all_differ(values: Iterable[Any]) -> bool:
    """Whether no two JSON values are equal: 1 equals 1.0, but not true."""
    seen = set()
    for value in values:
        key = _key(value)
        if key in seen:
            return False
        seen.add(key)
    return True


def _key(value: Any) -> object:
    if isinstance(value, dict):
        return "object", frozenset((name, _key(one)) for name, one in value.items())
    if isinstance(value, list):
        return "array", tuple(map(_key, value))
    return ("boolean", value) if isinstance(value, bool) else value
