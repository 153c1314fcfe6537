"""Own functions as metrics: of samples one by one, of columns, and of evidence.

Whatever a function does on a sample is that sample's outcome: an exception, or a result that is no
number, is a status with a reason and never a value. So is what it does on all of them together.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from numbers import Real
from threading import RLock
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.evaluators.own.columns import Columns, columns_of, taken
from valor_cli.evaluators.own.declaration import Declaration
from valor_cli.evaluators.own.sample import Sample, samples_of
from valor_cli.evaluators.own.source import Source, load_function
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts, missing
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.metric import EvidenceCounts, Output
from valor_cli.results import STATUSES, Findings, MetricValue, Status

_ONE_AT_A_TIME: Final = RLock()
"""Files are read in threads; functions of users need not be safe there."""

_FAILED: Final[Status] = "parse_failure"
"""The status of a sample whose outcome cannot be used."""

Floats = NDArray[np.float64]

Value = dict[str, float | None] | str
"""What a function has of an argument, by output; a text: why that cannot be used."""


class OwnFunction:
    """An own function, and how it is called. Other processes load it again from its source."""

    def __init__(
        self,
        source: Source,
        function: Callable[..., Any],
        kinds: Mapping[str, Any],
        declared: Declaration,
        counted: Callable[..., Iterator[EvidenceCounts]] | None = None,
    ) -> None:
        self.source = source
        self.declared = declared
        self._kinds = kinds
        self._counted = counted
        # Readers of a metric's signature and docstring find those of the function.
        vars(self).update(
            __wrapped__=function,
            __doc__=function.__doc__,
            __name__=source.function,
            __annotations__=dict(kinds),
        )

    def __reduce__(self) -> tuple[object, ...]:
        return _loaded, (type(self), self.source, self._kinds, self.declared, self._counted)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnFunction) and self.source == other.source

    def __hash__(self) -> int:
        return hash(self.source)

    def _called(self, argument: Any, parameters: Mapping[str, Any]) -> Any:
        """What the function returns; lists among the parameters are its own."""
        function: Callable[..., Any] = vars(self)["__wrapped__"]
        return function(argument, **_given(parameters, self._kinds))

    def _by_output(self, returned: Any, check: Callable[[Any, Output], Any]) -> dict[str, Any]:
        """What the function returned, by output; None for those without a value.

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
            return {name: check(returned, output) for name, output in outputs.items()}
        for name in returned:
            if name not in outputs:
                raise _UnusableError(
                    f"the function returned the output {name!r:.60}, but declares "
                    f"{', '.join(outputs)}"
                )
        return {
            name: None if value is None else check(value, outputs[name])
            for name, value in returned.items()
        }

    def _told(self, error: BaseException) -> str:
        return str(error) if isinstance(error, _UnusableError) else self.source.told(error)

    def value(self, argument: Any, parameters: Mapping[str, Any]) -> Value:
        """What the function has of an argument; what it prints goes to standard error."""
        try:
            with _ONE_AT_A_TIME, redirect_stdout(sys.stderr):
                return self._by_output(self._called(argument, parameters), _number)
        except (Exception, SystemExit) as error:  # whatever it is, there is no value
            return self._told(error)

    def _findings(self, replicas: Iterable[Any], parameters: Mapping[str, Any], n: int) -> Findings:
        """A value of each output, of each argument that stands for a replica of the data."""
        found = [self.value(one, parameters) for one in replicas]
        values = []
        for output in self.declared.outputs:
            column = [None if isinstance(one, str) else one.get(output.name) for one in found]
            reason = found[0] if isinstance(found[0], str) else "the function returned None"
            values.append(
                MetricValue(
                    column[0],
                    None if column[0] is not None else reason,
                    output.name,
                    n=n,
                    replicas=np.array(column, np.float64) if len(column) > 1 else None,
                )
            )
        return Findings(values)


class SampleFunction(OwnFunction):
    """A function of a text sample, as the `measure` of a metric."""

    def __call__(self, texts: Texts, **parameters: Any) -> Outcomes:
        """Measure the samples of a shard; what the function prints goes to standard error."""
        found = self.outcomes(samples_of(texts.data), parameters)
        return Outcomes.of(found, [output.name for output in self.declared.outputs])

    def outcomes(
        self, samples: Iterable[Sample], parameters: Mapping[str, Any]
    ) -> Sequence[Outcome]:
        """The outcome of each sample."""
        with _ONE_AT_A_TIME, redirect_stdout(sys.stderr):
            if inspect.iscoroutinefunction(vars(self)["__wrapped__"]):
                found: Sequence[Outcome] = _awaited(self._awaited(samples, parameters))
                return found
            return [self._outcome(sample, parameters) for sample in samples]

    def _outcome(self, sample: Sample, parameters: Mapping[str, Any]) -> Outcome:
        if lost := self._missing(sample):
            return lost
        try:
            return self._of(self._called(sample, parameters))
        except (Exception, SystemExit) as error:  # whatever it is, it is that sample's
            return Outcome(status=_FAILED, reason=self._told(error))

    async def _awaited(
        self, samples: Iterable[Sample], parameters: Mapping[str, Any]
    ) -> list[Outcome]:
        """The outcomes of an async function, in the order of the samples."""
        free = asyncio.Semaphore(self.declared.concurrency)

        async def outcome(sample: Sample) -> Outcome:
            if lost := self._missing(sample):
                return lost
            async with free:
                try:
                    return self._of(await self._called(sample, parameters))
                except (Exception, SystemExit) as error:
                    return Outcome(status=_FAILED, reason=self._told(error))

        return [*await asyncio.gather(*map(outcome, samples))]

    def _missing(self, sample: Sample) -> Outcome | None:
        for need in self.declared.needs:
            if getattr(sample, need) in (None, ()):
                return missing(f"no {need}")
        return None

    def _of(self, returned: Any) -> Outcome:
        values = self._by_output(returned, _number)
        if any(value is not None for value in values.values()):
            primary = self.declared.outputs[0].name
            if values.get(primary) is not None:
                return Outcome(values)
            return Outcome(values, "not_applicable", f"the function returned None for {primary}")
        return Outcome(status="not_applicable", reason="the function returned None")


class RowFunction(OwnFunction):
    """A function of columns that returns a value of each sample, as the `measure` of a metric."""

    def __call__(self, texts: Texts, **parameters: Any) -> Outcomes:
        """Measure the samples of a shard at once."""
        columns = texts.once("columns", lambda: columns_of(texts.data))
        n = len(columns.sample_ids)
        found = self.values(columns, parameters)
        reason, status = "the function returned NaN", "not_applicable"
        if isinstance(found, str):
            reason, status, found = found, _FAILED, {}
        nothing = np.full(n, np.nan)
        values = {
            output.name: nothing if (own := found.get(output.name)) is None else own
            for output in self.declared.outputs
        }
        none = np.isnan(values[self.declared.outputs[0].name])
        return Outcomes(
            np.where(none, STATUSES.index(status), STATUSES.index("ok")).astype(np.int8),
            tuple(reason if one else None for one in none.tolist()),
            (None,) * n,
            ((),) * n,
            values,
        )

    def values(
        self, columns: Columns, parameters: Mapping[str, Any]
    ) -> Mapping[str, Floats | None] | str:
        """The values of all samples, by output; a text: why none can be used."""
        n = len(columns.sample_ids)
        try:
            with _ONE_AT_A_TIME, redirect_stdout(sys.stderr):
                returned = self._called(columns, parameters)
                return self._by_output(returned, lambda value, output: _column(value, output, n))
        except (Exception, SystemExit) as error:  # whatever it is, no sample has a value
            return self._told(error)


class ColumnEvidence(Struct, frozen=True):
    """The columns of a dataset."""

    columns: Columns

    @property
    def unit_count(self) -> int:
        """Number of samples."""
        return len(self.columns.sample_ids)

    def select(self, units: NDArray[np.bool_]) -> ColumnEvidence:
        """Select samples."""
        return ColumnEvidence(taken(self.columns, np.flatnonzero(units)))

    def resamples(self, weights: NDArray[np.int64]) -> Iterator[ColumnEvidence]:
        """For each row of weights, the columns with every sample as often as it says."""
        at = np.arange(self.unit_count)
        for row in weights:
            yield ColumnEvidence(taken(self.columns, np.repeat(at, row)))


class ColumnFunction(OwnFunction):
    """A function of columns that returns one value, as the `compute` of a metric."""

    def __call__(self, evidence: ColumnEvidence, **parameters: Any) -> Findings:
        """Compute the value of all samples together."""
        n = evidence.unit_count
        if not n:
            names = [output.name for output in self.declared.outputs]
            return Findings([MetricValue(None, "no samples", name, n=0) for name in names])
        return self._findings([evidence.columns], parameters, n)


class EvidenceFunction(OwnFunction):
    """A function of counts of labels, as the `compute` of a metric of their wing."""

    def __init__(
        self,
        source: Source,
        function: Callable[..., Any],
        kinds: Mapping[str, Any],
        declared: Declaration,
        counted: Callable[..., Iterator[EvidenceCounts]],
    ) -> None:
        super().__init__(source, function, kinds, declared, counted)
        self._how = counting_parameters(counted)
        hints = {name: kind for name, (kind, _) in self._how.items()}
        parameters = [
            *inspect.signature(function).parameters.values(),
            *(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
                for name, (_, default) in self._how.items()
            ),
        ]
        vars(self).update(
            __signature__=inspect.Signature(parameters), __annotations__={**kinds, **hints}
        )

    def __call__(self, evidence: Any, **parameters: Any) -> Findings:
        """Compute the value from the counts of labels."""
        how = {name: parameters[name] for name in self._how}
        counts = [*self._counted(evidence, **how)]  # type: ignore[misc] # it is given here
        return self._findings(counts, parameters, evidence.unit_count)


def counting_parameters(counted: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """The parameters of what counts labels: by name, the type and the default."""
    from typing import get_type_hints

    hints = get_type_hints(counted, include_extras=True)
    return {
        name: (hints[name], one.default)
        for name, one in inspect.signature(counted).parameters.items()
        if one.kind is inspect.Parameter.KEYWORD_ONLY
    }


class _UnusableError(Exception):
    """A result that is no value."""


def _given(parameters: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {
        name: [*value] if isinstance(value := parameters[name], list) else value for name in names
    }


def _awaited(task: Any) -> Any:
    """The result of a coroutine, whether or not a loop is running here."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, task).result()


def _number(value: Any, output: Output) -> float:
    """A returned number.

    Raises:
        _UnusableError: It is none, or out of the output's bounds.
    """
    if not isinstance(value, (Real, np.bool_)):
        told = f"{value!r:.60} ({type(value).__name__})"
        raise _UnusableError(f"the function returned {told}, not a number")
    found = float(value)
    if not math.isfinite(found):
        raise _UnusableError(f"the function returned {found}, not a finite number")
    _check_bounds(found, found, output)
    return found


def _column(value: Any, output: Output, n: int) -> Floats:
    """A returned array, a number or NaN of each sample.

    Raises:
        _UnusableError: It is none, or some number is out of the output's bounds.
    """
    found = np.asarray(value, np.float64)
    if found.shape != (n,):
        shape = " x ".join(map(str, found.shape)) or "one number"
        raise _UnusableError(f"the function returned {shape} for {n} samples, not one of each")
    known = found[~np.isnan(found)]
    if not np.isfinite(known).all():
        raise _UnusableError("the function returned infinity")
    if len(known):
        _check_bounds(float(known.min()), float(known.max()), output)
    return found


def _check_bounds(least: float, most: float, output: Output) -> None:
    low, high = output.bounds
    if least < low or (high is not None and most > high):
        wrong = least if least < low else most
        top = "or more" if high is None else f"to {high:g}"
        raise _UnusableError(
            f"the function returned {wrong:g}, but its bounds are {low:g} {top}; declare others "
            "with @valor_cli.sample_metric(bounds=…)"
        )


def _loaded(
    kind: type[OwnFunction],
    source: Source,
    kinds: Mapping[str, Any],
    declared: Declaration,
    counted: Any,
) -> OwnFunction:
    """The function again, in another process."""
    return kind(source, load_function(source), kinds, declared, counted)


def own_values(sampled: Sampled) -> Findings:
    """Mean of every output over the samples that have it."""
    everywhere = sampled.outcomes.status >= 0
    return sampled.findings(sampled.means(within=everywhere))
