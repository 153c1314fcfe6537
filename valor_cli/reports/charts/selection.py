"""A run and what is wanted of it in; which label, model and metric that is out, or why not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from valor_cli.errors import DataError, Problem, UnknownNameError, did_you_mean
from valor_cli.reports.sections.formatting import plain
from valor_cli.results import RunResult

LISTED = 12
"""Names listed in a message."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A chart of a run; None where it does not matter.

    `models` are the run's names, cleaned.
    """

    chart: str
    result: RunResult
    label: str | None = None
    model: str | None = None
    metric: str | None = None
    models: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        named = tuple(plain(model, 60) for model in self.result.models)
        object.__setattr__(self, "models", named)

    def shown(self) -> tuple[int, ...]:
        """Positions of the models that are wanted.

        Raises:
            UnknownNameError: There is no such model.
        """
        known = list(self.result.models)
        if self.model is None:
            return tuple(range(len(known)))
        return (known.index(self.one_of("model", self.model, known)),)

    def one_of(self, kind: str, name: str, known: Iterable[str]) -> str:
        """The name, if there is one like it.

        Raises:
            UnknownNameError: There is none.
        """
        names = list(dict.fromkeys(known))
        if name in names:
            return name
        listed = ", ".join(plain(one, 40) for one in names[:LISTED]) or "none"
        more = f" … ({len(names)})" if len(names) > LISTED else ""
        message = f"{kind}: unknown '{plain(name)}'{did_you_mean(name, names)}"
        raise UnknownNameError(
            Problem(f"chart {self.chart}", message), hint=f"{kind}s it has: {listed}{more}"
        )

    def nothing(self, needs: str) -> DataError:
        """The run does not hold what the chart is of."""
        problem = Problem(f"chart {self.chart}", f"the run has nothing to draw: it needs {needs}")
        return DataError(problem, hint="valor report RUN --chart list names the charts of a run")
