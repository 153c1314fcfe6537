"""An own function as the `measure` of a metric: each sample to an outcome.

Whatever the function does on a sample is that sample's outcome: an exception, or a result that is
no number, is a status with a reason and never a value.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from numbers import Real
from threading import RLock
from typing import Any, Final

import numpy as np

from valor_cli.evaluators.own.declaration import Declaration
from valor_cli.evaluators.own.sample import Sample, samples_of
from valor_cli.evaluators.own.source import Source, load_function
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts, missing
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.metric import Output
from valor_cli.results import Findings, Status

_ONE_AT_A_TIME: Final = RLock()
"""Files are read in threads; functions of users need not be safe there."""

_FAILED: Final[Status] = "parse_failure"
"""The status of a sample whose outcome cannot be used."""


class OwnFunction:
    """Calls an own function for each sample. Other processes load it again from its source."""

    def __init__(
        self,
        source: Source,
        function: Callable[..., Any],
        kinds: Mapping[str, Any],
        declared: Declaration,
    ) -> None:
        self.source = source
        self.declared = declared
        self._kinds = kinds
        # Readers of a metric's signature and docstring find those of the function.
        vars(self).update(
            __wrapped__=function,
            __doc__=function.__doc__,
            __name__=source.function,
            __annotations__=dict(kinds),
        )

    def __reduce__(self) -> tuple[object, ...]:
        return _loaded, (self.source, self._kinds, self.declared)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnFunction) and self.source == other.source

    def __hash__(self) -> int:
        return hash(self.source)

    def __call__(self, texts: Texts, **parameters: Any) -> Outcomes:
        """Measure the samples of a shard; what the function prints goes to standard error."""
        # For which samples it is, `completed` says.
        parameters = {name: parameters[name] for name in self._kinds}
        with _ONE_AT_A_TIME, redirect_stdout(sys.stderr):
            found = [self._outcome(sample, parameters) for sample in samples_of(texts.data)]
        return Outcomes.of(found, [output.name for output in self.declared.outputs])

    def _outcome(self, sample: Sample, parameters: Mapping[str, Any]) -> Outcome:
        for need in self.declared.needs:
            if getattr(sample, need) in (None, ()):
                return missing(f"no {need}")
        # A list is the function's own: what it changes there is gone with the call.
        given = {
            name: [*value] if isinstance(value, list) else value
            for name, value in parameters.items()
        }
        function: Callable[..., Any] = vars(self)["__wrapped__"]
        try:
            returned = function(sample, **given)
            values = self._values(returned)
        except _UnusableError as error:
            return Outcome(status=_FAILED, reason=str(error))
        except (Exception, SystemExit) as error:  # whatever it is, it is that sample's
            return Outcome(status=_FAILED, reason=self.source.told(error))
        if any(value is not None for value in values.values()):
            primary = self.declared.outputs[0].name
            if values.get(primary) is not None:
                return Outcome(values)
            return Outcome(values, "not_applicable", f"the function returned None for {primary}")
        return Outcome(status="not_applicable", reason="the function returned None")

    def _values(self, returned: Any) -> dict[str, float | None]:
        """What the function returned, by output.

        Raises:
            _UnusableError: It is none of what it may be.
        """
        outputs = {output.name: output for output in self.declared.outputs}
        if returned is None:
            return {}
        if not isinstance(returned, Mapping):
            if len(outputs) > 1:
                names = ", ".join(outputs)
                raise _UnusableError(f"the function returned no dict of its outputs {names}")
            return {name: _number(returned, output) for name, output in outputs.items()}
        for name in returned:
            if name not in outputs:
                raise _UnusableError(
                    f"the function returned the output {name!r:.60}, but declares "
                    f"{', '.join(outputs)}"
                )
        return {
            name: None if value is None else _number(value, outputs[name])
            for name, value in returned.items()
        }


class _UnusableError(Exception):
    """A result that is no value."""


def _number(value: Any, output: Output) -> float:
    """A returned number.

    Raises:
        _UnusableError: It is none, or out of the output's bounds.
    """
    if not isinstance(value, (Real, np.bool_)):
        told = f"{value!r:.60} ({type(value).__name__})"
        raise _UnusableError(f"the function returned {told}, not a number")
    found, (low, high) = float(value), output.bounds
    if not math.isfinite(found):
        raise _UnusableError(f"the function returned {found}, not a finite number")
    if found < low or (high is not None and found > high):
        top = "or more" if high is None else f"to {high:g}"
        raise _UnusableError(
            f"the function returned {found:g}, but its bounds are {low:g} {top}; declare others "
            "with @valor_cli.sample_metric(bounds=…)"
        )
    return found


def _loaded(source: Source, kinds: Mapping[str, Any], declared: Declaration) -> OwnFunction:
    """The function again, in another process."""
    return OwnFunction(source, load_function(source), kinds, declared)


def own_values(sampled: Sampled) -> Findings:
    """Mean of every output over the samples that have it."""
    everywhere = sampled.outcomes.status >= 0
    return sampled.findings(sampled.means(within=everywhere))
