"""Parameters of a run's rows in; the words that tell one measure from its siblings out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from valor_cli.reports.formatting import parameter, plain
from valor_cli.results import Parameters

LABEL_KEY = "label_key"
"""The parameter that says which of a sample's labels a row is about; its value says enough."""


class Names:
    """How each measure of a run is called: parameters are named where siblings differ in them."""

    def __init__(self, sets: Iterable[tuple[str, Parameters]]) -> None:
        seen: dict[str, dict[tuple[tuple[str, object], ...], None]] = {}
        for metric, parameters in sets:
            seen.setdefault(metric, {})[frozen(parameters)] = None
        self._varying = {metric: _varying(list(kinds)) for metric, kinds in seen.items()}

    def detail(self, metric: str, parameters: Parameters) -> str:
        """The parameters that tell this measure from the metric's others."""
        varying = self._varying.get(metric, frozenset())
        return ", ".join(
            parameter(value) if name == LABEL_KEY else f"{plain(name, 40)}={parameter(value)}"
            for name, value in parameters.items()
            if name in varying
        )


def frozen(parameters: Parameters) -> tuple[tuple[str, object], ...]:
    """Parameters as a key, whatever their order."""
    return tuple((name, _hashable(value)) for name, value in sorted(parameters.items()))


def _hashable(value: object) -> object:
    if isinstance(value, Mapping):
        return frozenset(value.items())
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


def _varying(kinds: Sequence[tuple[tuple[str, object], ...]]) -> frozenset[str]:
    names = {name for kind in kinds for name, _ in kind}
    tables = [dict(kind) for kind in kinds]
    missing = object()
    seen = {name: {table.get(name, missing) for table in tables} for name in names}
    if LABEL_KEY in seen:
        seen[LABEL_KEY].discard(missing)  # what has no key needs none to be told apart
    return frozenset(name for name, values in seen.items() if len(values) > 1)
