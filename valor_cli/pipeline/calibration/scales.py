"""Map judge values and human labels to a common scale."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.metric import Call, Output
from valor_cli.results import SamplesResult, Scalar

Ints = NDArray[np.int64]

NONE = -1
"""No category."""

RATING = "rating"
"""The output of metrics that pass or fail by a rating."""

CLASS, WORD = "class", "word"
"""Keys of a judge's category in details: a class of the config, or a verdict of the metric."""

_WORDS = {"true": 1.0, "yes": 1.0, "1": 1.0, "1.0": 1.0}
_WORDS |= {"false": 0.0, "no": 0.0, "0": 0.0, "0.0": 0.0}
_VERDICTS = {"pass": 1.0, "fail": 0.0}


class Scale(Struct, frozen=True):
    """The common scale of judges and humans.

    Attributes:
        kind: As `CalibrationResult.scale`.
        labels: The categories, in their order.
        category: A value to its category.
        read: A human label to a value; None if blank.
        expected: The accepted human labels, in words.
        output: The output that is compared; of classes none.
        passing: The categories of classes that pass.
        threshold: The threshold, if values are compared by their side of it.
    """

    kind: str
    labels: tuple[str, ...]
    category: Callable[[float], int]
    read: Callable[[Scalar], float | None]
    expected: str
    output: str = ""
    passing: frozenset[int] = frozenset()
    threshold: float | None = None

    def found(
        self, values: Mapping[str, float | None], details: Mapping[str, Any] | None
    ) -> float | None:
        """A judge's value for a sample; None without one."""
        if self.kind != "classes":
            return values.get(self.output)
        said = (details or {}).get(CLASS)
        return None if said is None else self.read(said)

    def categories(self, values: Sequence[float | None]) -> Ints:
        """(n,) the category of each value; `NONE` of none."""
        return np.array([NONE if one is None else self.category(one) for one in values], np.int64)

    def shown(self, value: float | None) -> Scalar:
        """A value as people write it: a number, or the label of its category."""
        if value is None:
            return None
        if self.kind in ("ratings", "values"):
            return int(value) if float(value).is_integer() else float(value)
        return self.labels[self.category(value)]

    def one(self, values: Sequence[float | None]) -> float | None:
        """The combined value of several repeats: the majority of verdicts or classes, else the
        mean.

        Ties count as not passing.
        """
        known = [value for value in values if value is not None]
        if not known:
            return None
        if self.kind == "classes":
            counts = Counter(known)
            most = [value for value in counts if counts[value] == max(counts.values())]
            return min(most, key=lambda value: (int(value) in self.passing, value))
        mean = math.fsum(known) / len(known)
        return float(mean > 0.5) if self.kind == "verdicts" else mean


def scale_of(call: Call, humans: Sequence[Scalar], found: Sequence[SamplesResult]) -> Scale:
    """The common scale of a metric's judges and the human labels.

    Human labels may be ratings where the metric passes or fails by a rating, and may use the
    judge's own verdict words with the same meaning.

    Args:
        call: The metric and its parameters.
        humans: All human labels.
        found: The judge values.
    """
    outputs = {output.name: output for output in call.metric.outputs}
    primary = call.metric.outputs[0]
    rated = outputs.get(RATING) or (primary if primary.unit == "points" else None)
    levels = _levels(call, rated.bounds) if rated is not None else None
    written = {_word(value) for value in humans if not is_blank(value)}
    if rated is not None and levels is not None:
        ratings = _ratings(rated, *levels)
        # A bare 1 is a rating where there is such a one; on 1 to 4 a 0 can only mean "fail".
        verdicts = bool(written) and written <= {*_WORDS, *_VERDICTS}
        if (
            rated is primary
            or not verdicts
            or all(ratings.read(one) is not None for one in written)
        ):
            return ratings
    if primary.name != "pass":
        return _sides(call, primary)
    classes = _classes(call)
    if len(classes) > 2 and written and written <= set(classes):
        return _named(call, classes)
    table = _table(classes or _own_words(found), of_config=bool(classes))
    expected = f"pass or fail ({', '.join(word for word in table if word not in _VERDICTS)})"
    return Scale(
        "verdicts",
        ("fail", "pass"),
        lambda value: int(value > 0.5),
        lambda value: table.get(_word(value)),
        expected,
        primary.name,
    )


def _ratings(output: Output, low: int, high: int) -> Scale:
    def category(value: float) -> int:
        # A mean of raters may lie between two levels; the middle counts as the worse one.
        whole = math.floor(value + 0.5) if output.better == "lower" else math.ceil(value - 0.5)
        return min(max(whole, low), high) - low

    def read(value: Scalar) -> float | None:
        said = _number(value)
        return said if said is not None and said.is_integer() and low <= said <= high else None

    labels = tuple(str(level) for level in range(low, high + 1))
    return Scale(
        "ratings", labels, category, read, f"a whole number from {low} to {high}", output.name
    )


def _sides(call: Call, output: Output) -> Scale:
    """The scale of values: on which side of the threshold they are."""
    low, high = output.bounds
    threshold = 0.5 if call.threshold is None else call.threshold
    best = 0.0 if output.better == "lower" else 1.0
    words = {**_WORDS, "pass": best, "fail": 1.0 - best}

    def read(value: Scalar) -> float | None:
        word = words.get(_word(value))
        said = _number(value) if word is None else word
        inside = said is not None and low <= said and (high is None or said <= high)
        return said if inside else None

    top = " and above" if high is None else f" to {high:g}"
    return Scale(
        "values",
        (f"below {threshold:g}", f"{threshold:g} and above"),
        lambda value: int(value >= threshold),
        read,
        f"a number from {low:g}{top}, or pass or fail",
        output.name,
        threshold=threshold,
    )


def _named(call: Call, classes: Mapping[str, float]) -> Scale:
    """The scale of classes."""
    at = {word: number for number, word in enumerate(classes)}

    def read(value: Scalar) -> float | None:
        number = at.get(_word(value))
        return None if number is None else float(number)

    return Scale(
        "classes",
        tuple(call.parameters["classes"]),
        int,
        read,
        f"one of {', '.join(classes)}",
        passing=frozenset(at[word] for word, passes in classes.items() if passes),
    )


def _levels(call: Call, bounds: tuple[float, float | None]) -> tuple[int, int] | None:
    """The lowest and the highest rating; None if the judge does not rate."""
    rated = call.parameters.get("rubric") or call.parameters.get("scale")
    if rated:
        levels = [int(level) for level in rated]
        return min(levels), max(levels)
    if "rubric" in call.parameters or bounds[1] is None:
        return None
    return int(bounds[0]), int(bounds[1])


def _classes(call: Call) -> dict[str, float]:
    """The classes that the config names, and whether each passes; none: there are no classes."""
    if call.parameters.get("rubric") or call.parameters.get("scale"):
        return {}
    numbers = call.parameters.get("classes")
    if isinstance(numbers, Mapping):
        middle = (min(numbers.values()) + max(numbers.values())) / 2
        cut = middle if call.parameters["cut"] is None else call.parameters["cut"]
        return {_word(one): float(number >= cut) for one, number in numbers.items()}
    classes = tuple(numbers or ())
    passing = call.parameters.get("passing") or classes[:1]
    return {_word(one): float(one in passing) for one in classes}


def _own_words(found: Sequence[SamplesResult]) -> dict[str, float]:
    """The verdict words of the metric's judges, and whether each passes."""
    words: dict[str, float] = {}
    for own in found:
        for details, passes in zip(own.details or (), own.columns["pass"], strict=False):
            said = (details or {}).get(WORD)
            if said is not None and passes in (0, 1):
                words[_word(said)] = float(passes)
    return words


def _table(words: Mapping[str, float], *, of_config: bool) -> dict[str, float]:
    """Accepted human labels for pass or fail, mapped to 1 or 0."""
    usual = _WORDS
    if not of_config and any(_WORDS.get(word, passes) != passes for word, passes in words.items()):
        # The judge is asked for a fault: its "true" is the sample that fails, and so is people's.
        usual = {word: 1.0 - passes for word, passes in _WORDS.items()}
    return {**_VERDICTS, **usual, **words}


def is_blank(value: Scalar) -> bool:
    """Whether a human label is blank."""
    return value is None or (isinstance(value, str) and not value.strip())


def _word(value: Scalar) -> str:
    return str(value).strip().casefold()


def _number(value: Scalar) -> float | None:
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except ValueError:
        return None


def read_human_labels(
    scale: Scale, own: SamplesResult, column: str, humans: Sequence[Scalar]
) -> list[float | None]:
    """The human label of each sample on the scale; None where there is none.

    Raises:
        DataError: The column has values outside the judge's scale.
    """
    people = [None if is_blank(value) else scale.read(value) for value in humans]
    wrong = list(_wrong(own, humans, people))
    if wrong:
        problems = [
            Problem(
                f"{own.model}: sample {sample_id}: {column}",
                f"expected {scale.expected}, found {value!r}",
            )
            for sample_id, value in wrong[:LISTED]
        ]
        raise DataError(problems, total=len(wrong), hint="leave cells empty that say nothing")
    return people


def _wrong(
    own: SamplesResult, humans: Sequence[Scalar], people: Sequence[float | None]
) -> Iterator[tuple[Scalar, Scalar]]:
    for sample_id, value, read in zip(own.sample_ids, humans, people, strict=True):
        if read is None and not is_blank(value):
            yield sample_id, value
