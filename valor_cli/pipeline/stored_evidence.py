"""Store the evidence of a run beside its results, for later comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from valor_cli.metric import Call, Evidence
from valor_cli.results import EvidenceResult, Scalar

MOST_BYTES = 256 << 20
"""Of the arrays of a model's evidence: what is larger is not kept."""


def stored(
    model: str,
    wing: int,
    calls: Sequence[Call],
    evidence: Evidence,
    classes: Sequence[type[Any]],
    unit_ids: Sequence[Any],
    groups: Sequence[Scalar] | None,
) -> EvidenceResult | None:
    """Evidence in stored form; None if not supported or too large.

    Args:
        model: Whose it is.
        wing: The number of its wing among those of the task.
        calls: The metrics that rest on it.
        evidence: That of the whole data.
        classes: From `Wing.stored`.
        unit_ids, groups: Of its units.
    """
    if type(evidence) not in classes:
        return None
    arrays: list[Any] = []
    tree = _taken_apart(evidence, {one: one.__name__ for one in classes}, arrays)
    if sum(one.nbytes for one in arrays) > MOST_BYTES:
        return None
    asked = [(call.metric.name, call.parameters) for call in calls]
    return EvidenceResult(model, wing, asked, _ids(unit_ids), groups, tree, arrays)


def _ids(unit_ids: Sequence[Any]) -> Sequence[Any]:
    """Ids as Python has them; an array of texts stays one, as a million of them take long."""
    if isinstance(unit_ids, np.ndarray) and unit_ids.dtype.kind == "S":
        return unit_ids
    return plain_ids(unit_ids)


def plain_ids(unit_ids: Sequence[Any]) -> list[Any]:
    """Ids as Python has them."""
    named = [one.item() if isinstance(one, np.generic) else one for one in unit_ids]
    return [one.decode() if isinstance(one, bytes) else one for one in named]


def _taken_apart(value: Any, names: Mapping[type[Any], str], arrays: list[Any]) -> Any:
    """A value as JSON has it, its arrays put behind those before."""
    if isinstance(value, float) and not isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if type(value) in names:
        own = type(value).__match_args__
        kept = [name for name in own if not name.startswith("_")]
        parts = {name: _taken_apart(getattr(value, name), names, arrays) for name in kept}
        return {"class": names[type(value)], "fields": parts}
    if isinstance(value, Mapping):
        pairs = [[_taken_apart(one, names, arrays) for one in item] for item in value.items()]
        return {"map": pairs}
    if isinstance(value, tuple):
        return [_taken_apart(one, names, arrays) for one in value]
    raise TypeError(f"evidence with a {type(value).__name__} is not kept")


def put_together(tree: Any, classes: Mapping[str, type[Any]], arrays: Sequence[Any]) -> Any:
    """The value that `_taken_apart` took apart; only of these classes."""
    if isinstance(tree, list):
        return tuple(put_together(one, classes, arrays) for one in tree)
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        return arrays[tree["array"]]
    if "float" in tree:
        return float(tree["float"])
    if "map" in tree:
        return dict(put_together(pair, classes, arrays) for pair in tree["map"])
    parts = {name: put_together(one, classes, arrays) for name, one in tree["fields"].items()}
    return classes[tree["class"]](**parts)
