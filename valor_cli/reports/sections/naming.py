"""Names of measures, with the parameters that distinguish them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from valor_cli.reports.sections.formatting import clean, parameter
from valor_cli.results import Parameters

LABEL_KEY = "label_key"
"""The parameter that says which of a sample's labels a row is about; its value says enough."""

FOLLOWING = ("layer", "splitter", "reduction", "model_sha256")
"""Parameters that mostly follow from others, the name of a model above all: told last of all."""


Kind: TypeAlias = tuple[tuple[str, object], ...]

_SCALARS = frozenset({str, int, float, bool, type(None)})


class Names:
    """Names of measures, with parameters where they distinguish siblings.

    Those that differ, but not in what is shown of long parameters, are numbered.
    """

    def __init__(self, sets: Iterable[tuple[str, Parameters]]) -> None:
        seen: dict[str, dict[Kind, Parameters]] = {}
        for metric, parameters in sets:
            seen.setdefault(metric, {}).setdefault(frozen(parameters), parameters)
        self._varying = {metric: _telling(list(kinds)) for metric, kinds in seen.items()}
        self._numbers: dict[tuple[str, Kind], int] = {}
        for metric, kinds in seen.items():
            alike: dict[str, list[Kind]] = {}
            for kind, parameters in kinds.items():
                alike.setdefault(self._told(metric, parameters), []).append(kind)
            for told, group in alike.items():
                if told and len(group) > 1:
                    numbered = enumerate(group, start=1)
                    self._numbers |= {(metric, kind): number for number, kind in numbered}

    def detail(self, metric: str, parameters: Parameters) -> str:
        """The parameters that distinguish this measure from the metric's others."""
        told = self._told(metric, parameters)
        if not self._numbers:
            return told
        number = self._numbers.get((metric, frozen(parameters)))
        return told if number is None else f"{told} #{number}"

    def _told(self, metric: str, parameters: Parameters) -> str:
        varying = self._varying.get(metric, frozenset())
        return ", ".join(
            parameter(value) if name == LABEL_KEY else f"{clean(name, 40)}={parameter(value)}"
            for name, value in parameters.items()
            if name in varying
        )


def output_name(metric: str, output: str) -> str:
    """A metric's name, with its output's name if it has one."""
    return metric if output in ("value", "") else f"{metric} {output}"


def frozen(parameters: Parameters) -> Kind:
    """Parameters as an order-independent key."""
    return tuple(
        [
            (name, value if type(value) in _SCALARS else _hashable(value))
            for name, value in sorted(parameters.items())
        ]
    )


def _hashable(value: object) -> object:
    if isinstance(value, Mapping):
        return frozenset((name, _hashable(item)) for name, item in value.items())
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


def _telling(kinds: Sequence[Kind]) -> frozenset[str]:
    """Parameters in which siblings differ, without redundant ones."""
    varying = _varying(kinds)
    kept = varying.difference(FOLLOWING)
    most = len({_cut(kind, varying) for kind in kinds})
    for name in FOLLOWING:
        if len({_cut(kind, kept) for kind in kinds}) == most:
            break
        kept |= varying & {name}
    return kept


def _cut(kind: Kind, names: frozenset[str]) -> Kind:
    return tuple(one for one in kind if one[0] in names)


def _varying(kinds: Sequence[Kind]) -> frozenset[str]:
    names = {name for kind in kinds for name, _ in kind}
    tables = [dict(kind) for kind in kinds]
    missing = object()
    seen = {name: {table.get(name, missing) for table in tables} for name in names}
    if LABEL_KEY in seen:
        seen[LABEL_KEY].discard(missing)  # what has no key needs none to be told apart
    return frozenset(name for name, values in seen.items() if len(values) > 1)
