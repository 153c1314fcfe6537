"""A validator of the jsonschema package in; one whose keywords take bounded time, out.

The package searches user patterns with `re`, which nothing can stop, keeps what it has seen in
lists, and collects every error of an alternative. Its own keywords are used, so that drafts,
messages and results stay its own, over other functions of the names that they call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from types import FunctionType
from typing import Any

from valor_cli.kernels.patterns import Patience, PatternTimeout, parse_pattern

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


class Searching:
    """What stands for the module `re`, as far as keywords use it: its `search` can be stopped."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience

    def search(self, pattern: str, text: str) -> tuple[int, int] | None:
        """Where a pattern is found first, if it is.

        Raises:
            PatternTimeout: That takes too long.
        """
        try:
            return self._patience.search(parse_pattern(pattern), text)
        except PatternTimeout as why:
            raise PatternTimeout(f'the schema\'s pattern "{pattern}" {why}') from None


def bounded(keywords: Mapping[str, Any], patience: Patience) -> dict[str, Any]:
    """Those of a validator's keywords that could take for ever, with bounds.

    Args:
        keywords: `VALIDATORS` of a class of the jsonschema package.
        patience: Stops patterns, and remembers which were stopped.
    """
    searching = Searching(patience)
    return {name: _bounded(keywords[name], searching) for name in _KEYWORDS if name in keywords}


def _bounded(keyword: FunctionType, searching: Searching) -> FunctionType:
    finders = {
        name: _in_order(_over(keyword.__globals__[name], {"re": searching}))
        for name in _FINDERS
        if name in keyword.__globals__
    }
    # A set has its order from a random seed; a mapping's keys are a set in order.
    names = {"re": searching, "set": dict.fromkeys, "list": _first, "uniq": all_differ}
    return _over(keyword, {**names, **finders})


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
    """Whether no two JSON values are equal: 1 and 1.0 are, 1 and true are not."""
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
