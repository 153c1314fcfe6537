"""A judge metric and what people wrote of samples in; what both can say and did say out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.metric import Call
from valor_cli.results import SamplesResult, Scalar

RATING = "rating"
"""The output of metrics that pass or fail by a rating."""

_PASSING = {"pass": 1.0, "true": 1.0, "yes": 1.0, "1": 1.0, "1.0": 1.0}
_FAILING = {"fail": 0.0, "false": 0.0, "no": 0.0, "0": 0.0, "0.0": 0.0}


@dataclass(frozen=True, slots=True)
class Scale:
    """What judge and people can say.

    Attributes:
        kind: As `CalibrationResult.scale`.
        labels: The categories, in their order.
        category: A value to its category.
        read: What people wrote to a value; None where it says nothing.
        threshold: Which side of it counts, where values are compared by side.
    """

    kind: str
    labels: tuple[str, ...]
    category: Callable[[float], int]
    read: Callable[[Scalar], float | None]
    threshold: float | None = None


def scale_of(call: Call, humans: Sequence[Scalar]) -> Scale:
    """What the metric's judges and people can say.

    People may rate what judges rate, though the metric passes or fails by it.
    """
    outputs = {output.name: output for output in call.metric.outputs}
    primary = call.metric.outputs[0]
    rating = outputs.get(RATING)
    rated = rating or (primary if primary.unit == "points" else None)
    levels = _levels(call, rated.bounds) if rated is not None else None
    written = {_word(value) for value in humans if value is not None}
    verdicts = written <= {*_PASSING, *_FAILING}
    if levels is not None and not (rating is not None and verdicts):
        low, high = levels
        labels = tuple(str(level) for level in range(low, high + 1))
        return Scale("ratings", labels, lambda v: round(v) - low, _rating(low, high))
    if primary.name == "pass":
        return Scale("verdicts", ("fail", "pass"), lambda v: int(v >= 0.5), _verdict)
    threshold = 0.5 if call.threshold is None else call.threshold
    labels = (f"below {threshold:g}", f"{threshold:g} and above")
    return Scale("values", labels, lambda v: int(v >= threshold), _value(primary.bounds), threshold)


def _levels(call: Call, bounds: tuple[float, float | None]) -> tuple[int, int] | None:
    """The lowest and the highest rating; None of a judge that gives none."""
    rubric = call.parameters.get("rubric")
    if rubric:
        levels = [int(level) for level in rubric]
        return min(levels), max(levels)
    if "rubric" in call.parameters or bounds[1] is None:
        return None
    return int(bounds[0]), int(bounds[1])


def _word(value: Scalar) -> str:
    return str(value).strip().casefold()


def _verdict(value: Scalar) -> float | None:
    return {**_PASSING, **_FAILING}.get(_word(value))


def _rating(low: int, high: int) -> Callable[[Scalar], float | None]:
    def read(value: Scalar) -> float | None:
        found = _number(value)
        return found if found is not None and found.is_integer() and low <= found <= high else None

    return read


def _value(bounds: tuple[float, float | None]) -> Callable[[Scalar], float | None]:
    low, high = bounds

    def read(value: Scalar) -> float | None:
        said = _verdict(value)
        found = _number(value) if said is None else said
        inside = found is not None and low <= found and (high is None or found <= high)
        return found if inside else None

    return read


def _number(value: Scalar) -> float | None:
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except ValueError:
        return None


def read_people(
    scale: Scale, own: SamplesResult, column: str, humans: Sequence[Scalar]
) -> list[float | None]:
    """What people said of each sample; None where they did not.

    Raises:
        DataError: A column holds what no judge can say.
    """
    blank = (None, "")
    people = [None if value in blank else scale.read(value) for value in humans]
    wrong = [
        (sample_id, value)
        for sample_id, value, read in zip(own.sample_ids, humans, people, strict=True)
        if value not in blank and read is None
    ]
    if wrong:
        expected = {
            "verdicts": "pass or fail (true, false, yes, no, 1, 0)",
            "ratings": f"a whole number from {scale.labels[0]} to {scale.labels[-1]}",
            "values": "a number that the metric can have",
        }[scale.kind]
        problems = [
            Problem(
                f"{own.model}: sample {sample_id}: {column}",
                f"expected {expected}, found {value!r}",
            )
            for sample_id, value in wrong[:LISTED]
        ]
        raise DataError(problems, total=len(wrong), hint="leave cells empty that say nothing")
    return people
