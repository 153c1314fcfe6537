"""Resolve which label, model and metric a chart should show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from valor_cli.errors import DataError, Problem, UnknownNameError, did_you_mean
from valor_cli.reports.digests.formatting import clean
from valor_cli.results import RunResult

LISTED = 12
"""Names listed in a message."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requested chart; None where any value is accepted.

    `models` are the run's names, cleaned.
    """

    chart: str
    result: RunResult
    label: str | None = None
    model: str | None = None
    metric: str | None = None
    models: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        named = tuple(clean(model, 60) for model in self.result.models)
        object.__setattr__(self, "models", named)

    def shown(self) -> tuple[int, ...]:
        """Positions of the selected models.

        Raises:
            UnknownNameError: There is no such model.
        """
        known = list(self.result.models)
        if self.model is None:
            return tuple(range(len(known)))
        return (known.index(self.one_of("model", self.model, known)),)

    def one_of(self, kind: str, name: str, known: Iterable[str]) -> str:
        """The name, if it is known.

        Raises:
            UnknownNameError: There is none.
        """
        names = list(dict.fromkeys(known))
        if name in names:
            return name
        listed = ", ".join(clean(one, 40) for one in names[:LISTED]) or "none"
        more = f" … ({len(names)})" if len(names) > LISTED else ""
        message = f"{kind}: unknown '{clean(name)}'{did_you_mean(name, names)}"
        raise UnknownNameError(
            Problem(f"chart {self.chart}", message), hint=f"{kind}s it has: {listed}{more}"
        )

    def nothing(self, needs: str) -> DataError:
        """The error for a run without the data of a chart."""
        problem = Problem(f"chart {self.chart}", f"the run has no data for it: it needs {needs}")
        return DataError(problem, hint="valor report RUN --chart list names the charts of a run")
